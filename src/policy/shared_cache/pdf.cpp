// Parallel depth first: workers run the ready tasks that come first in the order of the serial program. So tasks that
// run at the same time lie close together in the program and share a cache.
//
// Sources: Blelloch, Gibbons, Matias, "Provably efficient scheduling for languages with fine-grained parallelism"
// (J. ACM 46(2), 1999); Blelloch, Gibbons, "Effectively sharing a cache among threads" (SPAA 2004).
//
// The order is kept as a list of all live tasks under one lock. A child stands before its parent, because it precedes
// the parent's continuation. The second half of a fork stands after its owner, because the owner's first half precedes
// it.
//
// Deviations:
// - A task is not left for a child that precedes it. It goes on to its wait, and its children wait in the list.
// - A worker finds the first ready task by walking over those that are not ready.
// - CONTROLLED-PDF's supernodes are built in controlled_pdf.cpp, around this.
#include "policy/shared_cache/pdf.hpp"

#include <mutex>

namespace heddle::policy {

namespace {

char listed_mark;  // the tag of every task in the list

bool& is_ready(task& t) noexcept { return t.get<bool>(); }

void enter(task& t) noexcept {
  t.tag = &listed_mark;
  t.keep(false);
}

}  // namespace

placement pdf::started(unsigned, const task_info& info) noexcept {
  std::lock_guard hold(lock_);
  enter(info.made);
  order_.push_back(info.made);
  return placement::send;
}

placement pdf::spawn(unsigned, const task_info& info) noexcept {
  if (info.parent->tag == nullptr) return placement::child_first;
  std::lock_guard hold(lock_);
  enter(info.made);
  order_.insert_before(info.made, info.parent);
  return placement::send;
}

placement pdf::fork(unsigned, const fork_info& info, const task_info& half) noexcept {
  std::lock_guard hold(lock_);
  enter(half.made);
  order_.insert_before(half.made, info.owner.next);
  return placement::send;
}

placement pdf::ready(unsigned, task&) noexcept { return placement::send; }

void pdf::enqueue(unsigned self, task& t) noexcept {
  {
    std::lock_guard hold(lock_);
    is_ready(t) = true;
    // under lock_; a hint elsewhere
    ready_.store(ready_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  host_->wake_any(self == nobody ? 0 : self);
}

void pdf::task_end(unsigned, task& t) noexcept {
  std::lock_guard hold(lock_);
  order_.remove(t);
}

entry pdf::take() noexcept {
  if (ready_.load(std::memory_order_relaxed) == 0) return 0;  // a hint
  std::lock_guard hold(lock_);
  for (task* t = order_.front(); t != nullptr; t = t->next) {
    if (!is_ready(*t)) continue;
    is_ready(*t) = false;
    ready_.store(ready_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);  // under lock_
    return host_->entry_of(*t);
  }
  return 0;
}

// relaxed: ordered by the caller's fence
bool pdf::may_find(unsigned) noexcept { return ready_.load(std::memory_order_relaxed) != 0; }

std::unique_ptr<policy> pdf::make(parameters&) { return create<pdf>(); }

}  // namespace heddle::policy
