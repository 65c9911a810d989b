/// Passing values between threads.
#pragma once

#include <chrono>
#include <cstddef>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include <heddle/detail/deadline.hpp>
#include <heddle/detail/wait.hpp>
#include <heddle/export.hpp>

namespace heddle {

namespace detail {

// One message on its way; channel<T> adds the value.
struct message {
  message* next{nullptr};
};

// Everything of a channel that does not depend on the type of its values.
class HEDDLE_API channel_core {
 public:
  enum class outcome { done, closed, not_now };

  explicit channel_core(std::size_t capacity) noexcept : capacity_(capacity) {}
  channel_core(const channel_core&) = delete;
  channel_core& operator=(const channel_core&) = delete;

  // `limit` null: waits as long as it takes. try_*: never wait. done: the message is not the caller's any more / is now.
  outcome send(message& m, const deadline* limit) noexcept;
  outcome try_send(message& m) noexcept;
  outcome receive(message*& m, const deadline* limit) noexcept;
  outcome try_receive(message*& m) noexcept;
  void close() noexcept;
  bool is_closed() const noexcept;
  std::size_t size() const noexcept;
  // What was sent and never received, linked through `next`; for the destructor.
  message* leftovers() noexcept { return std::exchange(first_, nullptr); }

 private:
  struct request;
  outcome send_now(message& m, waiter*& served) noexcept;
  outcome receive_now(message*& m, waiter*& served) noexcept;
  static bool enqueue_sender(void* request, waiter& w) noexcept;
  static bool enqueue_receiver(void* request, waiter& w) noexcept;
  outcome outcome_of(wake_reason reason, request& r, waiter_list& list, waiter& w) noexcept;
  void append(message& m) noexcept;

  const std::size_t capacity_;
  mutable spin_word guard_;     // protects all below
  bool closed_{false};
  std::size_t size_{0};
  message* first_{nullptr};
  message* last_{nullptr};
  waiter_list senders_;         // payload: the message
  waiter_list receivers_;       // payload: the message received
};

}  // namespace detail

/// A queue of values with any number of senders and receivers. With capacity n up to n values wait in it; 0: every send waits
/// for its receiver; unbounded: no send waits. Values arrive in the order they were sent, each at one receiver; waiting
/// senders and receivers are served in order of arrival. Every function: thread context any; what waits may suspend and
/// migrate a user-level thread; std::bad_alloc when there is no memory for the value (then nothing was sent).
template <class T>
class channel {
  static_assert(std::is_nothrow_move_constructible_v<T>, "a value of a channel must not throw when it is moved");

 public:
  using value_type = T;
  static constexpr std::size_t unbounded = std::numeric_limits<std::size_t>::max();

  explicit channel(std::size_t capacity) noexcept : core_(capacity) {}
  /// No thread may be inside any call. Values that nobody received are destroyed.
  ~channel() {
    for (detail::message* m = core_.leftovers(); m != nullptr;) delete static_cast<parcel*>(std::exchange(m, m->next));
  }
  channel(const channel&) = delete;
  channel& operator=(const channel&) = delete;

  /// Waits for room, or for a receiver if the capacity is 0. False: the channel is closed and the value is lost.
  bool send(T value) {
    auto m = std::make_unique<parcel>(std::move(value));
    return sent(m, core_.send(*m, nullptr));
  }
  /// These leave `value` as it was when they return false: no room (no receiver) in time, or closed.
  bool try_send(T&& value) {
    return send_or_give_back(value, [&](detail::message& m) { return core_.try_send(m); });
  }
  bool try_send(const T& value) { return try_send(T(value)); }
  template <class Rep, class Period>
  bool try_send_for(T&& value, const std::chrono::duration<Rep, Period>& duration) {
    return try_send_until(std::move(value), detail::deadline_in(duration));
  }
  template <class Clock, class Duration>
  bool try_send_until(T&& value, const std::chrono::time_point<Clock, Duration>& when) {
    return send_or_give_back(value, [&](detail::message& m) {
      auto result = detail::channel_core::outcome::not_now;
      detail::until(when, [&](detail::deadline d) { return (result = core_.send(m, &d)) != detail::channel_core::outcome::not_now; });
      return result;
    });
  }

  /// Waits for a value. Empty: the channel is closed and everything sent before has been received.
  std::optional<T> receive() {
    detail::message* m = nullptr;
    core_.receive(m, nullptr);
    return unpack(m);
  }
  /// Empty: nothing there (in time), or closed and drained.
  std::optional<T> try_receive() {
    detail::message* m = nullptr;
    core_.try_receive(m);
    return unpack(m);
  }
  template <class Rep, class Period>
  std::optional<T> try_receive_for(const std::chrono::duration<Rep, Period>& duration) {
    return try_receive_until(detail::deadline_in(duration));
  }
  template <class Clock, class Duration>
  std::optional<T> try_receive_until(const std::chrono::time_point<Clock, Duration>& when) {
    detail::message* m = nullptr;
    detail::until(when, [&](detail::deadline d) { return core_.receive(m, &d) != detail::channel_core::outcome::not_now; });
    return unpack(m);
  }

  /// Nothing more can be sent: sends that wait return false now, what is in the channel can still be received. Repeatable.
  void close() noexcept { core_.close(); }
  bool is_closed() const noexcept { return core_.is_closed(); }
  /// Values in the channel, perhaps out of date at once.
  std::size_t size() const noexcept { return core_.size(); }

  /// `for (T value : channel)` receives until the channel is closed and drained.
  class iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using reference = T&;
    using pointer = T*;

    explicit iterator(channel* source) : source_(source) { ++*this; }
    T& operator*() noexcept { return *value_; }
    T* operator->() noexcept { return &*value_; }
    iterator& operator++() {
      value_.reset();
      if (std::optional<T> next = source_->receive()) value_.emplace(std::move(*next));
      return *this;
    }
    void operator++(int) { ++*this; }
    friend bool operator==(const iterator& i, std::default_sentinel_t) noexcept { return !i.value_.has_value(); }

   private:
    channel* source_;
    std::optional<T> value_;
  };
  iterator begin() { return iterator(this); }
  std::default_sentinel_t end() noexcept { return {}; }

 private:
  struct parcel : detail::message {
    explicit parcel(T&& v) noexcept : value(std::move(v)) {}
    T value;
  };

  static bool sent(std::unique_ptr<parcel>& m, detail::channel_core::outcome result) noexcept {
    if (result != detail::channel_core::outcome::done) return false;
    static_cast<void>(m.release());  // the receiver deletes it
    return true;
  }
  template <class Send>
  bool send_or_give_back(T& value, Send&& send) {
    auto m = std::make_unique<parcel>(std::move(value));
    if (sent(m, send(*m))) return true;
    std::destroy_at(&value);
    std::construct_at(&value, std::move(m->value));
    return false;
  }
  static std::optional<T> unpack(detail::message* m) noexcept {
    if (m == nullptr) return std::nullopt;
    std::unique_ptr<parcel> owned(static_cast<parcel*>(m));
    return std::optional<T>(std::move(owned->value));
  }

  detail::channel_core core_;
};

}  // namespace heddle
