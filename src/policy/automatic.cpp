// The policy that chooses. The choice of HEDDLE_POLICY=auto, with its reason, is a policy_note in the trace (and in
// `heddle report`). It is heddle's own. All its choices are states of one scheduler, so no choice needs the runtime
// stopped. ml_adaptive.md, "auto", says from what it chooses.
#include "policy/automatic.hpp"

#include <cmath>

namespace heddle::policy {

namespace {

constexpr unsigned small_runs_in_a_row = 3;
constexpr unsigned look_again = 64;  // runs

}  // namespace

automatic::automatic() : inner_({}, [this](double bytes) { note_bytes(bytes); }) {}

void automatic::start(scheduler& host) {
  policy::start(host);
  inner_.start(host);
  if (host.workers() == 1) {
    chosen_ = choice::one_worker;
  } else if (host.machine().levels() < 2) {
    chosen_ = choice::flat_machine;
  }
}

bool automatic::is_random() const noexcept {
  // relaxed: a hint; a wrong value costs a run that is laid out in vain, or one that is not
  const choice now = chosen_.load(std::memory_order_relaxed);
  return now == choice::flat_machine || now == choice::one_worker || now == choice::too_small;
}

void automatic::choose(unsigned self, choice what, std::uint64_t value) noexcept {
  if (chosen_.exchange(what) == what) return;
  const char* text = "";
  switch (what) {
    case choice::one_worker: text = "auto: random_ws, there is one worker"; break;
    case choice::flat_machine: text = "auto: random_ws, no caches are known to lie between workers"; break;
    case choice::watching: text = "auto: laid out again, to see whether runs have grown"; break;
    case choice::no_levels: text = "auto: ml-adaptive on one level, groups give no bytes; tasks passed"; break;
    case choice::levels: text = "auto: ml-adaptive by levels, groups give bytes; the most of them"; break;
    case choice::too_small: text = "auto: random_ws, runs pass fewer tasks than there are workers; tasks passed"; break;
  }
  host_->remark(self, text, value);
}

placement automatic::started(unsigned self, const task_info& info) noexcept {
  if (chosen_.load(std::memory_order_relaxed) == choice::too_small &&         // as in is_random
      left_out_.fetch_add(1, std::memory_order_relaxed) + 1 >= look_again) {  // a count
    left_out_.store(0, std::memory_order_relaxed);
    choose(self == nobody ? 0 : self, choice::watching, look_again);
  }
  return is_random() ? inner_.leave_out(info.made) : inner_.started(self, info);
}

void automatic::enqueue(unsigned self, task& t) noexcept {
  passed_.fetch_add(1, std::memory_order_relaxed);  // a statistic
  inner_.enqueue(self, t);
}

void automatic::note_bytes(double bytes) noexcept {
  if (bytes > 0 && bytes < 1e18) {
    const auto now = static_cast<std::uint64_t>(bytes);
    // a statistic
    if (now > most_bytes_.load(std::memory_order_relaxed)) most_bytes_.store(now, std::memory_order_relaxed);
  }
}

void automatic::task_end(unsigned self, task& t) noexcept {
  // This comes first, because the next root may begin as soon as the layout knows.
  if (inner_.is_root(t)) root_ended(self);
  inner_.task_end(self, t);
}

void automatic::root_ended(unsigned self) noexcept {
  const std::uint64_t passed = passed_.exchange(0, std::memory_order_relaxed);  // statistics, like the accesses below
  const std::uint64_t bytes = most_bytes_.load(std::memory_order_relaxed);
  if (passed < host_->workers()) {
    const unsigned runs = small_runs_.fetch_add(1, std::memory_order_relaxed) + 1;
    if (runs >= small_runs_in_a_row) choose(self, choice::too_small, passed);
    return;
  }
  small_runs_.store(0, std::memory_order_relaxed);  // as above
  bytes != 0 ? choose(self, choice::levels, bytes) : choose(self, choice::no_levels, passed);
}

std::unique_ptr<policy> automatic::make(parameters&) { return create<automatic>(); }

}  // namespace heddle::policy
