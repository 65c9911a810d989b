#include "machine/plan.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <tuple>

namespace heddle::machine {

namespace {

std::vector<int> usable_units(const topology& machine, const limits& allowed) {
  std::vector<int> units;
  if (!machine.is_this_machine() || allowed.mask.empty()) {
    for (const processing_unit& u : machine.units()) units.push_back(u.number);
    return units;
  }
  for (const int number : allowed.mask) {
    if (machine.unit(number) != nullptr) units.push_back(number);
  }
  // hwloc may see less than the kernel where /sys is hidden, so the mask decides.
  return units.empty() ? allowed.mask : units;
}

std::string decimal(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

struct candidate {
  int number;
  unsigned sibling;  // its number among the usable units of its core
  double speed;
  std::size_t place;  // its place in the order of the tree
};

// Returns the units in the order in which they are taken: a first unit of each core, fast cores first, then the second
// ones.
std::vector<candidate> by_preference(const topology& machine, const std::vector<int>& units) {
  std::vector<candidate> all;
  const processing_unit* before = nullptr;
  for (const int number : machine.compact_order(units)) {
    const processing_unit* u = machine.unit(number);
    const bool same_core = u != nullptr && before != nullptr && before->core == u->core;
    all.push_back({number, same_core ? all.back().sibling + 1 : 0, u != nullptr ? u->speed : 1, all.size()});
    before = u;
  }
  std::sort(all.begin(), all.end(), [](const candidate& a, const candidate& b) {
    return std::tuple(a.sibling, b.speed, a.place) < std::tuple(b.sibling, a.speed, b.place);
  });
  return all;
}

}  // namespace

worker_plan plan(const topology& machine, const limits& allowed, const base::option_values& options) {
  const std::vector<int> usable = usable_units(machine, allowed);
  std::vector<candidate> candidates = by_preference(machine, usable);
  if (!options.smt) std::erase_if(candidates, [](const candidate& c) { return c.sibling != 0; });

  worker_plan made;
  std::size_t running = candidates.size();  // the number that can run at once
  made.reason = std::to_string(usable.size()) + (usable.size() == 1 ? " processing unit" : " processing units") +
                (!machine.is_this_machine() ? " of the machine"
                 : allowed.mask.empty()     ? " of the machine, mask unknown"
                                            : " in the affinity mask");
  if (!options.smt) made.reason += ", one of each core: " + std::to_string(candidates.size());
  const quota* tightest = machine.is_this_machine() ? allowed.tightest() : nullptr;
  if (tightest != nullptr && std::ceil(tightest->processors) < static_cast<double>(running)) {
    running = std::max<std::size_t>(1, static_cast<std::size_t>(std::ceil(tightest->processors)));
    made.reason = "quota of " + decimal(tightest->processors) + " processors in " + tightest->file;
  }
  std::size_t workers = running;
  if (options.workers != 0) {
    workers = options.workers;
    made.reason = "workers=" + std::to_string(workers) + " was asked for; " + std::to_string(running) +
                  " can run at once: " + made.reason;
  }
  made.crowded = workers > running;
  made.bind = options.bind == "on" || (options.bind == "auto" && workers == candidates.size() && workers == running);

  const std::size_t taken = std::min(workers, candidates.size());
  std::vector<int> units;
  for (std::size_t i = 0; i < taken; ++i) units.push_back(candidates[i].number);
  units = machine.compact_order(std::move(units));
  for (std::size_t rank = 0; rank < workers; ++rank) made.units.push_back(units[rank * taken / workers]);
  return made;
}

}  // namespace heddle::machine
