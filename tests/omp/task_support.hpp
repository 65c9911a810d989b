// Tasks of the core, made without a compiler: closures in teams.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <new>
#include <utility>
#include <vector>

#include "omp/core/tasks/depend.hpp"
#include "omp/core/tasks/taskwait.hpp"

namespace heddle_test {

using heddle::omp::depend_item;
using heddle::omp::depend_kind;
using heddle::omp::depend_list;
using heddle::omp::explicit_task;
using heddle::omp::thread;

template <class Body>
void in_team(int threads, Body body) {
  heddle::omp::region_options how;
  how.threads = threads;
  heddle::omp::run_region(thread::current(), how,
                          {[](void* data, thread& self) { (*static_cast<Body*>(data))(self); }, &body});
}

// The same, by member 0 alone; the others wait at the region's end.
template <class Body>
void single_in_team(int threads, Body body) {
  in_team(threads, [&](thread& self) {
    if (self.number == 0) body(self);
  });
}

template <class Body>
explicit_task& make(thread& self, Body body) {
  explicit_task& it = heddle::omp::make_task(self, sizeof(Body));
  new (it.payload) Body(std::move(body));
  it.body = [](explicit_task& t, thread& on, bool discard) {
    auto& b = *static_cast<Body*>(t.payload);
    if (!discard) b(on);
    b.~Body();
  };
  return it;
}

template <class Body>
void spawn(thread& self, Body body) {
  heddle::omp::submit(self, make(self, std::move(body)));
}

inline depend_list list_of(const std::vector<depend_item>& items) {
  return {items.size(), [](const void* from, std::size_t i) { return static_cast<const depend_item*>(from)[i]; },
          items.data()};
}

template <class Body>
void spawn(thread& self, const std::vector<depend_item>& items, Body body) {
  heddle::omp::submit(self, make(self, std::move(body)), list_of(items));
}

}  // namespace heddle_test
