// CPU quotas of control groups, version 1 and 2. Not for use outside src/machine: see limits.hpp.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "machine/limits.hpp"

namespace heddle::machine {

void read_quotas(const std::filesystem::path& root, std::vector<quota>& quotas, std::vector<std::string>& warnings);

}  // namespace heddle::machine
