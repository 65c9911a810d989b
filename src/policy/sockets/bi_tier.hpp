// Bi-tier work stealing, a component of the policies cab-fto, cab-gto, laws and laws-nc. Tasks above a cut of the tree
// of tasks are shared out among sockets; a subtree below the cut stays within one socket. cab_laws.md says how it works
// and what it promises. The functions have the names of the seam's calls, and the policies pass these on. The policies
// say as tier_rules where the cut lies.
//
// Source and deviations: bi_tier.cpp.
#pragma once

#include <atomic>
#include <cstdint>

#include <heddle/policy.hpp>
#include "policy/sockets/socket_homes.hpp"
#include "policy/sockets/socket_pools.hpp"
#include "policy/sockets/task_tree.hpp"
#include "policy/stealing/random_ws.hpp"

namespace heddle::policy {

enum class tier : std::uint8_t {
  inter,  // its children are placed, too
  leaf,   // the cut: the root of a subtree within a single socket
  intra   // below a root of the program that is a leaf itself
};

// The place where a new task goes.
struct tier_place {
  tier what;
  // A socket_pools::list. A list that needs the socket (inter, upper) makes the maker hold its socket, too.
  unsigned list;
  unsigned socket;  // nobody means its maker's socket
};

// The facts about a new task that are not in its node, which has its level, width, share and declared bytes.
struct tier_birth {
  tier_node& parent;
  tier_node& child;
  unsigned index;     // its number among `count`; the first half of a fork has 0
  unsigned count;     // 0 if not known
  bool from_program;  // whether the program has told `count`
};

class tier_rules {
 public:
  // Called on the maker's worker.
  virtual tier_place place(unsigned self, tree_site& s, const tier_birth& b) noexcept = 0;
  // Called when an iteration ends. `whole` is true if all its tasks have ended.
  virtual void ends(unsigned self, tree_site& s, bool whole) noexcept = 0;
  // The socket where a root begins its iterations; nobody means anywhere.
  virtual unsigned home() const noexcept { return nobody; }
  // The list for an inter-socket task above the cut that has waited.
  virtual unsigned inner_list() const noexcept { return socket_pools::inter; }

 protected:
  ~tier_rules() = default;
};

class bi_tier {
 public:
  struct settings {
    socket_pools::rules pools;
    // Eq. 3.5 to the letter: the bytes of the whole are divided evenly, whatever a group or fork says.
    bool even = false;
    bool keeps = false;  // whether an inter-socket task goes to the socket that worked last on its data
    double bytes = 0;    // those of the whole program; 0 means those that its outermost group or fork tells
  };

  bi_tier(const settings& given, tier_rules& rules) noexcept
      : settings_(given), rules_(rules), pools_(given.pools), plain_ws_(random_ws::order::queued, {}) {}
  // The policy may clear all its wants if is_flat().
  void start(scheduler& host);
  bool is_flat() const noexcept { return pools_.count() < 2; }
  // go_plain switches to plain stealing, by a random_ws that this object holds. start_plain is called in the policy's
  // start.
  void go_plain() noexcept;
  void start_plain() noexcept { plain_.store(true); }
  bool is_plain() const noexcept { return plain_.load(); }

  unsigned sockets() const noexcept { return pools_.count(); }
  const socket_pools& pools() const noexcept { return pools_; }
  task_tree& tree() noexcept { return tree_; }
  // The node of a task with a tag, while the task runs; null for a root outside an iteration.
  static tier_node* node_of(task& t) noexcept { return state_of(t).node; }

  entry acquire(unsigned self, effort how) noexcept;
  bool may_find(unsigned self) noexcept;
  bool may_rob(unsigned self, unsigned victim) const noexcept {
    return self != victim && (is_plain() || pools_.same(self, victim));
  }
  entry pick(unsigned self, bool own_is_empty) noexcept;
  placement started(unsigned self, const task_info& info) noexcept;
  placement spawn(unsigned self, const task_info& info) noexcept;
  void enqueue(unsigned self, task& t) noexcept;
  placement ready(unsigned self, task& t) noexcept;
  void task_end(unsigned self, task& t) noexcept;
  void group_begin(unsigned self, group_info& info) noexcept;
  void group_wait(unsigned self, group_info& info) noexcept;
  placement group_end(unsigned self, group_info& info) noexcept;
  bool fork_begin(unsigned self, const fork_info& info) noexcept;
  placement fork(unsigned self, const fork_info& info, const task_info& half) noexcept;
  void fork_wait(unsigned self, task& owner) noexcept;
  placement fork_end(unsigned self, task& owner, std::uint64_t elapsed) noexcept;
  placement next_iteration(unsigned self, task& owner, const void* label) noexcept;

 private:
  // The event that began the iteration of a root.
  enum class begun_by : std::uint8_t { fork, group, mark };
  // The data of a task whose tag is set: a root, or a task of an iteration that is not an intra-socket task.
  struct in_tiers {
    // Its own node, or that of the first half in which it is; null for a root outside an iteration.
    tier_node* node;
    tree_site* site;       // the iteration that it belongs to
    std::uint32_t socket;  // the socket where it runs
    bool root;             // whether it has no parent
    begun_by opener;       // for a root
    bool gated;            // whether it may go on only with its socket
    bool holds;            // whether it holds its socket
    bool leaf;             // whether it is the root of a subtree, or in one
  };
  static in_tiers& state_of(task& t) noexcept { return t.get<in_tiers>(); }
  static bool is_outermost(const in_tiers& at) noexcept {
    return at.root && (at.node == nullptr || at.node == at.site->root);
  }

  bool begin(unsigned self, task& root, const void* label, begun_by by) noexcept;
  void end(unsigned self, in_tiers& at) noexcept;
  tier_place place(unsigned self, in_tiers& at, tier_birth b, std::size_t bytes, double work, double whole) noexcept;
  placement hand_out(unsigned self, in_tiers& parent, task& made, tier_node& node, const tier_place& where) noexcept;
  void hold(unsigned self, in_tiers& at) noexcept;
  void let_go(in_tiers& at) noexcept;
  placement go_on(unsigned self, task& t) noexcept;
  placement send_home(unsigned self, task& t) noexcept;
  entry taken(unsigned self, task* t, bool with_socket) noexcept;
  unsigned home_of(const tier_node& n, tier what) const noexcept;
  void note_home(const tier_node& n, unsigned socket) noexcept;
  bool goes_home() const noexcept { return rules_.home() != nobody && roots_.load() == 1; }

  const settings settings_;
  tier_rules& rules_;
  scheduler* host_{nullptr};
  socket_pools pools_;
  task_tree tree_;
  socket_homes homes_;
  random_ws plain_ws_;
  std::atomic<bool> plain_{false};
  std::atomic<unsigned> roots_{0};  // roots alive
  std::atomic<bool> said_stuck_{false};
};

}  // namespace heddle::policy
