#include "sim/service_queue.hpp"

#include <algorithm>
#include <utility>

namespace heddle::sim {

void service_queue::grow(std::uint64_t number) {
  std::size_t size = ring_.size();
  while (size <= number - oldest_) size *= 2;
  std::vector<slot> larger(size);
  for (const slot& s : ring_) {
    if (s.number >= oldest_) larger[s.number & (size - 1)] = s;
  }
  ring_ = std::move(larger);
}

service_queue::slot& service_queue::at_number(std::uint64_t number) {
  if (number > top_) {
    if (number - oldest_ >= ring_.size()) grow(number);
    top_ = number;
  }
  slot& s = ring_[number & (ring_.size() - 1)];
  if (s.number != number) s = {number, 0, 1};
  return s;
}

std::uint64_t service_queue::first_with_room(std::uint64_t number) {
  const auto limit = static_cast<float>(width_);
  std::uint64_t found = number;
  while (true) {
    const slot& s = at_number(found);
    if (s.used < limit) break;
    found += s.skip;
  }
  while (number < found) {  // next time this is one step
    slot& s = at_number(number);
    number += s.skip;
    s.skip = static_cast<std::uint32_t>(std::min<std::uint64_t>(found - s.number, ~0u));
  }
  return found;
}

double service_queue::serve(double at, double busy, double oldest) {
  // Goes by way of signed numbers, which the processor converts itself.
  const auto slot_at = [this](double time) {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(time / width_));
  };
  if (oldest != told_) {
    told_ = oldest;
    oldest_ = std::max(oldest_, slot_at(oldest));
  }
  const auto limit = static_cast<float>(width_);
  std::uint64_t number = std::max(oldest_, slot_at(at));
  slot* s = &at_number(number);
  if (s->used >= limit) {
    number = first_with_room(number);
    s = &at_number(number);
  }
  const double start =
      std::max(at, static_cast<double>(static_cast<std::int64_t>(number)) * width_ + static_cast<double>(s->used));
  for (double left = busy;;) {
    const double room = width_ - static_cast<double>(s->used);
    if (left < room) {
      s->used += static_cast<float>(left);
      return start;
    }
    s->used = limit;
    left -= room;
    if (left <= 0) return start;
    number = first_with_room(number + 1);
    s = &at_number(number);
  }
}

}  // namespace heddle::sim
