/// User-level threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <stop_token>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>

#include <heddle/detail/bound_call.hpp>
#include <heddle/export.hpp>
#include <heddle/preemption.hpp>
#include <heddle/priority.hpp>
#include <heddle/runtime.hpp>

namespace heddle {

/// Stands for no particular worker.
inline constexpr std::uint16_t any_worker = 0xffff;

struct thread_options {
  std::size_t stack_size = 0;  ///< in bytes; 0 means the runtime's default. Stolen parts of its work get as much
  const char* name = nullptr;  ///< shown in dumps of threads; must outlive the thread
  runtime* where = nullptr;    ///< null means runtime::current()
  heddle::preemption preemption = heddle::preemption::as_runtime;
  heddle::tls tls = heddle::tls::as_runtime;
  /// The rank of the worker that the thread is pinned to. The thread runs there and nowhere else, even while other
  /// workers search for work. It does not run on a foreign kernel thread that has taken the worker's place for a call.
  /// If the worker becomes inactive (set_active_workers), it goes on with the threads that are pinned to it and with
  /// nothing else. The constructor throws std::invalid_argument if the runtime has no such worker.
  std::uint16_t worker = any_worker;
  /// From lowest to highest; otherwise the constructor throws std::invalid_argument.
  heddle::priority priority = heddle::priority::normal;
};

namespace detail {

struct thread_handle;  // a fiber::thread

// A thread that is not ready yet, with room for `bytes` for its closure. make_thread throws
// std::system_error(resource_unavailable).
struct made_thread {
  thread_handle* thread;
  void* room;
};
HEDDLE_API made_thread make_thread(const thread_options& options, std::size_t bytes, std::size_t alignment,
                                   void (*call)(void* room) noexcept);
HEDDLE_API void start_thread(thread_handle* t) noexcept;
HEDDLE_API void join_thread(thread_handle* t) noexcept;
HEDDLE_API void detach_thread(thread_handle* t) noexcept;
HEDDLE_API std::uint64_t id_of(const thread_handle* t) noexcept;
HEDDLE_API std::uint64_t current_thread_id() noexcept;
[[noreturn]] HEDDLE_API void uncaught_in_thread() noexcept;
// Runs call(data), which must not throw, on a thread with these options, and returns when it has ended. Throws what
// make_thread throws.
HEDDLE_API void run_and_wait(const thread_options& options, void (*call)(void*) noexcept, void* data);

}  // namespace detail

/// A user-level thread. It is like std::thread, but takes some ten nanoseconds to make and some kilobytes to keep. A
/// wait for any object of heddle suspends the thread, never its worker. Thread context of every function: any.
class thread {
 public:
  thread() noexcept = default;
  /// Makes f() ready to run; never suspends. An exception that leaves f ends the program by std::terminate, as with
  /// std::thread; use async for a result. Throws what copying f throws, and std::system_error if no stack can be had.
  /// Throws std::system_error(not_supported) for options that cannot be had here (preemption under ThreadSanitizer, own
  /// thread-local storage with an unknown C library).
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, thread>)
  explicit thread(F&& f) : thread(thread_options{}, std::forward<F>(f)) {}

  /// Does the same with arguments: f(args...), of which copies are kept, as std::thread does. std::ref passes a
  /// reference.
  template <class F, class... Args>
    requires(sizeof...(Args) > 0 && !std::is_same_v<std::remove_cvref_t<F>, thread_options> &&
             detail::callable_with<F, Args...>)
  explicit thread(F&& f, Args&&... args) : thread(thread_options{}, std::forward<F>(f), std::forward<Args>(args)...) {}
  template <class F, class... Args>
    requires(sizeof...(Args) > 0 && detail::callable_with<F, Args...>)
  thread(const thread_options& options, F&& f, Args&&... args)
      : thread(options, detail::bound_call(std::forward<F>(f), std::forward<Args>(args)...)) {}

  template <class F>
  thread(const thread_options& options, F&& f) {
    using closure = std::decay_t<F>;
    constexpr bool fits = sizeof(closure) <= 1024;
    if constexpr (fits && std::is_nothrow_constructible_v<closure, F>) {
      const detail::made_thread made =
          detail::make_thread(options, sizeof(closure), alignof(closure), [](void* room) noexcept {
            auto* held = static_cast<closure*>(room);
            try {
              (*held)();
            } catch (...) {
              detail::uncaught_in_thread();
            }
            std::destroy_at(held);
          });
      ::new (made.room) closure(std::forward<F>(f));
      handle_ = made.thread;
    } else if constexpr (fits && std::is_nothrow_move_constructible_v<closure>) {
      closure copy(std::forward<F>(f));  // may throw; there is no thread yet
      thread inner(options, std::move(copy));
      handle_ = std::exchange(inner.handle_, nullptr);
      return;
    } else {
      auto boxed = std::make_unique<closure>(std::forward<F>(f));
      thread inner(options, [held = std::move(boxed)] { (*held)(); });
      handle_ = std::exchange(inner.handle_, nullptr);
      return;
    }
    detail::start_thread(handle_);
  }

  thread(thread&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  thread& operator=(thread&& other) noexcept {
    if (joinable()) std::terminate();
    handle_ = std::exchange(other.handle_, nullptr);
    return *this;
  }
  /// Calls std::terminate if the thread is still joinable.
  ~thread() {
    if (joinable()) std::terminate();
  }

  bool joinable() const noexcept { return handle_ != nullptr; }
  /// Waits until the thread has ended; may suspend and migrate a user-level caller. Throws
  /// std::system_error(invalid_argument) if the thread is not joinable.
  void join() {
    if (!joinable()) throw std::system_error(std::make_error_code(std::errc::invalid_argument), "heddle::thread::join");
    detail::join_thread(std::exchange(handle_, nullptr));
  }
  void detach() {
    if (!joinable())
      throw std::system_error(std::make_error_code(std::errc::invalid_argument), "heddle::thread::detach");
    detail::detach_thread(std::exchange(handle_, nullptr));
  }
  void swap(thread& other) noexcept { std::swap(handle_, other.handle_); }
  /// Returns an id that is unique among the live threads of a runtime, or 0 if there is no thread.
  std::uint64_t id() const noexcept { return joinable() ? detail::id_of(handle_) : 0; }

 private:
  detail::thread_handle* handle_{nullptr};
};

/// A thread whose destructor asks it to stop and joins it, like std::jthread; so the destructor may suspend and migrate
/// the caller. If f takes a std::stop_token before the other arguments, it gets the thread's own. All functions of
/// heddle that take a stop token (waits, groups, loops) end early by it.
class jthread {
 public:
  jthread() noexcept : source_(std::nostopstate) {}
  /// Throws what the constructor of `thread` throws, and std::bad_alloc for the stop state.
  template <class F, class... Args>
    requires(!std::is_same_v<std::remove_cvref_t<F>, jthread> &&
             !std::is_same_v<std::remove_cvref_t<F>, thread_options>)
  explicit jthread(F&& f, Args&&... args)
      : jthread(thread_options{}, std::forward<F>(f), std::forward<Args>(args)...) {}
  template <class F, class... Args>
    requires(detail::callable_with<F, std::stop_token, Args...> || detail::callable_with<F, Args...>)
  jthread(const thread_options& options, F&& f, Args&&... args) {
    if constexpr (detail::callable_with<F, std::stop_token, Args...>)
      thread_ = thread(options, std::forward<F>(f), source_.get_token(), std::forward<Args>(args)...);
    else thread_ = thread(options, std::forward<F>(f), std::forward<Args>(args)...);
  }
  jthread(jthread&&) noexcept = default;
  jthread& operator=(jthread&& other) {
    if (this == &other) return *this;
    end();
    source_ = std::move(other.source_);
    thread_ = std::move(other.thread_);
    return *this;
  }
  ~jthread() { end(); }

  bool joinable() const noexcept { return thread_.joinable(); }
  /// Throws what thread::join throws.
  void join() { thread_.join(); }
  void detach() { thread_.detach(); }
  std::uint64_t id() const noexcept { return thread_.id(); }
  void swap(jthread& other) noexcept {
    std::swap(source_, other.source_);
    thread_.swap(other.thread_);
  }

  std::stop_source get_stop_source() noexcept { return source_; }
  std::stop_token get_stop_token() const noexcept { return source_.get_token(); }
  /// Returns true if this call made the request.
  bool request_stop() noexcept { return source_.request_stop(); }

 private:
  void end() {
    if (!joinable()) return;
    request_stop();
    join();
  }

  std::stop_source source_;
  thread thread_;
};

/// Runs f() on a new user-level thread with these options and waits for it. Returns its result or throws its exception.
/// It is like `runtime::run`, but always makes a thread. The thread may be pinned, may have a priority, a larger stack
/// or storage of its own, or, with tls::caller, the caller's storage.
///
/// *The caller's thread-local storage.* With tls::caller f sees the thread-local variables of the thread that calls
/// `run`, those of errno, malloc's caches and values of pthread keys included. It sees them also after it has waited
/// and gone on on another kernel thread, and the caller sees what f did to them. The caller is a foreign kernel thread,
/// or a user-level thread with tls::own or tls::caller itself. It waits and uses none of them meanwhile. Signal
/// handlers that run on a foreign kernel thread while it waits see other variables, and it must not be cancelled
/// (pthread_cancel). A user-level thread that has no storage of its own has none to pass on; f then sees its carrier's
/// variables, as any thread does. Where tls::own cannot be had, tls::caller cannot be had either.
///
/// Throws what the constructor of `thread` throws. Thread context: any; may suspend and migrate a user-level caller.
template <class F>
auto run(const thread_options& options, F&& f) -> std::invoke_result_t<F&> {
  using result = std::invoke_result_t<F&>;
  return detail::run_by<result>(
      f, [&](void (*call)(void*) noexcept, void* data) { detail::run_and_wait(options, call, data); });
}

namespace this_thread {
/// Lets other ready threads of the worker run first; may suspend and migrate the caller. On a foreign kernel thread it
/// yields the processor.
HEDDLE_API void yield() noexcept;
/// Returns the id of the calling user-level thread, or 0 on a foreign kernel thread.
inline std::uint64_t id() noexcept { return detail::current_thread_id(); }
}  // namespace this_thread

}  // namespace heddle
