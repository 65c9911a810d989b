#include <sched.h>

#include <cerrno>
#include <memory>
#include <new>

#include "platform/platform.hpp"

namespace heddle::platform {

std::vector<int> allowed_units() {
  std::vector<int> units;
  // The kernel refuses a set smaller than its own, and does not tell that size.
  for (int room = 1024; room <= 1 << 20; room *= 2) {
    const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(CPU_ALLOC(static_cast<std::size_t>(room)),
                                                               [](cpu_set_t* s) { CPU_FREE(s); });
    if (set == nullptr) throw std::bad_alloc();
    const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(room));
    if (sched_getaffinity(0, bytes, set.get()) == 0) {
      for (int number = 0; number < room; ++number) {
        if (CPU_ISSET_S(static_cast<std::size_t>(number), bytes, set.get())) units.push_back(number);
      }
      break;
    }
    if (errno != EINVAL) break;
  }
  return units;
}

}  // namespace heddle::platform
