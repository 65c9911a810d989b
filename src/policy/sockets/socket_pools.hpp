// The pools of CAB and LAWS: for each socket, lists of tasks and a flag that says that the socket works on a subtree.
// The intra-socket pools of single workers are their fork queues. A component; bi_tier knows which task goes where.
//
// Source: Chen, Guo (2017), sections 3.3.2, 3.5.1 and 4.7. Each socket has these lists:
// - inter: inter-socket tasks, the book's inter-socket pool and CF pool. The head worker of a free socket takes them,
//   and its socket with them: the newest from its own pool, the oldest from those of others.
// - fresh: inter-socket tasks on whose data no socket has worked yet. They are taken like those in `inter`, but other
//   sockets take them at once.
// - upper: the same for this socket's head alone.
// - local: for workers of this socket alone, at any time.
// - open: for workers of this socket, and for those of others that find nothing else.
//
// Deviations, and why:
// - A worker that is not the head acts for it when it insists (`acquire`), because heddle's head may be in a long leaf
//   that belongs to no subtree of the socket.
// - When no worker runs anything, an inter-socket task is taken though the socket is busy, because the socket's subtree
//   may be waiting for that very task. `literal` switches both off.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include <heddle/policy.hpp>
#include "policy/patience.hpp"
#include "policy/task_list.hpp"
#include "policy/worker_groups.hpp"

namespace heddle::policy {

class socket_pools {
 public:
  enum list : unsigned { inter, fresh, upper, local, open };  // the first three need a socket
  static constexpr unsigned lists = 5;
  struct rules {
    unsigned sockets = 0;  // 0 means the machine's sockets; else the workers are cut into so many
    bool literal = false;  // as the book has it, with its deadlock
    // Inter-socket tasks are stolen from a random socket, else from the next one that has any.
    bool at_random = false;
    // The number of times that a worker insists in vain before it takes from another socket's `inter`. 0 means at once,
    // even at a glance.
    unsigned patience = 0;
  };

  explicit socket_pools(const rules& given) noexcept : rules_(given) {}
  void start(scheduler& host);

  unsigned count() const noexcept { return count_; }
  unsigned of(unsigned rank) const noexcept { return rank == nobody ? nobody : of_[rank]; }
  const worker_group& workers_of(unsigned socket) const noexcept { return sockets_[socket].workers; }
  bool leads(unsigned rank) const noexcept { return sockets_[of_[rank]].workers.first == rank; }
  bool same(unsigned a, unsigned b) const noexcept { return of_[a] == of_[b]; }
  bool is_literal() const noexcept { return rules_.literal; }

  // Makes the socket work on a subtree. Returns false if it works on one already.
  bool claim(unsigned socket) noexcept {
    return !sockets_[socket].busy.load() && !sockets_[socket].busy.exchange(true);
  }
  void release(unsigned socket) noexcept {
    sockets_[socket].busy.store(false);
    wake_one_of(socket);
  }
  bool is_busy(unsigned socket) const noexcept { return sockets_[socket].busy.load(); }

  // Puts the task as the newest one, and wakes workers that may take it.
  void put(unsigned self, task& t, unsigned socket, unsigned which) noexcept;

  task* take_own(unsigned self) noexcept;  // from its socket's `local` and `open`
  task* take_open(unsigned self, effort how) noexcept;
  // Takes a task together with the worker's socket, which is claimed.
  task* take_inter(unsigned self, effort how) noexcept;
  // Take without a claim: a task that needs a socket; any task in the lists.
  task* take_held_back(unsigned self) noexcept { return take_from(self, upper + 1); }
  task* take_any(unsigned self) noexcept { return take_from(self, lists); }
  // Whether the tasks that hold work back may be waiting for it: no worker has run anything for several searches of
  // this worker.
  bool is_stuck(unsigned self, effort how) noexcept {
    if (how != effort::insist || rules_.literal) return false;
    unsigned& searches = searches_[self].in_vain;
    searches = holds_back() && host_->all_idle() ? searches + 1 : 0;
    return searches >= idle_enough;
  }

  bool may_find(unsigned self) const noexcept;
  bool looks_filled() const noexcept { return is_filled(lists); }

 private:
  struct alignas(64) socket {
    std::atomic<bool> busy{false};
    worker_group workers{0, 0};
    shared_task_list list_of[lists];  // oldest first
  };

  bool has_inter_for(unsigned socket) const noexcept;
  bool has_own_inter(unsigned socket) const noexcept;
  bool is_anywhere(list which) const noexcept;
  task* take_of_others(unsigned mine, unsigned from, list which) noexcept;
  bool holds_back() const noexcept { return is_filled(upper + 1); }
  bool is_filled(unsigned lists_of_each) const noexcept;
  task* take_from(unsigned self, unsigned lists_of_each) noexcept;
  bool wake_one_of(unsigned socket) noexcept;

  const rules rules_;
  scheduler* host_{nullptr};
  unsigned count_{0};
  std::unique_ptr<socket[]> sockets_;
  std::vector<unsigned> of_;  // by rank
  struct alignas(64) searches {
    unsigned in_vain{0};  // searches in a row in which no worker ran anything
    unsigned waited{0};   // searches in which it left tasks to the sockets in whose lists they lie
  };
  std::unique_ptr<searches[]> searches_;  // by rank
};

// The size in bytes of the cache that the workers of a socket share; the machine's cache, or 0 if it is not known.
double cache_of_a_socket(const scheduler& host) noexcept;

}  // namespace heddle::policy
