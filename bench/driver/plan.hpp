// The request of `heddle bench`, and the processes that follow from it.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "programs.hpp"

namespace heddle::bench {

struct request {
  std::vector<std::string> kernels;
  std::vector<std::string> rivals;  // names, "all" or "none"; empty means none
  std::vector<unsigned> workers;
  std::vector<std::string> policies;  // of heddle; empty means its default
  std::size_t repeat = 5;
  std::size_t samples = 1;  // a process
  std::size_t n = 0;        // 0: each runtime's own
  std::size_t iterations = 0;
  std::size_t columns = 0;
  std::size_t leaf = 0;
  std::string input;  // path of a file
  std::string level;
  std::string variant;
  std::string touch;
  std::string alpha;
  std::size_t shrink = 1;     // cutoffs divided, for models with smaller caches
  std::size_t leaf_rate = 0;  // 0: as measured
  std::string json;
};

// One process, run once a round.
struct job {
  const program* executable = nullptr;
  std::string kernel;
  std::string policy;
  unsigned workers = 1;
  std::size_t n = 0;
  bool reference = false;  // serial at a size that only a rival uses: for its result, not for a row

  [[nodiscard]] std::vector<std::string> arguments(const request& r) const {
    std::vector<std::string> a{"--kernel",  kernel,
                               "--n",       std::to_string(n),
                               "--workers", std::to_string(workers),
                               "--samples", std::to_string(reference ? 1 : r.samples),
                               "--warmup",  reference ? "0" : "1"};
    if (r.iterations != 0) a.insert(a.end(), {"--iterations", std::to_string(r.iterations)});
    if (r.columns != 0) a.insert(a.end(), {"--columns", std::to_string(r.columns)});
    if (r.leaf != 0) a.insert(a.end(), {"--leaf", std::to_string(r.leaf)});
    if (!r.input.empty()) a.insert(a.end(), {"--input", r.input});
    if (!r.level.empty()) a.insert(a.end(), {"--level", r.level});
    if (!policy.empty()) a.insert(a.end(), {"--policy", policy});
    if (!r.variant.empty()) a.insert(a.end(), {"--variant", r.variant});
    if (!r.touch.empty()) a.insert(a.end(), {"--touch", r.touch});
    if (!r.alpha.empty()) a.insert(a.end(), {"--alpha", r.alpha});
    if (r.shrink > 1) a.insert(a.end(), {"--shrink", std::to_string(r.shrink)});
    if (r.leaf_rate != 0) a.insert(a.end(), {"--leaf-rate", std::to_string(r.leaf_rate)});
    return a;
  }
};

// "sb:sigma=0.5,mu=0.2,random_ws" was split at every comma. This joins the parts that belong to one policy.
inline std::vector<std::string> rejoined_policies(const std::vector<std::string>& parts) {
  std::vector<std::string> policies;
  for (const std::string& part : parts) {
    const bool parameter = part.find('=') != std::string::npos && part.find(':') == std::string::npos;
    if (parameter && !policies.empty()) policies.back() += "," + part;
    else policies.push_back(part);
  }
  return policies;
}

// A name in the request that does not exist: the argument, the given name, and the valid ones.
struct unknown_name {
  std::string argument, given;
  std::vector<std::string> valid;
};

inline std::vector<std::string> kernel_names(const std::map<std::string, program>& programs) {
  std::vector<std::string> names;
  for (const auto& [runtime, p] : programs) {
    for (const auto& [kernel, size] : p.kernels) names.push_back(kernel);
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

// Throws unknown_name.
inline void check(const request& r, const std::map<std::string, program>& programs) {
  const auto kernels = kernel_names(programs);
  for (const auto& k : r.kernels) {
    if (!std::binary_search(kernels.begin(), kernels.end(), k)) throw unknown_name{"KERNEL", k, kernels};
  }
  std::vector<std::string> rivals{"all", "none"};
  for (const auto& [runtime, p] : programs) {
    if (runtime != "heddle" && runtime != "serial") rivals.push_back(runtime);
  }
  for (const auto& name : r.rivals) {
    if (std::find(rivals.begin(), rivals.end(), name) == rivals.end()) throw unknown_name{"--rivals", name, rivals};
  }
}

// The jobs of one round of one kernel: serial, heddle under each policy, the rivals; each with each
// number of workers. futex, the machine's floor, is always in where it has the kernel.
inline std::vector<job> plan(const std::string& kernel, const request& r,
                             const std::map<std::string, program>& programs) {
  std::vector<job> jobs;
  const auto wanted = [&](const std::string& runtime) {
    if (runtime == "serial" || runtime == "heddle" || runtime == "futex") return true;
    const auto has = [&](const char* name) {
      return std::find(r.rivals.begin(), r.rivals.end(), name) != r.rivals.end();
    };
    return !has("none") && (has("all") || has(runtime.c_str()));
  };
  const program* serial = nullptr;
  std::vector<std::string> order{"serial", "heddle"};
  for (const auto& [runtime, p] : programs) {
    if (runtime != "serial" && runtime != "heddle") order.push_back(runtime);
  }
  for (const auto& runtime : order) {
    const auto found = programs.find(runtime);
    if (found == programs.end() || !wanted(runtime) || !found->second.kernels.contains(kernel)) continue;
    const program& p = found->second;
    const std::size_t n = p.kernels.at(kernel).chosen(r.n);
    if (runtime == "serial") {
      serial = &p;
      jobs.push_back({&p, kernel, "", 1, n, false});
      continue;
    }
    std::vector<std::string> policies{""};
    if (runtime == "heddle" && !r.policies.empty()) policies = r.policies;
    std::vector<unsigned> workers = r.workers;
    if (kernel == "rendezvous") std::erase(workers, 1u);  // takes two to meet
    for (const auto& policy : policies) {
      for (const unsigned w : workers) jobs.push_back({&p, kernel, policy, w, n, false});
    }
  }
  // References for the sizes that serial is not timed at.
  std::vector<std::size_t> sizes;
  for (const auto& j : jobs) sizes.push_back(j.n);
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  if (serial != nullptr) {
    const std::size_t timed = jobs.front().n;
    for (const std::size_t n : sizes) {
      if (n != timed) jobs.push_back({serial, kernel, "", 1, n, true});
    }
  }
  return jobs;
}

}  // namespace heddle::bench
