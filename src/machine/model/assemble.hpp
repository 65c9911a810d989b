#pragma once

#include "machine/model.hpp"
#include "machine/model/node.hpp"

namespace heddle::machine {

// Fills all of `made`, whose name is set and whose tree it completes, from a file that has all keys of defaults.toml.
// Throws std::invalid_argument: file, line, key, why, fix.
void assemble(const file_node& file, model& made);

}  // namespace heddle::machine
