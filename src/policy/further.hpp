// The policies beyond the daily ones. They are libheddle_policies.so, which libheddle.so loads when one of them is
// asked for by name. A program with the static library has them linked in, and so has the simulated platform.
#pragma once

#include <span>
#include <string>

#include <heddle/policy.hpp>

namespace heddle::policy {

// Their lines in the table. Not in libheddle.so.
std::span<const registration> lines_of_further();

// The same, loaded by the first call where they are not linked in. `file` is their library; if it is "", the library is
// beside libheddle.so or where the system looks for libraries. Throws std::invalid_argument, which says what is wrong.
std::span<const registration> further(const std::string& file);

}  // namespace heddle::policy
