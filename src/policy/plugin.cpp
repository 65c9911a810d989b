#include "policy/plugin.hpp"

#include <stdexcept>

#include "platform/shared_object.hpp"

namespace heddle::policy {

std::span<const registration> lines_of_plugin(const std::string& file) {
  std::string why;
  void* const object = platform::load_shared_object(file, why);
  if (object == nullptr) throw std::invalid_argument(why);
  const auto* version = static_cast<const unsigned*>(platform::symbol_in(object, "heddle_policy_version"));
  void* const list = platform::symbol_in(object, "heddle_policy_list");
  if (version == nullptr || list == nullptr)
    throw std::invalid_argument(file + " is no plugin of policies: it lacks HEDDLE_POLICIES at its end");
  if (*version != plugin_version) {
    throw std::invalid_argument(file + " was compiled with version " + std::to_string(*version) +
                                " of <heddle/policy.hpp>, this is version " + std::to_string(plugin_version) +
                                ": compile it again");
  }
  unsigned count = 0;
  const registration* lines = reinterpret_cast<const registration* (*)(unsigned*)>(list)(&count);
  return {lines, count};
}

}  // namespace heddle::policy
