// Clusters of workers, and the one request that a worker has under way to another cluster. Both are components of the
// policies that steal across slow links (crs, cls, chs, tatl).
//
// Source: van Nieuwpoort, Kielmann, Bal, "Efficient load balancing for wide-area divide-and-conquer applications"
// (PPoPP 2001), as Chen and Guo (2017), section 4.3, describe it. Their cluster is a memory group here, their node a
// worker.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include <heddle/policy.hpp>
#include "policy/worker_groups.hpp"

namespace heddle::policy {

// The memory groups of one level. All workers are one cluster if the machine is not known. The first worker of a
// cluster is its root or coordinator: it leads the cluster.
class clusters {
 public:
  // `level` is a level of the machine's tree, 1 below the root; 0 means the topmost that has several groups. Throws
  // std::invalid_argument if the machine has no such level.
  void start(const scheduler& host, unsigned level) {
    all_ = worker_groups(host, level);
    of_ = group_of_ranks(all_, host.workers());
  }
  // Reads the parameter of the policies that use clusters.
  static unsigned asked_for(parameters& given) { return given.whole("level", 0, 0, 64); }

  unsigned count() const noexcept { return static_cast<unsigned>(all_.size()); }
  bool are_several() const noexcept { return count() > 1; }
  unsigned number_of(unsigned rank) const noexcept { return of_[rank]; }
  const worker_group& operator[](unsigned number) const noexcept { return all_[number]; }
  const worker_group& of(unsigned rank) const noexcept { return all_[of_[rank]]; }
  bool leads(unsigned rank) const noexcept { return of(rank).first == rank; }
  bool are_neighbours(unsigned a, unsigned b) const noexcept { return of_[a] == of_[b]; }

  // Draws a worker of another cluster than that of `self`, all with equal probability. There must be several clusters.
  unsigned draw_remote(scheduler& host, unsigned self) const noexcept {
    const worker_group& home = of(self);
    const unsigned drawn = host.random(self, host.workers() - home.count);
    return drawn < home.first ? drawn : drawn + home.count;
  }
  // Draws another cluster than that of `self`, all with equal probability. There must be several.
  unsigned draw_other(scheduler& host, unsigned self) const noexcept {
    const unsigned drawn = host.random(self, count() - 1);
    return drawn < of_[self] ? drawn : drawn + 1;
  }

 private:
  std::vector<worker_group> all_;  // by first rank
  std::vector<unsigned> of_;       // by rank, the number of the worker's cluster
};

// The request of one worker that is under way to another cluster. That worker alone calls its functions.
//
// In the papers a victim that has nothing says so. On simulated machines whose links have messages that is so here, and
// the thief asks another one. Elsewhere a request stands until it is served (decision 0010). Patience takes the place
// of the refusal: after a number of looks in vain the request is withdrawn and counts as refused.
class alignas(64) far_request {
 public:
  // The number of looks that fit into the time that a message takes to a worker of another cluster and back, `least` at
  // least. Latencies are known only of simulated machines.
  static unsigned patience_for(const scheduler& host, const clusters& all, unsigned least) {
    constexpr double look = 60;  // ns, as the simulator charges it, including the pause after it
    const machine::view machine = host.machine();
    if (!all.are_several() || !machine.is_known()) return least;
    return std::max(least, static_cast<unsigned>(2 * machine.latency(all[0].first, all[1].first) / look));
  }

  // Looks at the request once. Returns true if it still stands, so that nobody else is to be asked.
  bool stands(scheduler& host, unsigned self, unsigned patience) noexcept {
    if (victim_ == nobody) {  // nobody could be asked the last time
      if (++looks_ < patience) return false;
      looks_ = 0;
      refused_ = true;
      return false;
    }
    if (!host.asks(self, victim_)) {
      refused_ = false;  // something has come, or is about to come
    } else if (++looks_ < patience) {
      return true;
    } else {
      refused_ = host.withdraw(self, victim_);
    }
    victim_ = nobody;
    return false;
  }
  // Must be called only while no request stands. Sends nothing if an answer waits in the mailbox.
  void send(scheduler& host, unsigned self, unsigned victim) noexcept {
    if (!host.ask(self, victim)) return;
    victim_ = victim;
    looks_ = 0;
  }
  // Returns true if the last request was refused and this has not been asked since. The worker may then take by force.
  bool take_refusal() noexcept { return std::exchange(refused_, false); }

 private:
  unsigned victim_{nobody};
  unsigned looks_{0};
  bool refused_{false};
};

// Takes by force from the workers of other clusters that have something, beginning with a random one. Returns 0 if
// nothing was taken.
inline entry force_remote(scheduler& host, const clusters& all, unsigned self) noexcept {
  const unsigned workers = host.workers();
  const unsigned from = host.random(self, workers);
  for (unsigned i = 0; i < workers; ++i) {
    const unsigned victim = (from + i) % workers;
    if (all.are_neighbours(self, victim) || !host.has_work(victim)) continue;
    if (const entry found = host.steal(self, victim, effort::insist); found != 0) return found;
  }
  return 0;
}

}  // namespace heddle::policy
