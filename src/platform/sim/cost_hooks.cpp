// The functions that heddle/cost.hpp calls, by which the program tells its costs.
#include <heddle/detail/cost_model.hpp>

#include <algorithm>

#include "platform/sim/cost_hooks.hpp"
#include "platform/sim/engine.hpp"

namespace heddle::sim {

namespace {

void cycles(double n) { here().costs().cycles(n); }
void access(const void* address, std::size_t bytes, int write) {
  here().costs().access(reinterpret_cast<std::uintptr_t>(address), bytes, write != 0);
}

int place(const void* address, std::size_t bytes, int policy, int node) {
  const configuration& c = here().settings();
  return c.place == nullptr || c.place(c.memory, reinterpret_cast<std::uintptr_t>(address), bytes, policy, node) ? 1
                                                                                                                 : 0;
}
void forget(const void* address, std::size_t bytes) {
  const configuration& c = here().settings();
  if (c.forget != nullptr) c.forget(c.memory, reinterpret_cast<std::uintptr_t>(address), bytes);
}

void access_rows(const heddle_cost_rows* sets, std::size_t set_count, std::size_t count) {
  for (std::size_t first = 0; first < set_count; first += most_row_sets) {  // further sets are taken in the next rounds
    rows some[most_row_sets];
    const std::size_t here_now = std::min(most_row_sets, set_count - first);
    for (std::size_t i = 0; i < here_now; ++i) {
      const heddle_cost_rows& s = sets[first + i];
      some[i] = {reinterpret_cast<std::uintptr_t>(s.first), s.bytes, s.stride, s.write != 0};
    }
    here().costs().access_rows(some, here_now, count);
  }
}

constinit heddle_cost_model model{cycles, access, 0, place, forget, access_rows};

}  // namespace

void offer_cost_model(bool offered, bool fast) noexcept {
  model.only = fast ? 1 : 0;
  heddle_cost = offered ? &model : nullptr;
}

}  // namespace heddle::sim

constinit const heddle_cost_model* heddle_cost = nullptr;

void heddle_cost_declare() { heddle::sim::here().costs().declare(); }
int heddle_cost_is_declared() noexcept { return heddle_cost != nullptr ? 1 : 0; }
