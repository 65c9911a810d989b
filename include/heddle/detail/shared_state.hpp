// The state shared by a promise and its future: the result, the threads that wait for it, and the continuations.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

#include <heddle/detail/deadline.hpp>
#include <heddle/detail/wait.hpp>
#include <heddle/export.hpp>

namespace heddle::detail {

// A function to be called once a result is there. The state owns it from subscribe() until run() is called.
struct continuation {
  explicit continuation(void (*function)(continuation&) noexcept) noexcept : run(function) {}
  // Called by the thread that sets the result. It must be short and must not wait.
  void (*run)(continuation&) noexcept;
  continuation* next{nullptr};
};

// The part that does not depend on the type of the result. The promise and the future each hold a count of it, and so
// does a thread that is setting the result.
class HEDDLE_API state_core {
 public:
  state_core(const state_core&) = delete;
  state_core& operator=(const state_core&) = delete;

  void keep() noexcept { users_.fetch_add(1); }
  void drop() noexcept {
    if (users_.fetch_sub(1) == 1) destroy_(this);
  }

  bool is_ready() const noexcept { return ready_.load(std::memory_order_acquire); }  // pairs with publish: the result
  // Returns false if the result was not there by the limit.
  bool wait(const deadline* limit) noexcept { return is_ready() || wait_slow(limit); }
  // Runs `c` at once if the result is there, and otherwise when it comes.
  void subscribe(continuation& c) noexcept;

  // Takes the right to set the result. Returns true to one caller, which must store the result and then call publish.
  bool begin_result() noexcept { return !taken_.exchange(true); }
  void publish() noexcept;
  // Does the same, but throws std::future_error(promise_already_satisfied) instead of returning false.
  void begin_result_or_throw();

  std::exception_ptr error;  // written before publish

 protected:
  explicit state_core(void (*destroy)(state_core*) noexcept) noexcept : destroy_(destroy) {}
  ~state_core() = default;

 private:
  bool wait_slow(const deadline* limit) noexcept;
  static bool enqueue(void* state, waiter& w) noexcept;

  void (*const destroy_)(state_core*) noexcept;
  std::atomic<std::uint32_t> users_{1};
  std::atomic<bool> taken_{false};  // a thread sets or has set the result
  std::atomic<bool> ready_{false};  // the result is there; set once, under guard_; publishes the result
  spin_word guard_;
  waiter_list waiters_;           // under guard_
  continuation* first_{nullptr};  // under guard_; in order of subscription
  continuation** last_{&first_};  // under guard_
};

// The storage of a result. A void result is stored as nothing, and a reference as a pointer.
template <class T>
struct result_slot {
  using stored = std::conditional_t<std::is_reference_v<T>, std::remove_reference_t<T>*,
                                    std::conditional_t<std::is_void_v<T>, char, T>>;
};

template <class T>
class shared_state final : public state_core {
 public:
  shared_state() noexcept : state_core([](state_core* s) noexcept { delete static_cast<shared_state*>(s); }) {}

  // Called once, after begin_result. An exception from the value's constructor becomes the result.
  template <class... Args>
  void set(Args&&... args) noexcept {
    try {
      if constexpr (std::is_reference_v<T>) value_.emplace(&args...);
      else value_.emplace(std::forward<Args>(args)...);
    } catch (...) {
      error = std::current_exception();
    }
    publish();
  }
  void fail(std::exception_ptr e) noexcept {
    error = std::move(e);
    publish();
  }
  // Stores the result of f(args...), or its exception.
  template <class F, class... Args>
  void set_from(F& f, Args&&... args) noexcept {
    try {
      if constexpr (std::is_void_v<T>) {
        f(std::forward<Args>(args)...);
        value_.emplace();
      } else if constexpr (std::is_reference_v<T>) {
        value_.emplace(&f(std::forward<Args>(args)...));
      } else {
        value_.emplace(f(std::forward<Args>(args)...));
      }
    } catch (...) {
      error = std::current_exception();
    }
    publish();
  }
  // Takes the result, which must be ready.
  T take() {
    if (error) std::rethrow_exception(error);
    if constexpr (std::is_reference_v<T>) return static_cast<T>(**value_);
    else if constexpr (!std::is_void_v<T>) return std::move(*value_);
  }

 private:
  std::optional<typename result_slot<T>::stored> value_;
};

// A counted pointer to a state.
template <class T>
class state_pointer {
 public:
  state_pointer() noexcept = default;
  // takes over the count that the state was made with
  explicit state_pointer(shared_state<T>* fresh) noexcept : state_(fresh) {}
  state_pointer(state_pointer&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  state_pointer(const state_pointer& other) noexcept : state_(other.state_) {
    if (state_ != nullptr) state_->keep();
  }
  state_pointer& operator=(state_pointer other) noexcept {
    std::swap(state_, other.state_);
    return *this;
  }
  ~state_pointer() {
    if (state_ != nullptr) state_->drop();
  }
  explicit operator bool() const noexcept { return state_ != nullptr; }
  shared_state<T>* operator->() const noexcept { return state_; }
  shared_state<T>& operator*() const noexcept { return *state_; }

 private:
  shared_state<T>* state_{nullptr};
};

// The errors of futures and promises, as std::future_error.
[[noreturn]] HEDDLE_API void throw_no_state();
[[noreturn]] HEDDLE_API void throw_future_already_retrieved();
HEDDLE_API std::exception_ptr broken_promise() noexcept;

}  // namespace heddle::detail
