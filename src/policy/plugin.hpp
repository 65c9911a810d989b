// Shared objects with policies.
#pragma once

#include <span>
#include <string>

#include <heddle/policy.hpp>

namespace heddle::policy {

// Loads the shared object for as long as the process lives. Throws std::invalid_argument, which names the file and says
// what is wrong, if it cannot be loaded, is no plugin, or was compiled with another version of <heddle/policy.hpp>.
std::span<const registration> lines_of_plugin(const std::string& file);

}  // namespace heddle::policy
