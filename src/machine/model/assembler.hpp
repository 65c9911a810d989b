// The one who turns a machine file into a model, key by key. Not for use outside src/machine/model.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "machine/model.hpp"
#include "machine/model/node.hpp"
#include "machine/model/section.hpp"

namespace heddle::machine {

class assembler {
 public:
  assembler(const file_node& file, model& made) : file_(file), made_(made), top_(file, "", assumed_) {}

  void run();

 private:
  struct kind_entry {
    core_kind kind;
    std::set<int> units;  // by number
    bool rest{false};     // all units that no other kind names
    const file_node* at{nullptr};
  };

  void about();
  void check_assumptions();
  void read_costs();

  // cores.cpp
  void read_cores();
  void place_kinds(const std::vector<kind_entry>& entries);
  std::set<int> units_in(section& core);

  // caches.cpp
  void read_caches();
  void describe(section& level, group_kind kind, std::vector<cache_info>& caches);
  int ways_of(section& level);
  void check_capacities(const std::vector<cache_info>& caches);

  // memory.cpp: nodes and links between them
  void read_memory(section& from, memory_node& node);
  void read_nodes();
  memory_node& node_at(section& table, std::string_view key);
  void read_links();

  const file_node& file_;
  model& made_;
  std::set<std::string> assumed_;
  section top_;
};

}  // namespace heddle::machine
