// From a name to the files behind it. Not for use outside src/machine/model.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "machine/model/node.hpp"
#include "machine/topology.hpp"

namespace heddle::machine {

// What a name stands for: a tree, a machine file, or both.
struct machine_source {
  std::string name;
  std::optional<topology> tree;
  std::optional<file_node> file;  // `base` resolved
};

// See model::from_name. Throws std::invalid_argument.
machine_source load(std::string_view name);

// The tree that the key `tree` of a machine file asks for: "this", "synthetic:...", or an XML file relative to it.
topology tree_of(const file_node& key);

}  // namespace heddle::machine
