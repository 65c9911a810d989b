// The strands with a pending event, earliest first: by clock, then by number, so that the order is total.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "platform/sim/strand.hpp"

namespace heddle::sim {

class event_heap {
 public:
  // A strand's clock stands still while the strand is here. A copy beside the pointer saves looking at the strand.
  struct event {
    picoseconds time;
    strand* who;
    bool before(const event& other) const noexcept {
      return time != other.time ? time < other.time : who->id < other.who->id;
    }
  };

  bool empty() const noexcept { return events_.empty(); }
  std::size_t size() const noexcept { return events_.size(); }
  strand& top() const noexcept { return *events_.front().who; }
  // Whether an event comes before `s`, which is not in the heap.
  bool earlier_than(const strand& s) const noexcept {
    return !events_.empty() &&
           (events_.front().time != s.time ? events_.front().time < s.time : events_.front().who->id < s.id);
  }
  std::span<const event> all() const noexcept { return events_; }  // in no useful order, but the same in each run

  void push(strand& s) {
    events_.push_back({s.time, &s});
    up(events_.size() - 1, {s.time, &s});
  }

  strand& pop() noexcept {
    strand& first = top();
    remove(first);
    return first;
  }

  void remove(strand& s) noexcept {
    const std::size_t hole = s.place;
    s.place = strand::nowhere;
    const event last = events_.back();
    events_.pop_back();
    if (last.who == &s) return;
    if (hole > 0 && last.before(events_[(hole - 1) / 2])) up(hole, last);
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
  void put(std::size_t at, event e) noexcept {
    events_[at] = e;
    e.who->place = at;
  }
  void up(std::size_t at, event e) noexcept {
    for (; at > 0 && e.before(events_[(at - 1) / 2]); at = (at - 1) / 2) put(at, events_[(at - 1) / 2]);
    put(at, e);
  }
  void down(std::size_t at, event e) noexcept {
    for (;;) {
      std::size_t child = 2 * at + 1;
      if (child >= events_.size()) break;
      if (child + 1 < events_.size() && events_[child + 1].before(events_[child])) ++child;
      if (e.before(events_[child])) break;
      put(at, events_[child]);
      at = child;
    }
    put(at, e);
  }

  std::vector<event> events_;
};

}  // namespace heddle::sim
