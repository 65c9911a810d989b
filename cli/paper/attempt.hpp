// One run of a program, or the reason why there is none, in the form that a notebook keeps.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/paper/outcome.hpp"

namespace heddle::cli::paper {

struct attempt {
  outcome got;
  std::string failure;         // empty if it did not fail
  std::vector<double> rounds;  // measured here, in s; got.seconds is their median
  bool checked{false};         // true if its result was compared with the serial program's
  std::string commit;          // the commit of the build that ran
  double took{0};              // the duration here, in s
};

nlohmann::json as_json(const attempt& a);
// Throws nlohmann::json::exception.
attempt attempt_from(const nlohmann::json& j);

}  // namespace heddle::cli::paper
