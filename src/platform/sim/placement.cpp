// Where a simulated program's memory lies in its pages and lines depends on what was allocated before, which says
// nothing of the program. HEDDLE_SIM_PADDING bytes are allocated first, and never given back: runs with several sizes
// show what such an accident is worth.
#include <cstdlib>

namespace heddle::platform {
namespace {

[[gnu::used]] void* padding = nullptr;  // kept, so that the compiler keeps the call

__attribute__((constructor(101))) void pad() {
  const char* const bytes = std::getenv("HEDDLE_SIM_PADDING");
  if (bytes != nullptr) padding = std::malloc(std::strtoul(bytes, nullptr, 10));
}

}  // namespace
}  // namespace heddle::platform
