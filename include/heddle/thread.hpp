/// User-level threads.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>

#include <heddle/export.hpp>
#include <heddle/preemption.hpp>
#include <heddle/priority.hpp>
#include <heddle/runtime.hpp>

namespace heddle {

struct thread_options {
  std::size_t stack_size = 0;    ///< bytes; 0: the runtime's default
  const char* name = nullptr;    ///< shown when threads are dumped; must outlive the thread
  runtime* where = nullptr;      ///< null: runtime::current()
  heddle::preemption preemption = heddle::preemption::as_runtime;
  heddle::tls tls = heddle::tls::as_runtime;
  heddle::priority priority = heddle::priority::normal;  ///< from lowest to highest, else std::invalid_argument
};

namespace detail {

struct thread_handle;  // a fiber::thread

// A thread that is not ready yet, with room for `bytes` for its closure. Throws std::system_error(resource_unavailable).
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

}  // namespace detail

/// A user-level thread: like std::thread, some ten nanoseconds to make, kilobytes to keep. Waiting for anything of heddle's
/// suspends it, never its worker.
class thread {
 public:
  thread() noexcept = default;
  /// Makes f() ready to run. Throws std::system_error when no stack can be had. An exception that leaves f ends the program
  /// by std::terminate, as with std::thread; use async for a result. Also throws std::system_error(not_supported) for options
  /// that cannot be had here (preemption under ThreadSanitizer, own thread-local storage with an unknown C library). Thread context: any.
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, thread>)
  explicit thread(F&& f) : thread(thread_options{}, std::forward<F>(f)) {}

  template <class F>
  thread(const thread_options& options, F&& f) {
    using closure = std::decay_t<F>;
    if constexpr (sizeof(closure) <= 1024) {
      const detail::made_thread made = detail::make_thread(options, sizeof(closure), alignof(closure), [](void* room) noexcept {
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
  /// Suspends the caller until the thread has ended. Throws std::system_error(invalid_argument) when not joinable.
  void join() {
    if (!joinable()) throw std::system_error(std::make_error_code(std::errc::invalid_argument), "heddle::thread::join");
    detail::join_thread(std::exchange(handle_, nullptr));
  }
  void detach() {
    if (!joinable()) throw std::system_error(std::make_error_code(std::errc::invalid_argument), "heddle::thread::detach");
    detail::detach_thread(std::exchange(handle_, nullptr));
  }
  /// Unique among live threads of a runtime; 0 for none.
  std::uint64_t id() const noexcept { return joinable() ? detail::id_of(handle_) : 0; }

 private:
  detail::thread_handle* handle_{nullptr};
};

/// thread that joins in its destructor.
class jthread : public thread {
 public:
  using thread::thread;
  jthread(jthread&&) noexcept = default;
  jthread& operator=(jthread&& other) {
    if (joinable()) join();
    thread::operator=(std::move(other));
    return *this;
  }
  ~jthread() {
    if (joinable()) join();
  }
};

namespace this_thread {
/// Lets other ready threads of the worker run first. A foreign kernel thread yields its processor.
HEDDLE_API void yield() noexcept;
/// Id of the calling user-level thread; 0 on a foreign kernel thread.
inline std::uint64_t id() noexcept { return detail::current_thread_id(); }
}  // namespace this_thread

}  // namespace heddle
