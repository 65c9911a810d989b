// In libheddle_policies.so alone: what HEDDLE_POLICIES makes at the end of other plugins.
#include "policy/further.hpp"

extern "C" {

HEDDLE_API extern const unsigned heddle_policy_version;
const unsigned heddle_policy_version = heddle::policy::plugin_version;

HEDDLE_API const heddle::policy::registration* heddle_policy_list(unsigned* count) {
  const std::span<const heddle::policy::registration> lines = heddle::policy::lines_of_further();
  *count = static_cast<unsigned>(lines.size());
  return lines.data();
}

}  // extern "C"
