// The strands that something will happen to, earliest first: by clock, then by number, so that the order is total.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "platform/sim/strand.hpp"

namespace heddle::sim {

class event_heap {
 public:
  bool empty() const noexcept { return strands_.empty(); }
  std::size_t size() const noexcept { return strands_.size(); }
  strand& top() const noexcept { return *strands_.front(); }
  std::span<strand* const> all() const noexcept { return strands_; }  // in no useful order, but the same in each run

  void push(strand& s) {
    strands_.push_back(&s);
    up(strands_.size() - 1, s);
  }

  strand& pop() noexcept {
    strand& first = *strands_.front();
    remove(first);
    return first;
  }

  void remove(strand& s) noexcept {
    const std::size_t hole = s.place;
    s.place = strand::nowhere;
    strand& last = *strands_.back();
    strands_.pop_back();
    if (&last == &s) return;
    if (hole > 0 && last.before(*strands_[(hole - 1) / 2])) up(hole, last);
    else down(hole, last);
  }

  // The same as push(s), then pop().
  strand& exchange(strand& s) noexcept {
    if (strands_.empty() || s.before(top())) return s;
    strand& first = *strands_.front();
    first.place = strand::nowhere;
    down(0, s);
    return first;
  }

 private:
  void put(std::size_t at, strand& s) noexcept {
    strands_[at] = &s;
    s.place = at;
  }
  void up(std::size_t at, strand& s) noexcept {
    for (; at > 0 && s.before(*strands_[(at - 1) / 2]); at = (at - 1) / 2) put(at, *strands_[(at - 1) / 2]);
    put(at, s);
  }
  void down(std::size_t at, strand& s) noexcept {
    for (;;) {
      std::size_t child = 2 * at + 1;
      if (child >= strands_.size()) break;
      if (child + 1 < strands_.size() && strands_[child + 1]->before(*strands_[child])) ++child;
      if (s.before(*strands_[child])) break;
      put(at, *strands_[child]);
      at = child;
    }
    put(at, s);
  }

  std::vector<strand*> strands_;
};

}  // namespace heddle::sim
