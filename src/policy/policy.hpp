// The seam between schedulers and the mechanism. A policy decides, the run loop does. A policy sees workers (by rank),
// queues, memory groups, hints and a random source; never a kernel thread, a signal or a clock. What it does not ask for
// in `wants` is not computed. How the published schedulers sit in it: docs/design/policies.md.
//
// Every function is called with preemption off and may be called from a signal handler's context later on: no malloc, no
// lock shared with user code (except in start and stop).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <heddle/detail/fork_queue.hpp>

namespace heddle::machine {
class topology;
}

namespace heddle::policy {

using detail::entry;

enum class effort : std::uint8_t { glance, insist };

inline constexpr unsigned nobody = ~0u;  // a foreign kernel thread, or no worker at all

// What the mechanism switches on for a policy.
struct policy_wants {
  bool spawns = false;       // spawn() for the children of groups; else child first
  bool every_fork = false;   // forks of parallel_invoke are shown to spawn(), too
  bool groups = false;       // group_begin, group_wait, group_end
  bool task_ends = false;    // task_end
  bool ready = false;        // ready: else a woken thread stays with the worker that woke it
};

// What is known of a task when it is made. `data` is the policy's own word in the new task's control block, `parent_data`
// the same word of the spawner: ranges, identities, labels hang there.
struct spawn_info {
  double work;               // hint of the child's work; NaN when not given
  double group_work;         // hint of the group's total; NaN when not given
  std::size_t bytes;         // hint of the group; 0 when not given
  unsigned index;            // which child of its group, from 0
  const void* label;         // address of the task's code: the class of AATS
  void** data;
  void** parent_data;
};

// Where a new task goes.
struct placement {
  enum class kind : std::uint8_t {
    child_first,             // run it now; the spawner's continuation becomes stealable
    parent_first,            // queue it; the spawner goes on
    send                     // give it to worker `target`, slot `slot` of its mailbox; the spawner goes on
  };
  kind how = kind::child_first;
  unsigned target = nobody;
  unsigned slot = 0;
};

struct group_info {
  double work;
  std::size_t bytes;
  void** data;               // the policy's word in the owner's control block
  void* group_data;          // the policy's word in the group, from group_begin to group_end
};

// What the mechanism offers to a policy.
class scheduler {
 public:
  virtual unsigned workers() const noexcept = 0;
  // Levels from worker `a` up to the smallest memory group that holds `b` as well; 0 for itself.
  virtual unsigned distance(unsigned a, unsigned b) const noexcept = 0;
  virtual const machine::topology* machine() const noexcept = 0;
  virtual std::uint32_t random(unsigned self, std::uint32_t bound) noexcept = 0;

  // Oldest entry of the victim's queue; 0: none. glance: public entries only, a few cache misses. insist: private ones
  // and ready threads, too, without the victim's help; microseconds.
  virtual entry steal(unsigned self, unsigned victim, effort how) noexcept = 0;
  // The victim's queue or ready threads seem not to be empty.
  virtual bool has_work(unsigned victim) const noexcept = 0;
  // Asks the victim to make work public at its next fork or join. Cheap when already asked.
  virtual void request(unsigned self, unsigned victim) noexcept = 0;
  // Oldest entry of the worker's own mailbox slot; 0: none.
  virtual entry receive(unsigned self, unsigned slot) noexcept = 0;

 protected:
  ~scheduler() = default;
};

class policy {
 public:
  virtual ~policy() = default;
  policy() = default;
  policy(const policy&) = delete;
  policy& operator=(const policy&) = delete;

  virtual policy_wants wants() const noexcept { return {}; }
  virtual unsigned mailbox_slots() const noexcept { return 0; }

  // Once, before any other call, and after the last; may allocate and throw.
  virtual void start(scheduler& host) { host_ = &host; }

  // An idle worker, its own queue empty, asks for work. 0: none found; it asks again soon. `how` is glance while it has
  // just begun to search, insist when its requests have gone unanswered: then every victim in question is to be tried.
  virtual entry acquire(unsigned self, effort how) noexcept = 0;

  // About to sleep: could acquire() still find something? Called after a full fence.
  virtual bool may_find(unsigned self) noexcept;

  // Workers the policy can use; the runtime starts no more.
  virtual unsigned most_workers() const noexcept { return nobody; }

  virtual placement spawn(unsigned, const spawn_info&) noexcept { return {}; }
  virtual void group_begin(unsigned, group_info&) noexcept {}
  virtual void group_wait(unsigned, group_info&) noexcept {}
  // Before the owner goes on; a rank other than `self` moves it there first.
  virtual unsigned group_end(unsigned self, group_info&) noexcept { return self; }
  virtual void task_end(unsigned, void*) noexcept {}
  // A thread became ready: on which worker it shall run. `self` is nobody when a foreign thread woke it.
  virtual unsigned ready(unsigned self, void*) noexcept { return self; }

 protected:
  scheduler* host_{nullptr};
};

// One parameter of a policy, "name=value" after the colon of HEDDLE_POLICY.
struct parameter {
  std::string_view name;
  std::string_view value;
};

// One line of the table of policies: `heddle help policies`, `HEDDLE_POLICY` and runtime_options::policy read it.
struct registration {
  const char* name;
  const char* summary;       // one line with the source
  std::unique_ptr<policy> (*make)(const std::vector<parameter>& parameters);
};

const std::vector<registration>& all();

// Makes the policy that `text` names: "name" or "name:key=value,key". Throws std::invalid_argument that names the text,
// the offending part and the nearest valid ones.
std::unique_ptr<policy> make(std::string_view text);

}  // namespace heddle::policy
