// The seam between schedulers and the mechanism. A policy decides, the run loop does. A policy sees workers (by rank),
// tasks, memory groups, hints and a random source; never a kernel thread, a signal or a clock. What it does not ask for
// in `wants` is not computed. How the published schedulers sit in it: docs/design/policies.md.
//
// Every function is called with preemption off, and on a worker that a preempted thread with malloc's lock may wait
// for: so none but start allocates or shares a lock with user code, where there are preemptive threads; audit builds
// (HEDDLE_AUDIT) abort when one of them calls malloc for a preemptive thread, between two threads, or in the run loop
// of a process that has preemptive threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <heddle/detail/fork_queue.hpp>

#include "fiber/schedulable.hpp"

namespace heddle::machine {
class topology;
}

namespace heddle::policy {

using detail::entry;
using task = fiber::schedulable;

enum class effort : std::uint8_t { glance, insist };

inline constexpr unsigned nobody = ~0u;  // a foreign kernel thread, or no worker at all

// What the mechanism switches on for a policy. spawns, forks and groups can be switched off and on again for a worker
// (scheduler::watch): what runs meanwhile costs as much as under random_ws.
struct policy_wants {
  bool spawns = false;  // spawn: each child of a group; else they are queued, as second halves of forks are
  // fork_begin: each second half of parallel_invoke, and of a loop that is cut; else it is queued
  bool forks = false;
  bool groups = false;  // group_begin, group_wait, group_end
  bool roots = false;   // started: threads that are nobody's child; else like a woken one
  bool picks = false;   // pick: at each change of threads; else the own queue, the ready threads, then acquire
  bool limits = false;  // may_rob says whose work a worker is woken for; else everybody's
  // a promise: no worker sleeps while acquire could find it something; who was woken passes on what else there is
  bool greedy = true;
};
// ready and task_end are called for tasks whose `word` the policy has set, and for no other.

// Where a task goes.
struct placement {
  enum class kind : std::uint8_t {
    child_first,   // a new task: run it now; the spawner's continuation becomes stealable
    parent_first,  // a new task: queue it; the spawner goes on
    stay,          // a task that exists: where it is, or with the worker that woke it
    send           // the mechanism makes it ready to run, then calls place
  };
  kind how = kind::child_first;
  unsigned target = nobody;  // both the policy's own, for place
  unsigned slot = 0;
};
inline constexpr placement stay{placement::kind::stay, nobody, 0};

// The n-th child of a group is made.
struct spawn_info {
  double work;        // hint of the child's work; NaN when not given
  double group_work;  // hint of the group's total; NaN when not given
  std::size_t bytes;  // hint of the group; 0 when not given
  unsigned index;     // which child of its group, from 0
  const void* label;  // address of the task's code: the class of AATS
  task& child;
  task& parent;
  void* group_data;  // of the group, as group_begin left it; null when that was not called
};

// A group of children, from the first moment that it could have one to the end of its wait.
struct group_info {
  double work;        // NaN when not given
  std::size_t bytes;  // 0 when not given
  unsigned children;  // seen by spawn so far
  task& owner;
  void* data;  // the policy's word in the group: null at first
};

// Two halves of a fork: the first is the caller's, the second can go elsewhere.
struct fork_info {
  double first;  // hints of work; NaN when not given
  double second;
  std::size_t bytes;  // of both together; 0 when not given
  task& owner;
  const void* label{nullptr};  // address of the second half's code; in `fork` alone
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
  // Newest entry of the worker's own queue, whatever it is; 0: none.
  virtual entry newest(unsigned self) noexcept = 0;

  // What acquire and pick return for a task that the policy holds; the task is then the caller's.
  virtual entry entry_of(task& t) noexcept = 0;

  // If it sleeps: this worker, or anyone, beginning near `near`. After
  // what it shall find was published. wake: false when it does not sleep.
  virtual bool wake(unsigned rank) noexcept = 0;
  virtual void wake_any(unsigned near) noexcept = 0;
  // may_rob says yes to more than it did: asks on behalf of those that
  // sleep already, and wakes one for what there is. Microseconds.
  virtual void widened() noexcept = 0;
  // No worker runs anything: all search or sleep. A hint; true when it stays true.
  virtual bool all_idle() const noexcept = 0;

  // Switches spawns, forks and groups, as far as wanted, off or on for worker `self`. On at the start.
  virtual void watch(unsigned self, bool on) noexcept = 0;
  // A hint_warning in the trace.
  virtual void warn_of_hint(unsigned self, const char* text, double value) noexcept = 0;
  // A policy_note in the trace: what the policy chose, and the number that decided.
  virtual void remark(unsigned self, const char* text, std::uint64_t value) noexcept = 0;

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

  // Once, before any other call, and after the last; may allocate and throw.
  virtual void start(scheduler& host) { host_ = &host; }

  // Workers the policy can use; the runtime starts no more.
  virtual unsigned most_workers() const noexcept { return nobody; }

  // --- what an idle worker takes ---

  // An idle worker, its own queue empty, asks for work. 0: none found; it asks again soon. `how` is glance while it has
  // just begun to search, insist when its requests have gone unanswered: then every victim in question is to be tried.
  virtual entry acquire(unsigned self, effort how) noexcept = 0;
  // About to sleep: could acquire() still find something? Called after a full fence.
  virtual bool may_find(unsigned self) noexcept;
  // `self` could take what `victim` queues. May change; who widens it calls widened().
  virtual bool may_rob(unsigned self, unsigned victim) noexcept { return self != victim; }
  // Before the own queue and ready threads (own_is_empty false), and after they gave nothing (true). 0: nothing.
  virtual entry pick(unsigned, bool) noexcept { return 0; }

  // --- tasks ---

  // A thread that is nobody's child may run. `self` is nobody when a foreign thread made it. stay or send.
  virtual placement started(unsigned, task&) noexcept { return stay; }
  // A child is made, by its group's owner or another task of the group. child_first, parent_first or send.
  virtual placement spawn(unsigned, const spawn_info&) noexcept { return {}; }
  // `send` was answered, and the task can be run by anybody from now on.
  virtual void place(unsigned, task&, const placement&) noexcept {}
  // A task with a word became ready. `self` is nobody when a foreign thread woke it. stay or send.
  virtual placement ready(unsigned, task&) noexcept { return stay; }
  // A task with a word has ended; before its group can hear of it.
  virtual void task_end(unsigned, task&) noexcept {}

  // --- groups; always on the owner's worker ---

  virtual void group_begin(unsigned, group_info&) noexcept {}
  virtual void group_wait(unsigned, group_info&) noexcept {}
  // The wait is over; stay or send: the owner goes on where it is taken from.
  virtual placement group_end(unsigned, group_info&) noexcept { return stay; }

  // --- forks; always on the owner's worker ---

  // Shall the second half become a task? False: it is queued, and its owner takes it back if no thief did. True need
  // not come about: a thief may have taken the half meanwhile.
  virtual bool fork_begin(unsigned, const fork_info&) noexcept { return false; }
  // It has become one, if fork_begin said so; for such forks alone the calls below follow. child_first (it runs before
  // the first half, which is then stealable) or send.
  virtual placement fork(unsigned, const fork_info&, task&) noexcept { return {}; }
  // The first half has ended; the second one may run still.
  virtual void fork_wait(unsigned, task&) noexcept {}
  // Both have ended; stay or send.
  virtual placement fork_end(unsigned, task&) noexcept { return stay; }

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
  const char* summary;  // one line with the source
  std::unique_ptr<policy> (*make)(const std::vector<parameter>& parameters);
};

const std::vector<registration>& all();
// One more line, of a policy that is not heddle's. While no other
// thread reads the table: before the first runtime. Its texts live on.
void add(const registration& line);

// Makes the policy that `text` names: "name" or "name:key=value,key". Throws std::invalid_argument that names the text,
// the offending part and the nearest valid ones.
std::unique_ptr<policy> make(std::string_view text);

}  // namespace heddle::policy
