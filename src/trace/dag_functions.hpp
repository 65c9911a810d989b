// The functions of a recorded program: their numbers, and what is charged to each of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "trace/dag.hpp"
#include "trace/recording.hpp"

namespace heddle::trace {

// A child of a task group that has ended.
struct child_record {
  double hint;
  double work;
  std::uint32_t function;
};

class function_table {
 public:
  // Number 0 stands for code outside tasks.
  explicit function_table(const recording& what) : what_(what) { number("(outside tasks)"); }

  std::uint32_t number(std::string name);
  // Returns the number of the function at a code address; 0 for none.
  std::uint32_t number_at(std::uint64_t address);

  function_profile& operator[](std::uint32_t number) { return profiles_[number]; }
  [[nodiscard]] std::size_t size() const { return profiles_.size(); }

  // Compares hints, which are ratios: each child's share of its group's hints with its share of the work.
  void compare_hints(const std::vector<child_record>& children);

  // Returns the functions that ran at all, the most work first. The table is empty afterwards.
  [[nodiscard]] std::vector<function_profile> take_by_work();

 private:
  const recording& what_;
  std::map<std::string, std::uint32_t> numbers_;
  std::unordered_map<std::uint64_t, std::uint32_t> by_address_;
  std::vector<function_profile> profiles_;
};

}  // namespace heddle::trace
