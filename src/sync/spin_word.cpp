#include <heddle/detail/spin_word.hpp>

#include "arch/arch.hpp"
#include "base/audit.hpp"
#include "platform/platform.hpp"

namespace heddle::detail {

void spin_word::check_taker() noexcept { base::lock_is_taken("a spin_word"); }

void spin_word::contended() noexcept {
  for (int i = 0; flag_.load(std::memory_order_relaxed); ++i) {  // relaxed: the exchange in lock() decides
    if (i < 100) arch::pause();
    else platform::yield_processor();
  }
}

}  // namespace heddle::detail
