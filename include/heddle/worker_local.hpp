/// Values of which each thread needs one for a while: partial sums, scratch buffers, random sources. They are like
/// enumerable_thread_specific in other libraries, but safe if a thread moves to another worker while it uses one.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <functional>
#include <utility>

#include <heddle/export.hpp>

namespace heddle {

namespace detail {
// Returns the rank of the worker that runs the caller, in whichever runtime, or 0 on a foreign kernel thread. It may be
// out of date at once.
HEDDLE_API std::size_t rank_hint() noexcept;
}  // namespace detail

/// Values that threads take for a while: with(f) calls f(value) with a value that no other thread has until f
/// returns. It prefers the value that was used last by the same worker, which its cache still holds. It makes a new one
/// only while all values of that worker are in use. So there are about as many values as workers, and more only if f
/// waits (a thread that waits keeps its value, and another one runs on its worker).
template <class T>
class worker_local {
 public:
  /// Makes values that begin as T().
  worker_local() : make_([] { return T(); }) {}
  /// Makes values that begin as make(), called on the thread that uses the value first.
  explicit worker_local(std::function<T()> make) : make_(std::move(make)) {}
  worker_local(const worker_local&) = delete;
  worker_local& operator=(const worker_local&) = delete;
  ~worker_local() {
    for (const std::atomic<holder*>& list : lists_) {
      // relaxed: no thread uses the object any more, so its destruction is ordered behind all uses
      for (holder* h = list.load(std::memory_order_relaxed); h != nullptr;) delete std::exchange(h, h->next);
    }
  }

  /// Returns f(value). f may wait, and may call with() again, which gives it another value. Throws std::bad_alloc, what
  /// make throws, and what f throws. Thread context: any; suspends only where f does.
  template <class F>
  decltype(auto) with(F&& f) {
    const lease mine(take());
    return std::forward<F>(f)(mine.of->value);
  }

  /// Calls f(value) for all existing values, in no particular order. Must not be called while a thread is inside
  /// with().
  template <class F>
  void for_each(F&& f) {
    for (const std::atomic<holder*>& list : lists_) {
      // pairs with take: what the holder was made with
      for (holder* h = list.load(std::memory_order_acquire); h != nullptr; h = h->next) f(h->value);
    }
  }

  /// Returns all values joined: op(op(start, value), value)... The order is not determined, so op must be associative
  /// and commutative. Must not be called while a thread is inside with().
  template <class Op>
  T combine(T start, Op&& op) {
    for_each([&](T& value) { start = op(std::move(start), value); });
    return start;
  }

 private:
  struct alignas(64) holder {  // one or several cache lines of its own
    explicit holder(T&& first) : value(std::move(first)) {}
    std::atomic<bool> in_use{true};
    holder* next{nullptr};  // written before the holder is published, and never again
    T value;
  };
  struct lease {
    explicit lease(holder* h) noexcept : of(h) {}
    ~lease() { of->in_use.store(false, std::memory_order_release); }  // pairs with take: what was done with the value
    lease(const lease&) = delete;
    holder* of;
  };

  holder* take() {
    std::atomic<holder*>& list = lists_[detail::rank_hint() % lists_.size()];
    // pairs with the exchange below: holders and their links
    holder* const head = list.load(std::memory_order_acquire);
    for (holder* h = head; h != nullptr; h = h->next) {
      // relaxed: a hint, so that no line is taken in vain; the exchange decides. acquire: pairs with ~lease
      if (!h->in_use.load(std::memory_order_relaxed) && !h->in_use.exchange(true, std::memory_order_acquire)) return h;
    }
    auto* const fresh = new holder(make_());
    fresh->next = head;
    while (!list.compare_exchange_weak(fresh->next, fresh)) {
    }
    return fresh;
  }

  std::array<std::atomic<holder*>, 64> lists_{};  // by rank
  std::function<T()> make_;
};

}  // namespace heddle
