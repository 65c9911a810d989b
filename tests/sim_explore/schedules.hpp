// Runs a scenario under many schedules. Each is a simulated process of its own inside a forked child, so that a
// deadlock, an abort or a loop without end is one child's.
#pragma once

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>

#include "machine/topology.hpp"
#include "platform/sim/engine.hpp"
#include "platform/sim/explorer.hpp"

namespace heddle::sim {

struct verdict {
  bool failed{false};
  std::uint64_t seed{0};  // of the schedule that failed, or the last one
  int status{0};          // exit status, or 128 + signal
};

inline configuration small_machine() {
  configuration c;
  c.units.assign(4, {});
  for (int i = 0; i < 4; ++i) c.units[static_cast<unsigned>(i)].number = i;
  c.charge = charging::annotations;
  // So long that a searching worker sleeps after tens of points instead of thousands.
  c.times.failed_steal = 200 * nanosecond;
  c.times.pause = 50 * nanosecond;
  return c;
}

// While this object lives, the memory there is weak in a scenario (src/platform/sim/weak_memory.hpp).
class weakened {
 public:
  weakened(const void* memory, std::size_t bytes) : memory_(memory), bytes_(bytes) {
    active->chooser()->begin_weak().begin(memory_, bytes_);
  }
  template <class T>
  explicit weakened(const T& object) : weakened(&object, sizeof object) {}
  ~weakened() { active->weak()->end(memory_, bytes_); }
  weakened(const weakened&) = delete;
  weakened& operator=(const weakened&) = delete;

 private:
  const void* memory_;
  std::size_t bytes_;
};

inline void run_schedule(const std::function<void()>& scenario, std::uint64_t seed) {
  explorer chooser(explorer::plan_for(seed));
  engine e(small_machine(), &chooser);
  active = &e;
  scenario();
  active = nullptr;
}

// Schedules first, first + 1, ... until one fails. `scenario` aborts or exits with another status than 0 when it finds
// something wrong.
inline verdict explore(const std::function<void()>& scenario, unsigned count, std::uint64_t first = 1) {
  machine::topology::pretend(machine::topology::from_synthetic("pu:4"));
  auto* current = static_cast<std::uint64_t*>(
      mmap(nullptr, sizeof(std::uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("fork failed");
  if (child == 0) {
    for (std::uint64_t seed = first; seed < first + count; ++seed) {
      *current = seed;
      alarm(60);
      run_schedule(scenario, seed);
    }
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  verdict v;
  v.seed = *current;
  munmap(current, sizeof(std::uint64_t));
  v.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  v.failed = v.status != 0;
  return v;
}

}  // namespace heddle::sim
