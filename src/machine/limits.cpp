#include "machine/limits.hpp"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "machine/cgroups.hpp"

namespace heddle::machine {

const quota* limits::tightest() const noexcept {
  const auto least = std::min_element(quotas.begin(), quotas.end(),
                                      [](const quota& a, const quota& b) { return a.processors < b.processors; });
  return least == quotas.end() ? nullptr : &*least;
}

std::vector<int> affinity_mask() {
  std::vector<int> mask;
  // The kernel refuses a set smaller than its own, whose size it does not tell.
  for (int room = 1024; room <= 1 << 20; room *= 2) {
    const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(CPU_ALLOC(static_cast<std::size_t>(room)),
                                                               [](cpu_set_t* s) { CPU_FREE(s); });
    if (set == nullptr) throw std::bad_alloc();
    const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(room));
    if (sched_getaffinity(0, bytes, set.get()) == 0) {
      for (int number = 0; number < room; ++number) {
        if (CPU_ISSET_S(static_cast<std::size_t>(number), bytes, set.get())) mask.push_back(number);
      }
      break;
    }
    if (errno != EINVAL) break;
  }
  return mask;
}

limits read_limits(const std::filesystem::path& root) { return read_limits(root, affinity_mask()); }

limits read_limits(const std::filesystem::path& root, std::vector<int> mask) {
  limits found;
  found.mask = std::move(mask);
  read_quotas(root, found.quotas, found.warnings);
  return found;
}

}  // namespace heddle::machine
