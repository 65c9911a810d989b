#include <heddle/detail/gang.hpp>

#include <algorithm>

#include <heddle/detail/wait.hpp>

#include "base/contracts.hpp"
#include "worker/caller.hpp"
#include "worker/gangs/gangs.hpp"
#include "worker/preemption/section.hpp"
#include "worker/runtime.hpp"

namespace heddle::detail {

namespace {

worker::gang& gang_of(gang_handle* g) noexcept { return *reinterpret_cast<worker::gang*>(g); }

// Makes the calling thread ready instead of running. It goes on where its gang has a worker for it.
void become_ready() noexcept {
  waiter w("gang");
  suspend(w, [](void*, waiter&) noexcept { return false; }, nullptr);
}

}  // namespace

gang_handle* make_gang(runtime* where, unsigned most) {
  worker::runtime& home = where != nullptr ? where->core() : worker::here();
  home.precedence().expect_pinned(0);
  home.gangs().use();
  return reinterpret_cast<gang_handle*>(new worker::gang(home, most));
}

void free_gang(gang_handle* g) noexcept { delete &gang_of(g); }

void begin_gang(gang_handle* handle, unsigned n) noexcept {
  const worker::section inside;
  worker::gang& g = gang_of(handle);
  HEDDLE_CHECK(n <= g.room, "a gang is larger than it was made for");
  const worker::worker* w = worker::worker::current_or_null();
  if (w != nullptr && &w->home != &g.home) w = nullptr;
  if (w != nullptr) return g.home.gangs().begin(g, n, w->current_thread(), w->rank);
  g.home.gangs().begin(g, n, nullptr, std::min(g.home.worker_beside_caller(0), g.home.workers() - 1));
}

void take_into_gang(gang_handle* handle, unsigned number, thread_handle* t) noexcept {
  const worker::section inside;
  worker::gang& g = gang_of(handle);
  g.home.gangs().take_in(g.seats[number], *reinterpret_cast<fiber::thread*>(t));
}

void enter_gang(gang_handle* handle, unsigned number) noexcept {
  const worker::section inside;
  worker::gang& g = gang_of(handle);
  worker::worker& w = worker::worker::current();
  fiber::thread& self = *w.current_thread();
  HEDDLE_CHECK(self.home == &g.home, "a thread of another runtime enters a gang");
  w.preempts = true;  // set before the thread may run there as a member of its gang: [pin:2]
  if (!g.home.gangs().enter(g.seats[number], self, w.rank)) become_ready();
}

void leave_gang() noexcept {
  const worker::section inside;
  worker::worker& w = worker::worker::current();
  if (!w.home.gangs().leave(*w.current_thread(), w.rank)) become_ready();
}

}  // namespace heddle::detail
