// One run of a program, or why there is none; and as a notebook keeps it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/paper/outcome.hpp"

namespace heddle::cli::paper {

struct attempt {
  outcome got;
  std::string failure;         // empty: none
  std::vector<double> rounds;  // measured here, s; got.seconds is their median
  bool checked{false};         // its result was compared with the serial program's
  std::string commit;          // of what ran
  double took{0};              // s, here
};

nlohmann::json as_json(const attempt& a);
// Throws nlohmann::json::exception.
attempt attempt_from(const nlohmann::json& j);

}  // namespace heddle::cli::paper
