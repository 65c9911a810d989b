// The table of policies: the daily ones, further ones of heddle's own (further.hpp), those that a program adds, and
// those of plugins.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include <heddle/policy.hpp>

namespace heddle::policy {

// All of them; those that are in a library of their own are loaded for it. Throws std::invalid_argument if that cannot
// be.
HEDDLE_API std::vector<registration> all();

// Adds the policies of shared objects, whose names are separated by colons. One that was loaded before is passed over.
// If libheddle_policies.so is among them, the further policies are taken from it.
// Throws std::invalid_argument, which says what is wrong, for one that cannot be loaded, is no plugin, is one of
// another version, or has a policy of a name that is taken. As add: while no other thread reads the table.
void load_plugins(std::string_view files);

// Makes the policy that `text` names: "name" or "name:key=value,key". Throws std::invalid_argument, which names what
// is wrong and the policies or parameters that there are. Exported: policies of libheddle_policies.so hold others by
// name.
HEDDLE_API std::unique_ptr<policy> make(std::string_view text);

}  // namespace heddle::policy
