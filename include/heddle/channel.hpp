/// Channels, which pass values between threads.
#pragma once

#include <chrono>
#include <cstddef>
#include <iterator>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>

#include <heddle/detail/channel_core.hpp>
#include <heddle/detail/deadline.hpp>

namespace heddle {

namespace detail {

// The form in which a value travels. A small value that may be copied as bytes travels as its bytes; any other value
// travels as the address of a copy on the heap.
template <class T>
struct channel_item {
  static constexpr bool direct =
      std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T> && sizeof(T) <= channel_core::largest_item;
  static constexpr std::size_t bytes = direct ? sizeof(T) : sizeof(T*);
};

}  // namespace detail

/// A queue of values with any number of senders and receivers. With capacity n up to n values wait in it. With capacity
/// 0 every send waits for its receiver, and with `unbounded` no send waits. Values arrive in the order in which they
/// were sent, each at one receiver. Waiting senders and receivers are served in order of arrival. Thread context of
/// every function: any. A function that waits may suspend and migrate a user-level thread. Sending throws
/// std::bad_alloc if there is no memory for the value, and then nothing was sent. Receiving throws nothing.
template <class T>
class channel {
  static_assert(std::is_nothrow_move_constructible_v<T>, "a value of a channel must not throw when it is moved");

 public:
  using value_type = T;
  static constexpr std::size_t unbounded = std::numeric_limits<std::size_t>::max();

  explicit channel(std::size_t capacity) noexcept : core_(capacity, item::bytes) {}
  /// No thread may be inside a call. Values that were not received are destroyed.
  ~channel() {
    if constexpr (!item::direct) {
      while (try_receive()) {
      }
    }
  }
  channel(const channel&) = delete;
  channel& operator=(const channel&) = delete;

  /// Waits for room, or for a receiver if the capacity is 0. Returns false if the channel is closed; the value is then
  /// lost.
  bool send(T value) {
    return sent(value, [&](const void* bytes) { return core_.send(bytes, {}); }, [](T&&) {});
  }
  /// Does the same, but also ends when a stop is requested. This function and those below return false if the channel
  /// is closed, if a stop was requested, or if there was no room (no receiver) in time. A `value` that was given as an
  /// rvalue is then unchanged.
  bool send(T&& value, std::stop_token stop) {
    return send_or_give_back(value, [&](const void* bytes) { return core_.send(bytes, {nullptr, &stop}); });
  }
  bool send(const T& value, std::stop_token stop) { return send(T(value), std::move(stop)); }
  bool try_send(T&& value) {
    return send_or_give_back(value, [&](const void* bytes) { return core_.try_send(bytes); });
  }
  bool try_send(const T& value) { return try_send(T(value)); }
  template <class Rep, class Period>
  bool try_send_for(T&& value, const std::chrono::duration<Rep, Period>& duration, std::stop_token stop = {}) {
    return try_send_until(std::move(value), detail::deadline_in(duration), std::move(stop));
  }
  template <class Clock, class Duration>
  bool try_send_until(T&& value, const std::chrono::time_point<Clock, Duration>& when, std::stop_token stop = {}) {
    return send_or_give_back(value, [&](const void* bytes) {
      auto result = outcome::not_now;
      detail::until(when, [&](detail::deadline d) {
        return (result = core_.send(bytes, {&d, of(stop)})) != outcome::not_now || stop.stop_requested();
      });
      return result;
    });
  }

  /// Waits for a value. Returns nothing if the channel is closed and everything sent before has been received.
  std::optional<T> receive() {
    return received([&](void* bytes) { return core_.receive(bytes, {}); });
  }
  /// Does the same, but also returns nothing if a stop was requested, even if there is a value.
  std::optional<T> receive(std::stop_token stop) {
    return received([&](void* bytes) { return core_.receive(bytes, {nullptr, &stop}); });
  }
  /// The functions below return nothing if no value came in time or before a stop was requested, or if the channel is
  /// closed and drained. try_receive never suspends.
  std::optional<T> try_receive() {
    return received([&](void* bytes) { return core_.try_receive(bytes); });
  }
  template <class Rep, class Period>
  std::optional<T> try_receive_for(const std::chrono::duration<Rep, Period>& duration, std::stop_token stop = {}) {
    return try_receive_until(detail::deadline_in(duration), std::move(stop));
  }
  template <class Clock, class Duration>
  std::optional<T> try_receive_until(const std::chrono::time_point<Clock, Duration>& when, std::stop_token stop = {}) {
    return received([&](void* bytes) {
      auto result = outcome::not_now;
      detail::until(when, [&](detail::deadline d) {
        return (result = core_.receive(bytes, {&d, of(stop)})) != outcome::not_now || stop.stop_requested();
      });
      return result;
    });
  }

  /// Closes the channel. After that nothing can be sent, and sends that wait return false. Values in the channel can
  /// still be received. Further calls have no effect.
  void close() noexcept { core_.close(); }
  bool is_closed() const noexcept { return core_.is_closed(); }
  /// Returns the number of values in the channel. It may be out of date at once.
  std::size_t size() const noexcept { return core_.size(); }

  /// Makes `for (T value : channel)` receive until the channel is closed and drained.
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
  using item = detail::channel_item<T>;
  using outcome = detail::channel_core::outcome;

  static const std::stop_token* of(const std::stop_token& stop) noexcept {
    return stop.stop_possible() ? &stop : nullptr;
  }

  // Sends `value`. If the value was moved to the heap and then not sent, it goes to give_back.
  template <class Send, class GiveBack>
  static bool sent(T& value, Send&& send, GiveBack&& give_back) {
    if constexpr (item::direct) {
      return send(static_cast<const void*>(std::addressof(value))) == outcome::done;
    } else {
      auto box = std::make_unique<T>(std::move(value));
      T* const address = box.get();
      struct returned {  // also runs when send throws
        std::unique_ptr<T>& box;
        GiveBack& give_back;
        ~returned() {
          if (box != nullptr) give_back(std::move(*box));
        }
      } otherwise{box, give_back};
      if (send(static_cast<const void*>(&address)) != outcome::done) return false;
      static_cast<void>(box.release());  // the receiver deletes it
      return true;
    }
  }
  template <class Send>
  static bool send_or_give_back(T& value, Send&& send) {
    return sent(value, send, [&value](T&& back) {
      std::destroy_at(std::addressof(value));
      std::construct_at(std::addressof(value), std::move(back));
    });
  }
  template <class Receive>
  static std::optional<T> received(Receive&& receive) {
    if constexpr (item::direct) {
      alignas(T) unsigned char bytes[sizeof(T)];
      if (receive(static_cast<void*>(bytes)) != outcome::done) return std::nullopt;
      return std::optional<T>(*std::launder(reinterpret_cast<T*>(bytes)));
    } else {
      T* address = nullptr;
      if (receive(static_cast<void*>(&address)) != outcome::done) return std::nullopt;
      const std::unique_ptr<T> owned(address);
      return std::optional<T>(std::move(*address));
    }
  }

  detail::channel_core core_;
};

}  // namespace heddle
