// CPU quotas of control groups, versions 1 and 2. This header is for src/machine only; see limits.hpp.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "machine/limits.hpp"

namespace heddle::machine {

void read_quotas(const std::filesystem::path& root, std::vector<quota>& quotas, std::vector<std::string>& warnings);

}  // namespace heddle::machine
