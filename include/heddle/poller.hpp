/// Asking for what nobody tells of: messages (MPI_Test), events of a device, completions in a ring of the kernel's.
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
  /// While the poller is wanted nobody asks for no longer than this. Not counted: the time that an ask takes, and what
  /// the system needs to wake a kernel thread.
  std::chrono::nanoseconds bound = std::chrono::microseconds(100);
  /// Workers leave at least this time between the end of an ask and the beginning of the next one.
  std::chrono::nanoseconds gap = std::chrono::microseconds(5);
};

/// A function that a runtime asks, again and again, while somebody waits for what it may find. f() looks, lets go who
/// waited for what it has found (notifies, sets promises, ...) and returns how much that was: a bool or a count, for
/// the statistics alone. Who waits says so, by want() and unwant() or by an `interest`.
///
/// Asked by: a worker that finds nothing to run, before it sleeps; a worker that is busy, now and then, between two
/// threads; and, when none of them has asked for `bound`, because all compute or all sleep, a kernel thread that the
/// runtime makes with its first poller. While nobody wants a poller nobody asks, and that kernel thread sleeps. Cost
/// while one is wanted: an ask for each `gap`, at most, of workers that search or change threads; else a wake-up of
/// that kernel thread for each `bound`, 3 to 15 us, and the ask.
///
/// f runs on a user-level thread of its own, made as those that run the runtime's tasks are, or on that kernel thread:
/// so it may do what both may, malloc and locks of other libraries included. In a runtime in which a thread that is
/// preempted may hold malloc's lock while those that run tasks are not preemptive (docs/guide/preemption.md) only the
/// kernel thread calls it. It never runs twice at a time. Nobody asks while it runs, so it should not wait for long;
/// the pollers of a runtime share the kernel thread. An exception that leaves it ends the program.
class HEDDLE_API poller {
 public:
  /// Of runtime `where`, which must outlive it. Throws std::invalid_argument unless bound > 0 and gap >= 0,
  /// std::system_error when no kernel thread can be made, std::bad_alloc. Thread context: any; may suspend and migrate
  /// the caller.
  template <class F>
  poller(runtime& where, const poller_options& options, F f)
      : state_(begin(where, options, std::make_unique<detail::polling_function_of<F>>(std::move(f)))) {
    static_assert(std::is_convertible_v<std::invoke_result_t<F&>, std::size_t>,
                  "it returns what it found, or how much");
  }
  /// Of the caller's runtime.
  template <class F>
  explicit poller(F f) : poller(runtime::current(), poller_options{}, std::move(f)) {}

  /// When it returns f runs nowhere, and is not called again. Called by f itself it does not wait: f is then destroyed
  /// when it has returned. Thread context: any; waits for an ask that is under way, which suspends a user-level thread.
  ~poller();
  poller(const poller&) = delete;
  poller& operator=(const poller&) = delete;

  /// Somebody waits for what f may find: it is asked until as many unwant() as want() were called. Counted from the
  /// first want() on, the next ask comes within `bound`. Thread context: any; neither waits.
  void want() noexcept;
  void unwant() noexcept;

  /// want() and unwant() for a scope.
  class [[nodiscard]] interest {
   public:
    explicit interest(poller& in) noexcept : in_(in) { in_.want(); }
    ~interest() { in_.unwant(); }
    interest(const interest&) = delete;
    interest& operator=(const interest&) = delete;

   private:
    poller& in_;
  };

  /// Times that f has returned, and the sum of what it has returned. Who was let go by an ask may come before its end.
  std::uint64_t asks() const noexcept;
  std::uint64_t found() const noexcept;

 private:
  static worker::poller_state* begin(runtime& where, const poller_options& options,
                                     std::unique_ptr<detail::polling_function> f);
  worker::poller_state* state_;
};

}  // namespace heddle
