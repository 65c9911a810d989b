// Conversion of a name to the files behind it. This header is for src/machine/model only.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "machine/model/node.hpp"
#include "machine/topology.hpp"

namespace heddle::machine {

// The meaning of a name: a tree, a machine file, or both.
struct machine_source {
  std::string name;
  std::optional<topology> tree;
  std::optional<file_node> file;  // with `base` resolved
};

// See model::from_name. Throws std::invalid_argument.
machine_source load(std::string_view name);

// Returns the tree that the key `tree` of a machine file names: "this", "synthetic:...", or an XML file relative to it.
topology tree_of(const file_node& key);

}  // namespace heddle::machine
