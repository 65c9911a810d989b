// A graph that mixes computation and messages, after figure 2 of Bak et al. (2021). One thread makes tasks that
// compute, all the time. Beside it there are tasks that compute for as long, and that have begun a chain of messages
// before. The chains overlap with the computation if some worker takes them up. With thieves that stay with the worker
// that makes most, the chains wait.
#include <algorithm>
#include <chrono>

#include <heddle/sleep.hpp>
#include <heddle/task_group.hpp>

#include "model.hpp"

namespace heddle::preempt_model {

namespace {

// Each message is waited for, and answered after a computation.
void chain(const settings& s) {
  for (unsigned message = 0; message < s.steps; ++message) {
    heddle::this_thread::sleep_for(std::chrono::duration<double, std::micro>(s.gap_us));
    compute(s.serial_us / 1000, message);
  }
}

void panel(const settings& s, unsigned number) {
  heddle::task_group messages;
  messages.run([&s] { chain(s); });
  compute(s.operation_us / 1000, number);
  messages.wait();
}

}  // namespace

samples messages(const settings& s) {
  samples got;
  // so that all of them, on the workers that have no panel, take as long as a panel does
  const unsigned others = s.workers > s.outer ? s.workers - s.outer : 1;
  const auto small = static_cast<unsigned>(others * s.operation_us / s.region_us);
  const unsigned at_first = std::min(small, 4 * s.workers);
  for (unsigned r = 0; r < s.repeats; ++r) {
    const auto home = runtime_for(s);
    const double begin = seconds();
    home->run([&] {
      heddle::task_group all;
      const auto make = [&](unsigned from, unsigned to) {
        for (unsigned i = from; i < to; ++i) all.run([&s, i] { compute(s.region_us / 1000, i); });
      };
      make(0, at_first);  // a worker that takes a panel has a victim already, and so have those that take none
      for (unsigned p = 0; p < s.outer; ++p) all.run([&s, p] { panel(s, p); });
      make(at_first, small);
      all.wait();
    });
    got["time"].push_back(seconds() - begin);
    got["over_panel"].push_back(got["time"].back() * 1e6 / s.operation_us);
  }
  return got;
}

}  // namespace heddle::preempt_model
