#include <heddle/detail/heavy_fence.hpp>

#include "platform/platform.hpp"

namespace heddle::detail {

void heavy_fence() noexcept { platform::heavy_fence(); }

}  // namespace heddle::detail
