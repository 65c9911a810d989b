// Takes the place of bench/harness/main.cpp in the tests: metrics are kept instead of printed.
#pragma once

#include <map>
#include <stdexcept>
#include <string>

#include "bench/harness/kernel.hpp"

namespace heddle::bench {

struct captured_metric {
  std::string unit;
  std::vector<double> samples;
  std::uint64_t checksum = 0;
};
inline std::map<std::string, captured_metric> captured;

inline void print_metric(std::string_view metric, std::string_view unit, const std::vector<double>& samples,
                         std::uint64_t checksum) {
  captured[std::string(metric)] = {std::string(unit), samples, checksum};
}

inline void context::fail_checksum(std::string_view metric, std::uint64_t, std::uint64_t) {
  throw std::runtime_error(std::string(metric) + ": two runs differ");
}

inline void context::refuse(const std::string& what) { throw std::invalid_argument(what); }

inline std::vector<kernel_entry>& kernels() {
  static std::vector<kernel_entry> all;
  return all;
}

// Runs a kernel on a backend; its metrics.
template <class Backend, class Kernel>
std::map<std::string, captured_metric> measured(std::size_t n, unsigned workers = 2, std::size_t iterations = 0,
                                                const char* variant = "") {
  captured.clear();
  settings s;
  s.kernel = "it";
  s.n = n;
  s.workers = workers;
  s.iterations = iterations;
  s.variant = variant;
  s.samples = 2;
  context c(s);
  Kernel::template execute<Backend>(c);
  if (captured.empty()) {  // serial may have no more than the results, whatever is asked for
    c.check_variant();
    c.check_taken();
  }
  return captured;
}

}  // namespace heddle::bench
