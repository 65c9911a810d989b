// The pass over a recording that gathers the data that the report page draws: the states of each worker over time, the
// steals with thief and victim, and the pieces of loops. The columns that the page reads are in formats.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trace/recording.hpp"
#include "trace/replay.hpp"

namespace heddle::trace {

class page_flattener : public replay_visitor {
 public:
  explicit page_flattener(const recording& what);

  void event(const record& r) override;
  void opened(std::uint16_t worker, const open_span& s, std::uint64_t ns) override;
  void closed(std::uint16_t worker, const open_span& s, std::uint64_t ns, activity counts_as) override;

  // Returns the time of the first event, from which times in columns count.
  [[nodiscard]] std::uint64_t zero() const { return zero_.value_or(0); }

  // name() returns the number of a name, which columns have in its place; names() returns all names by number.
  std::uint32_t name(const std::string& text);
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

  // Return the columns as JSON.
  [[nodiscard]] std::string slices() const;
  [[nodiscard]] std::string steals() const;
  [[nodiscard]] std::string pieces() const;

 private:
  // A time in which a worker was in one state, as the timeline draws it.
  struct slice {
    std::uint64_t begin, end;
    std::uint32_t name;
    activity what;
  };
  struct piece_told {
    std::uint64_t begin, end;
    std::uint64_t a, b;
    std::uint16_t worker;
    std::uint32_t repeat;  // how often this piece was told before
  };
  struct piece_set {
    bool tree;
    std::vector<piece_told> told;
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint32_t> repeats;
  };
  struct theft {
    std::uint64_t at, took;
    std::uint16_t thief, victim;
  };
  struct theft_count {
    std::uint64_t tried = 0, got = 0, level = 0;
  };
  struct open_name {
    span kind;
    std::uint32_t name;
  };
  struct lane {
    std::vector<open_name> open;
    std::uint64_t last = 0;
    std::vector<slice> slices;
    std::optional<std::uint64_t> attempt;
    std::pair<piece_set*, std::size_t> open_piece{nullptr, 0};
  };

  static void end_piece(lane& on, std::uint64_t ns);
  static void add(lane& on, std::uint64_t ns, activity what);
  std::uint32_t name_at(std::uint64_t address);
  std::uint32_t name_of(const open_span& s, const lane& on);

  const recording& what_;
  std::optional<std::uint64_t> zero_;
  std::map<std::uint16_t, lane> lanes_;
  std::vector<std::string> names_;
  std::map<std::string, std::uint32_t> numbers_;
  std::unordered_map<std::uint64_t, std::uint32_t> by_address_;
  std::unordered_map<std::uint64_t, std::uint32_t> thread_names_;
  std::vector<theft> steals_;
  std::map<std::pair<std::uint16_t, std::uint16_t>, theft_count> thefts_;
  std::map<std::pair<std::uint32_t, bool>, piece_set> pieces_;
};

}  // namespace heddle::trace
