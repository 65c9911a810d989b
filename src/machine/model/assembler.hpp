// The class that turns a machine file into a model, key by key. This header is for src/machine/model only.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "machine/model.hpp"
#include "machine/model/file_table.hpp"
#include "machine/model/node.hpp"

namespace heddle::machine {

class assembler {
 public:
  assembler(const file_node& file, model& made) : file_(file), made_(made), top_(file, "", assumed_) {}

  void run();

 private:
  struct described_kind {
    core_kind kind;
    std::set<int> units;  // by number
    bool rest{false};     // all units that no other kind names
    const file_node* at{nullptr};
  };

  void about();
  void check_assumptions();
  void read_costs();

  // figures.cpp
  std::vector<std::string> keys_of_figures() const;
  void tell_figures();
  void check_origins(const file_node& table, const std::string& path) const;

  // coherence.cpp
  static constexpr coherence_costs untold{0, -1};
  void read_coherence(file_table& from, coherence_costs& costs);
  // A measurement from elsewhere, as factors of the figure that is concluded, and the figure that it is concluded from.
  struct conclusion {
    const char* why;
    double least, most;
  };
  // Sets what follows from `transfer`, in ns, where the file says nothing. Notes `table` unless it is empty.
  void complete(coherence_costs& costs, double transfer, const std::string& table, const conclusion& from);
  void conclude(const std::string& key, double value, const conclusion& from);
  void complete_coherence();

  // cores.cpp
  void read_cores();
  void place_kinds(const std::vector<described_kind>& entries);
  std::set<int> units_in(file_table& core);

  // caches.cpp
  void read_caches();
  void describe(file_table& level, group_kind kind, std::vector<cache_info>& caches);
  int ways_of(file_table& level);
  void check_nesting(const std::vector<cache_info>& caches);

  // memory.cpp: nodes and links between them
  void read_memory(file_table& from, memory_node& node);
  void read_nodes();
  memory_node& node_at(file_table& table, std::string_view key);
  void read_links();
  void tell_latencies();

  const file_node& file_;
  model& made_;
  std::set<std::string> assumed_;
  std::vector<figure> derived_figures_;
  file_table top_;
};

}  // namespace heddle::machine
