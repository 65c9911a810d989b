/// Pollers: asking for events that nothing announces, such as messages (MPI_Test), events of a device, or completions
/// in a ring of the kernel's.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include <heddle/export.hpp>
#include <heddle/runtime.hpp>

namespace heddle {

namespace worker {
struct poller_state;
}

namespace detail {

struct polling_function {
  virtual ~polling_function() = default;
  virtual std::size_t ask() noexcept = 0;
};

template <class F>
struct polling_function_of final : polling_function {
  explicit polling_function_of(F f) : call(std::move(f)) {}
  std::size_t ask() noexcept override { return static_cast<std::size_t>(call()); }
  F call;
};

}  // namespace detail

struct poller_options {
  /// The longest time without an ask while the poller is wanted. It does not count the time that an ask takes, nor the
  /// time that the system needs to wake a kernel thread.
  std::chrono::nanoseconds bound = std::chrono::microseconds(100);
  /// The least time that workers leave between the end of an ask and the beginning of the next one.
  std::chrono::nanoseconds gap = std::chrono::microseconds(5);
};

/// A function that a runtime calls again and again while a thread waits for what it may find. f() looks, releases the
/// threads that waited for what it has found (notifies, sets promises, ...), and returns how much it found: a bool or a
/// count, which is used for statistics alone. A waiting thread says that it waits by want() and unwant() or by an
/// `interest`.
///
/// The poller is asked by a worker that finds nothing to run, before it sleeps, and by a busy worker, now and then,
/// between two threads. If no worker has asked for `bound`, because all compute or all sleep, a kernel thread asks,
/// which the runtime makes with its first poller. While no thread wants a poller, it is not asked and that kernel
/// thread sleeps. While it is wanted it costs at most one ask for each `gap` of workers that search or change threads.
/// Otherwise it costs, for each `bound`, a wake-up of that kernel thread, 3 to 15 us, and the ask.
///
/// f runs on a user-level thread of its own, which is made like the threads that run the runtime's tasks, or on that
/// kernel thread. So it may do what both may do, use malloc and the locks of other libraries included. There is one
/// exception. Where a preempted thread may hold malloc's lock while the threads that run tasks are not preemptive
/// (docs/guide/preemption.md), only the kernel thread calls f. f never runs twice at a time. While it runs the poller
/// is not asked, so f should not wait for long; the pollers of a runtime share the kernel thread. An exception that
/// leaves f ends the program.
class HEDDLE_API poller {
 public:
  /// Makes a poller of runtime `where`, which must outlive it. Throws std::invalid_argument unless bound > 0 and gap >=
  /// 0, std::system_error if no kernel thread can be made, and std::bad_alloc. Thread context: any; may suspend and
  /// migrate the caller.
  template <class F>
  poller(runtime& where, const poller_options& options, F f)
      : state_(begin(where, options, std::make_unique<detail::polling_function_of<F>>(std::move(f)))) {
    static_assert(std::is_convertible_v<std::invoke_result_t<F&>, std::size_t>,
                  "it returns what it found, or how much");
  }
  /// Makes a poller of the caller's runtime.
  template <class F>
  explicit poller(F f) : poller(runtime::current(), poller_options{}, std::move(f)) {}

  /// When the destructor returns, f runs nowhere and is not called again. If f itself calls it, the destructor does not
  /// wait; f is then destroyed when it has returned. Thread context: any. It waits for an ask that is under way, which
  /// suspends a user-level thread.
  ~poller();
  poller(const poller&) = delete;
  poller& operator=(const poller&) = delete;

  /// want() says that a thread waits for what f may find. f is asked until unwant() was called as often as want(). The
  /// next ask comes within `bound` of the first want(). Thread context: any; neither function waits.
  void want() noexcept;
  void unwant() noexcept;

  /// Calls want() and unwant() for a scope.
  class [[nodiscard]] interest {
   public:
    explicit interest(poller& in) noexcept : in_(in) { in_.want(); }
    ~interest() { in_.unwant(); }
    interest(const interest&) = delete;
    interest& operator=(const interest&) = delete;

   private:
    poller& in_;
  };

  /// Return how often f has returned, and the sum of its results. A thread that was released by an ask may run before
  /// that ask has ended.
  std::uint64_t asks() const noexcept;
  std::uint64_t found() const noexcept;

 private:
  static worker::poller_state* begin(runtime& where, const poller_options& options,
                                     std::unique_ptr<detail::polling_function> f);
  worker::poller_state* state_;
};

}  // namespace heddle
