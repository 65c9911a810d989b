// A factorisation by block columns, as Bak et al. have it from SLATE (figures 5 and 6). A task factors a panel by
// threads of its own, which meet by spinning after each step, while others update the columns behind it.
#include <algorithm>
#include <atomic>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include <heddle/condition_variable.hpp>
#include <heddle/mutex.hpp>
#include <heddle/team.hpp>
#include <heddle/thread.hpp>

#include "model.hpp"

namespace heddle::preempt_model {

namespace {

// Panel `by` must be factored (column == by), or column `column` updated by it. Panels come first, then the columns
// that the next panel waits for, then the others in their order.
struct operation {
  unsigned by, column;
  std::tuple<unsigned, unsigned, unsigned> place() const { return {std::min(column - by, 2u), by, column}; }
  bool operator<(const operation& other) const { return place() > other.place(); }  // of std::priority_queue: the last
};

class factorisation {
 public:
  factorisation(const settings& s, heddle::runtime& home)
      : s_(s), home_(home), updated_by_(s.tiles), factored_(s.tiles), left_(s.tiles + s.tiles * (s.tiles - 1) / 2) {}

  double run() {
    ready_.push({0, 0});
    const double begin = seconds();
    std::vector<heddle::thread> all;
    for (unsigned i = 0; i < s_.outer; ++i) all.emplace_back(thread_options(), [this] { take(); });
    for (heddle::thread& one : all) one.join();
    return seconds() - begin;
  }

 private:
  heddle::thread_options thread_options() const {
    heddle::thread_options o;
    o.where = &home_;
    o.preemption = technique_of(s_.technique);
    return o;
  }

  void take() {
    std::unique_lock lock(guard_);
    while (left_ > 0) {
      if (ready_.empty()) {
        changed_.wait(lock);
        continue;
      }
      const operation next = ready_.top();
      ready_.pop();
      lock.unlock();
      const double rows = 1.0 - static_cast<double>(next.by) / s_.tiles;
      if (next.column == next.by) panel(rows);
      else compute(rows * s_.operation_us / 1000, next.column);
      lock.lock();
      --left_;
      ended(next);
      changed_.notify_all();
    }
  }

  // Under guard_. updated_by_[j]: how many panels have updated column j.
  void ended(const operation& done) {
    if (done.column == done.by) {
      factored_[done.by] = true;
      for (unsigned j = done.by + 1; j < s_.tiles; ++j) {
        if (updated_by_[j] == done.by) ready_.push({done.by, j});
      }
      return;
    }
    const unsigned panels = ++updated_by_[done.column];
    if (panels == done.column) ready_.push({done.column, done.column});
    else if (factored_[panels]) ready_.push({panels, done.column});
  }

  void panel(double rows) {
    heddle::team_options o;
    o.where = &home_;
    o.threads = s_.inner;
    o.preemption = technique_of(s_.technique);
    o.mode = s_.gangs ? heddle::team_mode::gang : heddle::team_mode::stealing;
    std::atomic<unsigned> arrived{0}, phase{0};
    const double part_ms = rows * s_.region_us / 1000 / s_.inner / s_.phases;
    heddle::team(o).run([&](heddle::team_member& self) {
      for (unsigned p = 0; p < s_.phases; ++p) {
        compute(part_ms, self.number());
        if (arrived.fetch_add(1) == s_.inner - 1) {
          arrived.store(0);
          phase.store(p + 1);
        }
        while (phase.load() == p) wait_a_turn(s_.turn_us);
      }
    });
  }

  const settings& s_;
  heddle::runtime& home_;
  heddle::mutex guard_;
  heddle::condition_variable changed_;
  std::priority_queue<operation> ready_;
  std::vector<unsigned> updated_by_;
  std::vector<bool> factored_;
  std::size_t left_;
};

}  // namespace

samples panels(const settings& given) {
  settings s = given;
  if (by_kernel_threads(s)) {  // a pool for each of the two regions, as runtimes with 1:1 threads have it
    s.workers = s.outer + s.inner - 1;
    s.threads = 1;
  }
  samples got;
  for (unsigned r = 0; r < s.repeats; ++r) {
    const auto home = runtime_for(s);
    got["time"].push_back(factorisation(s, *home).run());
  }
  return got;
}

}  // namespace heddle::preempt_model
