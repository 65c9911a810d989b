// Reuse distances of all accesses that a simulated program tells, computed beside the memory model.
#pragma once

#include <heddle/reuse_distance.hpp>

#include <cstdint>
#include <span>
#include <string>

#include "sim/memory_model.hpp"
#include "sim/reuse_report.hpp"

namespace heddle::sim {

class reuse_watch {
 public:
  explicit reuse_watch(const reuse_question& q) : question_(q), distances_(q.rate) {}

  void access(std::uint64_t address, std::uint64_t bytes) { access_lines(distances_, question_, address, bytes); }
  // Takes the rows in the order of memory_model::access_rows: the first row of each set, then the second of each.
  void access_rows(std::span<const memory_model::row_set> sets, std::uint64_t count) {
    for (std::uint64_t row = 0; row < count; ++row) {
      for (const memory_model::row_set& s : sets) access(s.address + row * s.stride, s.bytes);
    }
  }
  std::string json() { return reuse_json(distances_, question_); }

 private:
  reuse_question question_;
  reuse_distance distances_;
};

}  // namespace heddle::sim
