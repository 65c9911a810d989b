// The table of policies: the daily ones, further ones of heddle's own (further.hpp), those that a program adds, and
// those of plugins. Functions are exported where libheddle_policies.so calls them.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include <heddle/policy.hpp>

namespace heddle::policy {

// Returns all of them. It loads the library of further policies, if they are not linked in. Throws
// std::invalid_argument if that is not possible.
HEDDLE_API std::vector<registration> all();

// Adds the policies of shared objects; `files` holds their names, separated by colons. A file that was loaded before is
// skipped. If libheddle_policies.so is among them, further policies are taken from it. Throws std::invalid_argument,
// whose text says what is wrong, if a file cannot be loaded, is no plugin, is one of another version, or has a policy
// of a name that is taken. As `add`, it must be called while no other thread reads the table.
void load_plugins(std::string_view files);

// Makes the policy that `text` names: "name" or "name:key=value,key". Throws std::invalid_argument, whose text says
// what is wrong and which policies or parameters there are.
HEDDLE_API std::unique_ptr<policy> make(std::string_view text);

}  // namespace heddle::policy
