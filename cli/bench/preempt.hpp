// The measurements of preemption (bench/preempt/) as kernels of
// `heddle bench`: a program of their own, tables of their own.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace heddle::cli {

struct preempt_request {
  unsigned workers = 1;
  std::string interval;     // as HEDDLE_PREEMPT_INTERVAL; "" means the measurement's own
  std::string timer;        // as HEDDLE_PREEMPT_TIMER; "" means the measurement's own
  std::size_t repeats = 0;  // 0 means the measurement's own
};

// Returns the names that `heddle bench` takes, in the order in which it lists them.
const std::vector<std::string>& preempt_kernels();

// Takes the kernels that are measured here out of `names`; the others stay.
std::vector<std::string> take_preempt_kernels(std::vector<std::string>& names);

// Return complaints about impossible values, or "" for others; for CLI::Option::check.
std::string check_preempt_interval(const std::string& text);
std::string check_preempt_timer(const std::string& text);

// Runs one kernel, in a process of its own. Throws std::runtime_error if the program is missing or fails.
nlohmann::json run_preempt_kernel(const std::string& name, const preempt_request& asked);

// Returns the result of run_preempt_kernel as a table for people.
std::string preempt_table(const std::string& name, const nlohmann::json& measured);

}  // namespace heddle::cli
