// What heddle/cost.hpp calls: the program's own account of its costs.
#include <heddle/detail/cost_model.hpp>

#include "platform/sim/engine.hpp"
#include "platform/sim/cost_hooks.hpp"

namespace heddle::sim {

namespace {

void cycles(double n) { here().cycles(n); }
void access(const void* address, std::size_t bytes, int write) { here().access(reinterpret_cast<std::uintptr_t>(address), bytes, write != 0); }

void place(const void* address, std::size_t bytes, int policy, int node) {
  const configuration& c = here().settings();
  if (c.place != nullptr) c.place(c.memory, reinterpret_cast<std::uintptr_t>(address), bytes, policy, node);
}
void forget(const void* address, std::size_t bytes) {
  const configuration& c = here().settings();
  if (c.forget != nullptr) c.forget(c.memory, reinterpret_cast<std::uintptr_t>(address), bytes);
}

constinit heddle_cost_model model{cycles, access, 0, place, forget};

}  // namespace

void offer_cost_model(bool offered, bool fast) noexcept {
  model.only = fast ? 1 : 0;
  heddle_cost = offered ? &model : nullptr;
}

}  // namespace heddle::sim

constinit const heddle_cost_model* heddle_cost = nullptr;

void heddle_cost_declare() { heddle::sim::here().declare_costs(); }
