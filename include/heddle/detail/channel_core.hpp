// The part of a channel that does not depend on the type of its values. Protocol and proof: src/wait/channel.md.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <stop_token>

#include <heddle/detail/deadline.hpp>
#include <heddle/detail/wait.hpp>
#include <heddle/export.hpp>

namespace heddle::detail {

// A queue of items of up to 32 bytes that may be copied as bytes. Senders meet at one lock, and receivers at a second
// one on another cache line. A thread that must wait, or that finds a waiting thread, takes both locks.
class HEDDLE_API channel_core {
 public:
  enum class outcome { done, closed, not_now };
  static constexpr std::size_t largest_item = 32;
  static constexpr std::size_t unbounded = ~std::size_t{0};

  channel_core(std::size_t capacity, std::size_t item_bytes) noexcept;
  channel_core(const channel_core&) = delete;
  channel_core& operator=(const channel_core&) = delete;
  ~channel_core();

  // The limits of a wait: an operation waits until `limit` or until a stop request, if they are given, and otherwise
  // without limit.
  struct wait_limit {
    const deadline* limit{nullptr};
    const std::stop_token* stop{nullptr};
  };
  // Sends the bytes at `item`. Returns `done` if they were copied; with any other outcome they were not. Throws
  // std::bad_alloc, and then nothing was sent.
  outcome send(const void* item, wait_limit limit);
  outcome try_send(const void* item);
  // Writes the received bytes to `item` if the outcome is `done`.
  outcome receive(void* item, wait_limit limit) noexcept;
  outcome try_receive(void* item) noexcept;
  void close() noexcept;
  bool is_closed() const noexcept { return closed_.load(); }
  std::size_t size() const noexcept;

 private:
  // A part of the queue, of about one kilobyte.
  struct segment {
    segment* next;  // written before `sent_` counts an item in it
    alignas(16) unsigned char items[];
  };
  struct request;
  struct both;
  enum class fast { done, closed, not_now, slow, no_segment };

  fast put(const void* item, segment*& fresh) noexcept;
  fast take(void* item, segment*& drained) noexcept;
  void append(const void* item, segment*& fresh) noexcept;
  bool has_room_in_segment(const segment* fresh) const noexcept;
  bool remove_oldest(void* item, segment*& drained) noexcept;
  outcome send_now(request& r, waiter_list& served) noexcept;
  outcome receive_now(request& r, waiter_list& served) noexcept;
  void admit(waiter_list& served) noexcept;
  static bool enqueue_sender(void* request, waiter& w) noexcept;
  static bool enqueue_receiver(void* request, waiter& w) noexcept;
  outcome wait(request& r, bool (*enqueue)(void*, waiter&) noexcept, waiter_list& list, wait_limit limit) noexcept;
  void leave(waiter_list& list, waiter& w) noexcept;
  template <class Amount>
  bool comes_soon(Amount amount, std::size_t enough) noexcept;
  segment* make_segment() const;
  segment* spare_or_null() noexcept;
  void keep_or_free(segment* s) noexcept;

  // All threads read these; they change only under both locks.
  const std::size_t capacity_, item_bytes_, segment_items_;
  bool senders_wait_{false};         // true if senders_ is not empty
  bool receivers_wait_{false};       // true if receivers_ is not empty; the queue is empty then
  std::atomic<bool> closed_{false};  // atomic only because of is_closed

  // The senders' side.
  alignas(64) spin_word send_guard_;
  std::atomic<std::size_t> sent_{0};  // the number of items that ever entered the queue; publishes them
  std::size_t seen_received_{0};      // the value of received_ at the last look at it

  segment* write_{nullptr};
  std::size_t write_at_;  // the position of the next item in write_

  // The receivers' side.
  alignas(64) mutable spin_word receive_guard_;
  std::atomic<std::size_t> received_{0};  // the number of items that ever left the queue
  std::size_t seen_sent_{0};              // the value of sent_ at the last look at it
  segment* read_{nullptr};
  std::size_t read_at_{0};

  // A drained segment. The thread that exchanges it out owns it.
  alignas(64) std::atomic<segment*> spare_{nullptr};
  // Hints for comes_soon: the number of looks in a row that were in vain, and the number of waits that are still to go
  // without a look. They are relaxed and ordered by nothing.
  std::atomic<std::uint32_t> in_vain_{0}, unlooked_{0};
  std::atomic<segment*> first_{nullptr};  // the very first segment, where the first receiver finds it
  waiter_list senders_;                   // under both locks; payload: the request
  waiter_list receivers_;                 // under both locks; payload: the request
};

}  // namespace heddle::detail
