// Parts of the sharing graph, by METIS.
#pragma once

#include <span>
#include <vector>

#include "cli/group/sharing.hpp"

namespace heddle::cli {

// Whether this command was built with METIS. Without, `partition` of several parts throws std::runtime_error that says
// how to get it.
bool has_metis() noexcept;

// Cuts `some` tasks into shares.size() parts whose weights are to each other as the shares are, about, so that tasks
// which share lines are in one part, as far as that goes. Parts may be empty. The same at each call.
std::vector<std::vector<unsigned>> partition(const sharing_graph& of, std::span<const unsigned> some,
                                             std::span<const double> shares);

}  // namespace heddle::cli
