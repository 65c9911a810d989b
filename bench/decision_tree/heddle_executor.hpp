// The trainer on heddle. Forks carry the rows of each side as work and the bytes of both buffers as data. Locality
// policies use these hints; others ignore them.
#pragma once

#include "executor.hpp"

#include <heddle/parallel_for.hpp>
#include <heddle/runtime.hpp>
#include <heddle/task_group.hpp>

#include <cstddef>
#include <string>
#include <utility>

namespace heddle::bench::decision_tree {

class heddle_executor {
 public:
  static constexpr bool serial = false;

  // 0 workers and an empty policy: the runtime's defaults.
  explicit heddle_executor(unsigned workers, std::string const& policy = {}) : runtime_(options(workers, policy)) {}

  [[nodiscard]] unsigned workers() const { return static_cast<unsigned>(runtime_.workers()); }

  [[nodiscard]] std::string policy() const { return runtime_.policy(); }

  template <class F>
  void run(F&& f) {
    runtime_.run(std::forward<F>(f));
  }

  template <class F, class G>
  void invoke(F&& f, G&& g, fork_hint hint) {
    heddle::task_group group(hint.first_work + hint.second_work, hint.bytes);
    group.run(f, hint.first_work);
    group.run(g, hint.second_work);
    group.wait();
  }

  template <class Body>
  void parallel_for(std::size_t first, std::size_t last, std::size_t grain, Body&& body) {
    heddle::parallel_for_range(first, last, body, heddle::loop_options{.grain = grain});
  }

 private:
  static heddle::runtime_options options(unsigned workers, std::string const& policy) {
    heddle::runtime_options made;
    if (workers != 0) made.workers = workers;
    if (!policy.empty()) made.policy = policy;
    return made;
  }

  heddle::runtime runtime_;
};

static_assert(executor<heddle_executor>);

}  // namespace heddle::bench::decision_tree
