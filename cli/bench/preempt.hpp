// The measurements of preemption (bench/preempt/) as kernels of
// `heddle bench`: a program of their own, tables of their own.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace heddle::cli {

struct preempt_request {
  unsigned workers = 1;
  std::string interval;     // as HEDDLE_PREEMPT_INTERVAL; "": the measurement's own
  std::string timer;        // as HEDDLE_PREEMPT_TIMER; "": the same
  std::size_t repeats = 0;  // 0: the same
};

// Names that `heddle bench` takes, in the order in which it lists them.
const std::vector<std::string>& preempt_kernels();

// The part of `names` that is measured here; the rest stays.
std::vector<std::string> take_preempt_kernels(std::vector<std::string>& names);

// Complaints of values that cannot be, "" for others; for CLI::Option::check.
std::string check_preempt_interval(const std::string& text);
std::string check_preempt_timer(const std::string& text);

// Runs one, in a process of its own. Throws std::runtime_error when the program is not there or fails.
nlohmann::json run_preempt_kernel(const std::string& name, const preempt_request& asked);

// What run_preempt_kernel gave, for people.
std::string preempt_table(const std::string& name, const nlohmann::json& measured);

}  // namespace heddle::cli
