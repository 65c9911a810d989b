// A grouping: which worker runs which task, in which order and in which groups. `heddle group` writes it, and the
// policy `grouped` runs by it. It is a text; its format: docs/guide/grouping.md.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <heddle/machine.hpp>

namespace heddle::policy {

struct grouping {
  using group = std::vector<unsigned>;  // numbers of tasks, in their order
  struct site {
    unsigned tasks{0};
    std::vector<std::vector<group>> workers;  // by rank: the worker's groups, in their order
  };

  std::string machine;  // its name, for people
  std::string tree;     // tree_text of the workers' machine
  unsigned workers{0};
  std::vector<site> sites;  // as in sharing_profile

  std::string text() const;
  // Throws std::invalid_argument, whose text names the file, the line and the error. Each task of a site must be with
  // exactly one worker, once.
  static grouping read(const std::string& file);
  static grouping of(std::string_view text, const std::string& name);
};

// Describes the tree of memory groups by the kinds of its levels and the workers of each group: "memory 16, l3 4 4 4 4,
// l2 1x16".
std::string tree_text(const machine::view& of);

}  // namespace heddle::policy
