// A window over the positions of a parallel loop: which of them have been handed out, which have ended, and how far
// those that run may be apart. Invariants [window:1] to [window:3]: src/loop/windows.md.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <heddle/event_count.hpp>

namespace heddle::detail {

// Positions are counted in blocks. A block may begin when the one `blocks` before it, and all before that, have ended:
// with one block the window stands until all of it has ended, with several it slides. All orders are sequentially
// consistent: what is done here is done once a batch.
class alignas(64) loop_window {
 public:
  // Over [low, high), shared by `seats`. At most `length` positions lie between any two that run. Before anybody else
  // has it. Throws std::bad_alloc.
  void open(std::uint64_t low, std::uint64_t high, std::uint64_t length, std::uint64_t seats, bool slides) {
    constexpr std::uint64_t blocks_of_a_seat = 4, most_blocks = 64;
    length = std::clamp<std::uint64_t>(length, 1, std::max<std::uint64_t>(high - low, 1));
    low_ = low;
    high_ = high;
    blocks_ = slides ? std::min(length, std::clamp(blocks_of_a_seat * seats, 2 * blocks_of_a_seat, most_blocks)) : 1;
    block_ = length / blocks_;
    share_ = (length - 1) / seats + 1;
    next_.store(low);
    ended_ = std::make_unique<std::atomic<std::uint64_t>[]>(blocks_);
  }

  // Hands out the next positions that may begin, an equal share of the window at most. False: there are none now.
  bool take(std::uint64_t& low, std::uint64_t& high) noexcept {
    low = next_.load();
    do {
      const std::uint64_t limit = enabled();
      if (low >= limit) return false;
      high = std::min(limit, low + share_);
    } while (!next_.compare_exchange_weak(low, high));
    if (high == high_) moved_.notify_all();                                    // nobody need wait any more
    else if (slides() && (high - low > 1 || may_take())) moved_.notify_one();  // to take more, or a part of it
    return true;
  }
  bool may_take() noexcept { return next_.load() < enabled(); }
  bool slides() const noexcept { return blocks_ != 1; }
  // Everything is handed out.
  bool is_handed_out() const noexcept { return next_.load() == high_; }
  bool has(std::uint64_t position) const noexcept { return position >= low_ && position < high_; }

  // Positions [low, high), handed out before, have ended.
  void end(std::uint64_t low, std::uint64_t high) noexcept {
    while (low < high) {
      const std::uint64_t block = (low - low_) / block_, to = std::min(high, low_ + (block + 1) * block_);
      const std::uint64_t sum = ended_[block % blocks_].fetch_add(to - low) + (to - low);
      if (sum == whole(block)) {
        if (slides()) moved_.notify_one();
        else moved_.notify_all();
      }
      low = to;
    }
  }

  // Notified when more may begin, when all is handed out, and by stop().
  event_count& moved() noexcept { return moved_; }

 private:
  // What the count of the block's place is when it has ended: those before it at this place are in it.
  std::uint64_t whole(std::uint64_t block) const noexcept { return (block / blocks_ + 1) * block_; }

  // Positions before this may begin. [window:2]
  std::uint64_t enabled() noexcept {
    std::uint64_t front = front_.load();
    while (low_ + (front + blocks_) * block_ < high_ && ended_[front % blocks_].load() >= whole(front)) ++front;
    front_.store(front);
    return std::min(high_, low_ + (front + blocks_) * block_);
  }

  std::uint64_t low_{0}, high_{0}, block_{1}, blocks_{1}, share_{1};  // written by open
  std::unique_ptr<std::atomic<std::uint64_t>[]> ended_;               // by block modulo blocks_; they only grow
  event_count moved_;
  alignas(64) std::atomic<std::uint64_t> next_{0};
  // A block, all before which have ended; not the latest always, since it is stored by whoever has looked.
  std::atomic<std::uint64_t> front_{0};
};

}  // namespace heddle::detail
