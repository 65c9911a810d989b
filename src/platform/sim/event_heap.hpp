// The strands that something will happen to, earliest first: by clock, then by number, so that the order is total.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "platform/sim/strand.hpp"

namespace heddle::sim {

class event_heap {
 public:
  // A strand's clock stands still while it is here; beside the pointer it saves looking at the strand.
  struct entry {
    picoseconds time;
    strand* who;
    bool before(const entry& other) const noexcept {
      return time != other.time ? time < other.time : who->id < other.who->id;
    }
  };

  bool empty() const noexcept { return entries_.empty(); }
  std::size_t size() const noexcept { return entries_.size(); }
  strand& top() const noexcept { return *entries_.front().who; }
  // Whether an event comes before `s`, which is not here.
  bool earlier_than(const strand& s) const noexcept {
    return !entries_.empty() &&
           (entries_.front().time != s.time ? entries_.front().time < s.time : entries_.front().who->id < s.id);
  }
  std::span<const entry> all() const noexcept { return entries_; }  // in no useful order, but the same in each run

  void push(strand& s) {
    entries_.push_back({s.time, &s});
    up(entries_.size() - 1, {s.time, &s});
  }

  strand& pop() noexcept {
    strand& first = top();
    remove(first);
    return first;
  }

  void remove(strand& s) noexcept {
    const std::size_t hole = s.place;
    s.place = strand::nowhere;
    const entry last = entries_.back();
    entries_.pop_back();
    if (last.who == &s) return;
    if (hole > 0 && last.before(entries_[(hole - 1) / 2])) up(hole, last);
    else down(hole, last);
  }

  // The same as push(s), then pop().
  strand& exchange(strand& s) noexcept {
    if (!earlier_than(s)) return s;
    strand& first = top();
    first.place = strand::nowhere;
    down(0, {s.time, &s});
    return first;
  }

 private:
  void put(std::size_t at, entry e) noexcept {
    entries_[at] = e;
    e.who->place = at;
  }
  void up(std::size_t at, entry e) noexcept {
    for (; at > 0 && e.before(entries_[(at - 1) / 2]); at = (at - 1) / 2) put(at, entries_[(at - 1) / 2]);
    put(at, e);
  }
  void down(std::size_t at, entry e) noexcept {
    for (;;) {
      std::size_t child = 2 * at + 1;
      if (child >= entries_.size()) break;
      if (child + 1 < entries_.size() && entries_[child + 1].before(entries_[child])) ++child;
      if (e.before(entries_[child])) break;
      put(at, entries_[child]);
      at = child;
    }
    put(at, e);
  }

  std::vector<entry> entries_;
};

}  // namespace heddle::sim
