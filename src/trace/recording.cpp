#include <cstdlib>

#include <heddle/trace.hpp>

namespace heddle::trace::detail {

constinit std::atomic<int> recording_runtimes{0};

// If HEDDLE_TRACE asks for a trace, regions are also recorded before the first runtime is made and after the last one.
[[maybe_unused]] static const bool asked_for = [] {
  const char* const file = std::getenv("HEDDLE_TRACE");
  // relaxed: is_recording is a hint
  if (file != nullptr && *file != '\0') recording_runtimes.fetch_add(1, std::memory_order_relaxed);
  return true;
}();

}  // namespace heddle::trace::detail
