/// Futures: results that come later.
#pragma once

#include <chrono>
#include <exception>
#include <future>
#include <iterator>
#include <memory>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <heddle/detail/shared_state.hpp>
#include <heddle/thread.hpp>

namespace heddle {

using std::future_errc;
using std::future_error;
using std::future_status;

template <class T>
class promise;
template <class T>
class future;

namespace detail {

template <class T>
struct is_future : std::false_type {};
template <class T>
struct is_future<future<T>> : std::true_type {};

template <class T>
future<T> future_of(state_pointer<T> state) noexcept;
template <class T>
state_pointer<T>& state_of(future<T>& f) noexcept;

// True if f takes the value of a future<T> rather than the future itself.
template <class F, class T>
inline constexpr bool takes_value = std::is_invocable_v<F&, T>;
template <class F>
inline constexpr bool takes_value<F, void> = std::is_invocable_v<F&>;

template <class F, class T>
struct then_result {
  // If f takes the value, is_invocable with a future is not evaluated, because that would compile the body of a generic
  // lambda.
  static_assert(std::disjunction_v<std::bool_constant<takes_value<F, T>>, std::is_invocable<F&, future<T>>>,
                "then(f): f takes the value (nothing for void), or the future");
  using type = typename std::conditional_t<
      takes_value<F, T>, std::conditional_t<std::is_void_v<T>, std::invoke_result<F&>, std::invoke_result<F&, T>>,
      std::invoke_result<F&, future<T>>>::type;
};

}  // namespace detail

/// Like std::future, for threads of any kind. T may be void or a reference. Thread context: any, but two threads must
/// not use one future at the same time. get() and the wait functions may suspend and migrate a user-level thread; the
/// destructor never waits. A future without a state throws std::future_error(no_state).
template <class T>
class future {
 public:
  future() noexcept = default;
  future(future&&) noexcept = default;
  future& operator=(future&&) noexcept = default;

  bool valid() const noexcept { return static_cast<bool>(state_); }
  bool is_ready() const { return state().is_ready(); }

  /// Waits, then returns the result, or throws it if it is an exception. The future is not valid afterwards.
  T get() {
    wait();
    const detail::state_pointer<T> mine = std::move(state_);
    return mine->take();
  }
  void wait() const { state().wait(nullptr); }
  template <class Rep, class Period>
  future_status wait_for(const std::chrono::duration<Rep, Period>& duration) const {
    return wait_until(detail::deadline_in(duration));
  }
  template <class Clock, class Duration>
  future_status wait_until(const std::chrono::time_point<Clock, Duration>& when) const {
    detail::state_core& s = state();
    return detail::until(when, [&s](detail::deadline d) { return s.wait(&d); }) ? future_status::ready
                                                                                : future_status::timeout;
  }

  /// Returns the future of f's result. When the value is there, f is called with it (without argument for void) on a
  /// new user-level thread of `options.where`. The default is the runtime that calls then(), which must live until the
  /// result is there. If the result is an exception, f is not called and the exception passes on. An f that can be
  /// called with a future<T> but not with the value gets the finished future, whatever its result is. A generic lambda
  /// (`auto` parameter, return type deduced) counts as taking the value. This future is not valid afterwards. Never
  /// suspends. Throws std::bad_alloc. If no thread can be made for f in the end, the std::system_error is the result.
  template <class F>
  auto then(const thread_options& options, F&& f) -> future<typename detail::then_result<std::decay_t<F>, T>::type>;
  template <class F>
  auto then(F&& f) {
    return then(thread_options{}, std::forward<F>(f));
  }

 private:
  friend future detail::future_of<T>(detail::state_pointer<T>) noexcept;
  friend detail::state_pointer<T>& detail::state_of<T>(future&) noexcept;
  explicit future(detail::state_pointer<T> state) noexcept : state_(std::move(state)) {}
  detail::shared_state<T>& state() const {
    if (!state_) detail::throw_no_state();
    return *state_;
  }

  detail::state_pointer<T> state_;
};

/// Like std::promise. A promise that is destroyed without a result leaves std::future_error(broken_promise) as the
/// result. Thread context: any; no function of it suspends.
template <class T>
class promise {
 public:
  promise() : state_(new detail::shared_state<T>) {}
  promise(promise&& other) noexcept : state_(std::move(other.state_)), retrieved_(other.retrieved_) {}
  promise& operator=(promise&& other) noexcept {
    promise old(std::move(other));
    std::swap(state_, old.state_);
    std::swap(retrieved_, old.retrieved_);
    return *this;
  }
  ~promise() {
    if (state_ && state_->begin_result()) state_->fail(detail::broken_promise());
  }

  /// May be called once. The second call throws std::future_error(future_already_retrieved).
  future<T> get_future() {
    state();
    if (std::exchange(retrieved_, true)) detail::throw_future_already_retrieved();
    return detail::future_of(state_);
  }
  /// Sets the result to `value`: an argument of T's constructor, an lvalue if T is a reference, nothing if T is void.
  /// If T's constructor throws, that exception is the result. Throws std::future_error(promise_already_satisfied) if
  /// there is a result already.
  template <class... Args>
    requires((std::is_void_v<T> && sizeof...(Args) == 0) || (!std::is_void_v<T> && sizeof...(Args) == 1))
  void set_value(Args&&... value) {
    state().begin_result_or_throw();
    if constexpr (std::is_void_v<T>) state_->set('\0');
    else state_->set(std::forward<Args>(value)...);
  }
  void set_exception(std::exception_ptr error) {
    state().begin_result_or_throw();
    state_->fail(std::move(error));
  }

 private:
  detail::shared_state<T>& state() const {
    if (!state_) detail::throw_no_state();
    return *state_;
  }

  detail::state_pointer<T> state_;
  bool retrieved_{false};
};

namespace detail {

template <class T>
future<T> future_of(state_pointer<T> state) noexcept {
  return future<T>(std::move(state));
}
template <class T>
state_pointer<T>& state_of(future<T>& f) noexcept {
  return f.state_;
}

// Runs f on a user-level thread; its result goes to `state`.
template <class T, class F>
void run_for(const thread_options& options, state_pointer<T> state, F&& f) {
  heddle::thread t(options, [held = std::forward<F>(f), to = std::move(state)]() mutable {
    static_cast<void>(to->begin_result());
    to->set_from(held);
  });
  t.detach();
}

// The continuation of then(): it waits in the list of `from` for the result, then starts a thread for f.
template <class T, class R, class F>
struct then_step final : continuation {
  then_step(const thread_options& o, state_pointer<T> source, F&& function)
      : continuation(start), options(o), from(std::move(source)), f(std::move(function)), to(new shared_state<R>) {}

  static void start(continuation& c) noexcept {
    std::unique_ptr<then_step> self(static_cast<then_step*>(&c));
    if constexpr (takes_value<F, T>) {
      if (self->from->error) return self->pass_on(self->from->error);
    }
    const state_pointer<R> result = self->to;
    const thread_options o = self->options;
    try {
      heddle::thread t(o, [step = std::move(self)]() mutable { step->run(); });
      t.detach();
    } catch (...) {
      if (result->begin_result()) result->fail(std::current_exception());
    }
  }
  void pass_on(std::exception_ptr error) noexcept {
    if (to->begin_result()) to->fail(std::move(error));
  }
  void run() noexcept {
    static_cast<void>(to->begin_result());
    if constexpr (!takes_value<F, T>) {
      to->set_from(f, future_of(std::move(from)));
    } else if constexpr (std::is_void_v<T>) {
      to->set_from(f);
    } else {
      auto call = [this]() -> R { return f(from->take()); };
      to->set_from(call);
    }
  }

  thread_options options;
  state_pointer<T> from;
  F f;
  state_pointer<R> to;
};

// The state of when_all(): the futures, and the number that is still to come.
template <class Futures>
struct gathering {
  explicit gathering(Futures&& all, std::size_t count)
      : futures(std::move(all)), missing(count), to(new shared_state<Futures>) {}

  struct step final : continuation {
    step() noexcept : continuation([](continuation& c) noexcept { static_cast<step&>(c).whole->arrive(); }) {}
    gathering* whole{nullptr};
  };

  void arrive() noexcept {
    if (missing.fetch_sub(1) != 1) return;
    static_cast<void>(to->begin_result());
    to->set(std::move(futures));
    delete this;
  }

  Futures futures;
  std::vector<step> steps;
  std::atomic<std::size_t> missing;
  state_pointer<Futures> to;
};

}  // namespace detail

template <class T>
template <class F>
auto future<T>::then(const thread_options& options, F&& f)
    -> future<typename detail::then_result<std::decay_t<F>, T>::type> {
  using result = typename detail::then_result<std::decay_t<F>, T>::type;
  using step = detail::then_step<T, result, std::decay_t<F>>;
  state();
  thread_options with = options;
  if (with.where == nullptr) with.where = &runtime::current();
  auto next = std::make_unique<step>(with, state_, std::decay_t<F>(std::forward<F>(f)));
  future<result> later = detail::future_of(next->to);
  const detail::state_pointer<T> mine = std::move(state_);
  mine->subscribe(*next.release());
  return later;
}

/// Calls f() on a new user-level thread of `options.where` (by default of the calling runtime, or else of the global
/// one). The future gets f's result or exception. Unlike std::async's, the future does not wait when it is destroyed;
/// the thread then ends by itself, at the latest when the runtime does. Thread context: any; never suspends. Throws
/// std::system_error if no thread can be made, and std::bad_alloc.
template <class F>
auto async(const thread_options& options, F&& f) -> future<std::invoke_result_t<std::decay_t<F>&>> {
  using result = std::invoke_result_t<std::decay_t<F>&>;
  detail::state_pointer<result> state(new detail::shared_state<result>);
  detail::run_for(options, state, std::forward<F>(f));
  return detail::future_of(std::move(state));
}
template <class F>
auto async(F&& f) {
  return async(thread_options{}, std::forward<F>(f));
}
template <class F>
auto async(runtime& where, F&& f) {
  return async(thread_options{.where = &where}, std::forward<F>(f));
}
/// Does the same with arguments: calls f(args...) with copies of them, as std::async does. std::ref passes a reference.
/// Options or a runtime may stand before f.
template <class F, class... Args>
  requires(sizeof...(Args) > 0 && detail::callable_with<F, Args...>)
auto async(F&& f, Args&&... args) {
  return async(thread_options{}, detail::bound_call(std::forward<F>(f), std::forward<Args>(args)...));
}
template <class F, class... Args>
  requires(sizeof...(Args) > 0 && detail::callable_with<F, Args...>)
auto async(const thread_options& options, F&& f, Args&&... args) {
  return async(options, detail::bound_call(std::forward<F>(f), std::forward<Args>(args)...));
}
template <class F, class... Args>
  requires(sizeof...(Args) > 0 && detail::callable_with<F, Args...>)
auto async(runtime& where, F&& f, Args&&... args) {
  return async(thread_options{.where = &where}, detail::bound_call(std::forward<F>(f), std::forward<Args>(args)...));
}

/// Returns a future that already has its value.
template <class T>
future<std::decay_t<T>> make_ready_future(T&& value) {
  promise<std::decay_t<T>> p;
  p.set_value(std::forward<T>(value));
  return p.get_future();
}
inline future<void> make_ready_future() {
  promise<void> p;
  p.set_value();
  return p.get_future();
}

/// Returns a future of all the given futures. It is ready when each of them is finished, with a value or an exception
/// of its own (as in the Concurrency TS). The given futures are not valid afterwards. Thread context: any; never
/// suspends. Throws std::bad_alloc, std::future_error(no_state).
template <class... Ts>
future<std::tuple<future<Ts>...>> when_all(future<Ts>... futures) {
  using all = std::tuple<future<Ts>...>;
  if (!(futures.valid() && ...)) detail::throw_no_state();
  if constexpr (sizeof...(Ts) == 0) {
    return make_ready_future(all());
  } else {
    auto whole = std::make_unique<detail::gathering<all>>(all(std::move(futures)...), sizeof...(Ts));
    whole->steps.resize(sizeof...(Ts));
    auto later = detail::future_of(whole->to);
    // The states are kept here, because the last arrival hands out `futures` and deletes the rest.
    std::apply(
        [&whole](auto&... f) {
          auto states = std::make_tuple(detail::state_of(f)...);
          auto* g = whole.release();
          std::size_t i = 0;
          auto* steps = g->steps.data();
          std::apply([&](auto&... s) { ((steps[i].whole = g, s->subscribe(steps[i]), ++i), ...); }, states);
        },
        whole->futures);
    return later;
  }
}

/// Does the same for a sequence of futures of one type, which are moved from. The result is a vector in the same order.
template <std::forward_iterator Iterator>
  requires detail::is_future<std::iter_value_t<Iterator>>::value
auto when_all(Iterator first, Iterator last) -> future<std::vector<std::iter_value_t<Iterator>>> {
  using all = std::vector<std::iter_value_t<Iterator>>;
  all futures(std::make_move_iterator(first), std::make_move_iterator(last));
  const std::size_t count = futures.size();
  if (count == 0) return make_ready_future(std::move(futures));
  for (auto& f : futures) {
    if (!f.valid()) detail::throw_no_state();
  }
  std::vector<std::decay_t<decltype(detail::state_of(futures[0]))>> states;
  for (auto& f : futures) states.push_back(detail::state_of(f));
  auto whole = std::make_unique<detail::gathering<all>>(std::move(futures), count);
  whole->steps.resize(count);
  auto later = detail::future_of(whole->to);
  auto* g = whole.release();
  auto* steps = g->steps.data();
  for (std::size_t i = 0; i < count; ++i) {
    steps[i].whole = g;
    states[i]->subscribe(steps[i]);
  }
  return later;
}
template <class T>
auto when_all(std::vector<future<T>> futures) {
  return when_all(futures.begin(), futures.end());
}

}  // namespace heddle
