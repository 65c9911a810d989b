// Parts of the sharing graph, by METIS.
#pragma once

#include <span>
#include <vector>

#include "cli/group/sharing.hpp"

namespace heddle::cli {

// Returns true if this command was built with METIS. Without METIS, `partition` into several parts throws
// std::runtime_error that says how to get it.
bool has_metis() noexcept;

// Cuts `some` tasks into shares.size() parts. The parts' weights have about the ratios of the shares, and tasks that
// share lines are in one part as far as possible. Parts may be empty. The result is the same at each call.
std::vector<std::vector<unsigned>> partition(const sharing_graph& of, std::span<const unsigned> some,
                                             std::span<const double> shares);

}  // namespace heddle::cli
