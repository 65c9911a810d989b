#include "machine/limits.hpp"

#include <algorithm>

#include "machine/cgroups.hpp"
#include "platform/platform.hpp"

namespace heddle::machine {

const quota* limits::tightest() const noexcept {
  const auto least = std::min_element(quotas.begin(), quotas.end(),
                                      [](const quota& a, const quota& b) { return a.processors < b.processors; });
  return least == quotas.end() ? nullptr : &*least;
}

std::vector<int> affinity_mask() { return platform::allowed_units(); }

limits read_limits(const std::filesystem::path& root) { return read_limits(root, affinity_mask()); }

limits read_limits(const std::filesystem::path& root, std::vector<int> mask) {
  limits found;
  found.mask = std::move(mask);
  read_quotas(root, found.quotas, found.warnings);
  return found;
}

}  // namespace heddle::machine
