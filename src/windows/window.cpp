#include "windows/window.hpp"

#include <algorithm>

namespace heddle::detail {

void loop_window::open(std::uint64_t low, std::uint64_t high, std::uint64_t length, std::uint64_t members,
                       bool slides) {
  constexpr std::uint64_t blocks_of_a_member = 4, most_blocks = 64;
  length = std::clamp<std::uint64_t>(length, 1, std::max<std::uint64_t>(high - low, 1));
  low_ = low;
  high_ = high;
  blocks_ =
      slides ? std::min(length, std::clamp(blocks_of_a_member * members, 2 * blocks_of_a_member, most_blocks)) : 1;
  block_ = length / blocks_;
  share_ = (length - 1) / members + 1;
  next_.store(low);
  ended_ = std::make_unique<std::atomic<std::uint64_t>[]>(blocks_);
}

bool loop_window::take(std::uint64_t& low, std::uint64_t& high) noexcept {
  low = next_.load();
  do {
    const std::uint64_t limit = enabled();
    if (low >= limit) return false;
    high = std::min(limit, low + share_);
  } while (!next_.compare_exchange_weak(low, high));
  if (high == high_) moved_.notify_all();  // no thread need wait any more
  // One waiter takes more, or a part of it.
  else if (slides() && (high - low > 1 || may_take())) moved_.notify_one();
  return true;
}

void loop_window::end(std::uint64_t low, std::uint64_t high) noexcept {
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

std::uint64_t loop_window::enabled() noexcept {
  std::uint64_t front = front_.load();
  while (low_ + (front + blocks_) * block_ < high_ && ended_[front % blocks_].load() >= whole(front)) ++front;
  front_.store(front);
  return std::min(high_, low_ + (front + blocks_) * block_);
}

}  // namespace heddle::detail
