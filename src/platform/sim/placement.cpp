// The place of a simulated program's memory in its pages and lines depends on earlier allocations, which say nothing
// about the program. HEDDLE_SIM_PADDING bytes are allocated first, and never freed. Runs with several sizes show how
// much such an accident changes.
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
