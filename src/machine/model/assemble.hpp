#pragma once

#include "machine/model.hpp"
#include "machine/model/node.hpp"

namespace heddle::machine {

// Fills everything of `made` but name and tree, which it completes, from a file that has all keys of defaults.toml.
// Throws std::invalid_argument: file, line, key, why, fix.
void assemble(const file_node& file, model& made);

}  // namespace heddle::machine
