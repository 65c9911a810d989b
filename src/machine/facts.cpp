#include "machine/facts.hpp"

#include <algorithm>
#include <stdexcept>

#include "base/options.hpp"
#include "machine/limits.hpp"
#include "machine/plan.hpp"
#include "machine/topology.hpp"

namespace heddle::machine {

namespace {

base::option_values options() {
  try {
    return base::options_from_environment();
  } catch (const std::invalid_argument&) {
    return {};
  }
}

// Caches are listed from the inside out, so the last one that serves the unit is its outermost cache.
unsigned last_cache_of(const topology& machine, std::size_t unit) noexcept {
  const auto caches = machine.caches();
  unsigned found = static_cast<unsigned>(caches.size()) + machine.units()[unit].core;
  for (unsigned i = 0; i < caches.size(); ++i) {
    if (unit >= caches[i].first_unit && unit < caches[i].last_unit) found = i;
  }
  return found;
}

}  // namespace

detail::machine_facts facts_here() {
  const topology& here = topology::here();
  const limits allowed = here.is_this_machine() ? read_limits() : limits();
  detail::machine_facts facts{{}, static_cast<unsigned>(plan(here, allowed, options()).units.size())};
  const auto units = here.units();
  for (std::size_t i = 0; i < units.size(); ++i) {
    const processing_unit& u = units[i];
    const bool usable = allowed.mask.empty() || std::binary_search(allowed.mask.begin(), allowed.mask.end(), u.number);
    if (usable) facts.units.push_back({u.number, u.core, u.package, last_cache_of(here, i), u.numa});
  }
  if (facts.units.empty()) facts.units.push_back({0, 0, 0, 0, 0});
  return facts;
}

}  // namespace heddle::machine
