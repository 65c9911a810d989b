#include "platform/platform.hpp"

namespace heddle::platform {

// The context may go on at any time on another kernel thread, so no other code may run on its stack.
std::size_t unwind(void*, const void**, std::size_t) noexcept { return 0; }

}  // namespace heddle::platform
