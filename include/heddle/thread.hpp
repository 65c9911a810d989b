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

/// No certain one.
inline constexpr std::uint16_t any_worker = 0xffff;

struct thread_options {
  std::size_t stack_size = 0;  ///< bytes; 0: the runtime's default
  const char* name = nullptr;  ///< shown when threads are dumped; must outlive the thread
  runtime* where = nullptr;    ///< null: runtime::current()
  heddle::preemption preemption = heddle::preemption::as_runtime;
  heddle::tls tls = heddle::tls::as_runtime;
  /// The rank of the worker that the thread is pinned to: it runs there and nowhere else, whoever searches for work,
  /// and is not lent to a foreign kernel thread's call. If that worker stands aside (set_active_workers) it goes on
  /// with the threads that are pinned to it, and with nothing else. std::invalid_argument when the runtime has no such
  /// worker.
  std::uint16_t worker = any_worker;
  heddle::priority priority = heddle::priority::normal;  ///< from lowest to highest, else std::invalid_argument
};

namespace detail {

struct thread_handle;  // a fiber::thread

// A thread that is not ready yet, with room for `bytes` for its closure. Throws
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
// Runs call(data), which must not throw, on a thread of that kind, and returns when it has ended. Throws as make_thread
// does.
HEDDLE_API void run_and_wait(const thread_options& options, void (*call)(void*) noexcept, void* data);

}  // namespace detail

/// A user-level thread: like std::thread, but some ten nanoseconds to make and kilobytes to keep. A wait for anything
/// of heddle's suspends the thread, never its worker. Thread context of every function: any.
class thread {
 public:
  thread() noexcept = default;
  /// Makes f() ready to run; never suspends. An exception that leaves f ends the program by std::terminate, as with
  /// std::thread; use async for a result. Throws what copying f throws, std::system_error when no stack can be had, and
  /// std::system_error(not_supported) for options that cannot be had here (preemption under ThreadSanitizer, own
  /// thread-local storage with an unknown C library).
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, thread>)
  explicit thread(F&& f) : thread(thread_options{}, std::forward<F>(f)) {}

  /// The same with arguments: f(args...), of which copies are kept, as std::thread does; std::ref passes references.
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
      closure copy(std::forward<F>(f));  // may throw, and there is no thread yet
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
  /// std::terminate when still joinable.
  ~thread() {
    if (joinable()) std::terminate();
  }

  bool joinable() const noexcept { return handle_ != nullptr; }
  /// Waits until the thread has ended; may suspend and migrate a user-level caller. Throws
  /// std::system_error(invalid_argument) when not joinable.
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
  /// Unique among live threads of a runtime; 0 for none.
  std::uint64_t id() const noexcept { return joinable() ? detail::id_of(handle_) : 0; }

 private:
  detail::thread_handle* handle_{nullptr};
};

/// A thread whose destructor asks it to stop and joins it, like std::jthread (so the destructor may suspend and migrate
/// the caller). If f takes a std::stop_token before the other arguments, it is given one of the thread's own. Whatever
/// takes a stop token in heddle (waits, groups, loops) ends early by it.
class jthread {
 public:
  jthread() noexcept : source_(std::nostopstate) {}
  /// As of thread, and std::bad_alloc for the stop state.
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
  /// As of thread.
  void join() { thread_.join(); }
  void detach() { thread_.detach(); }
  std::uint64_t id() const noexcept { return thread_.id(); }
  void swap(jthread& other) noexcept {
    std::swap(source_, other.source_);
    thread_.swap(other.thread_);
  }

  std::stop_source get_stop_source() noexcept { return source_; }
  std::stop_token get_stop_token() const noexcept { return source_.get_token(); }
  /// True if this call made the request.
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

/// Runs f() on a new user-level thread of that kind and waits for it; returns its result or throws its exception. As
/// `runtime::run`, but there is always a thread: one that is pinned, that has a priority, a larger stack, storage of
/// its own, or, with tls::caller, the caller's.
///
/// *The caller's thread-local storage.* With tls::caller f sees the thread-local variables of the thread that calls
/// `run`, errno, malloc's caches and values of pthread keys included, though it may wait and go on on other kernel
/// threads; what f does to them the caller finds done. The caller, a foreign kernel thread or a user-level thread with
/// tls::own or tls::caller itself, waits and uses none of them meanwhile. Signal handlers that run on the foreign
/// kernel thread while it waits see other variables, and it must not be cancelled (pthread_cancel). Of a user-level
/// thread that has no storage of its own nobody can have it: f sees its carrier's, as any thread does. Where tls::own
/// cannot be had tls::caller cannot either.
///
/// Throws as the constructor of `thread` does. Thread context: any; may suspend and migrate a user-level caller.
template <class F>
auto run(const thread_options& options, F&& f) -> std::invoke_result_t<F&> {
  using result = std::invoke_result_t<F&>;
  return detail::run_by<result>(
      f, [&](void (*call)(void*) noexcept, void* data) { detail::run_and_wait(options, call, data); });
}

namespace this_thread {
/// Lets other ready threads of the worker run first; may suspend and migrate the caller. A foreign kernel thread yields
/// its processor.
HEDDLE_API void yield() noexcept;
/// Id of the calling user-level thread; 0 on a foreign kernel thread.
inline std::uint64_t id() noexcept { return detail::current_thread_id(); }
}  // namespace this_thread

}  // namespace heddle
