// The seam between schedulers and the mechanism: a policy decides which task runs where and when, and the mechanism
// does it. A policy sees workers (by rank), tasks, memory groups, hints and a random source; never a kernel thread,
// a signal or a clock. What it does not ask for in `wants` is not computed [seam:1]. The order of the calls, and
// what a policy promises: README.md. How the published schedulers use the seam: docs/design/policies.md.
//
// Every function is called with preemption off. But the worker may be the very one that a preempted thread waits
// for, and that thread may hold a lock of malloc or of user code. So, in a process with preemptive threads, no
// function but `start` may allocate memory or take a lock that user code takes [seam:2]. Audit builds (HEDDLE_AUDIT)
// abort when one of them calls malloc on behalf of a preemptive thread, between two threads, or in the run loop of
// such a process.
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

// Of a search: a glance costs little and misses what victims keep private; who insists gets that, too.
enum class effort : std::uint8_t { glance, insist };

inline constexpr unsigned nobody = ~0u;  // a foreign kernel thread, or no worker at all

// What the mechanism switches on for a policy. The first three can be switched off and on again for one worker
// (scheduler::watch); what runs there meanwhile costs as much as under random_ws.
//
// `ready` and `task_end` need no flag: they are called for the tasks whose `word` the policy has set, and for no
// other.
struct policy_wants {
  // spawn is called for each child of a group. Off: they are queued, as second halves of forks are
  bool spawns = false;
  // fork_begin is called for each second half of parallel_invoke, and of a loop that is cut. Off: it is queued
  bool forks = false;
  bool groups = false;  // group_begin, group_wait and group_end are called
  // started is called for threads that are nobody's child. Off: such a thread is like one that was woken
  bool roots = false;
  // pick is called at each change of threads. Off: the own queue, the ready threads, then acquire
  bool picks = false;
  // may_rob says from whom a worker may take, and so for whose work it is woken. Off: everybody's
  bool limits = false;
  // A promise of the policy [seam:5]: no worker sleeps while its `acquire` could find something. The mechanism
  // relies on it where a worker that was woken has found something: it then wakes another one for what else there is
  bool greedy = true;
};

// Where a task is to go.
struct placement {
  enum class kind : std::uint8_t {
    child_first,   // a new task: run it now; the spawner's continuation becomes stealable
    parent_first,  // a new task: queue it; the spawner goes on
    stay,          // a task that exists: where it is, or with the worker that woke it
    send           // the mechanism makes it ready to run and calls place
  };
  kind how = kind::child_first;
  // Read by nobody but the policy's own `place`, which gets the answer back.
  unsigned target = nobody;
  unsigned slot = 0;
};
inline constexpr placement stay{placement::kind::stay, nobody, 0};

// A child of a group is made.
struct spawn_info {
  double work;        // hint of the child's work; NaN: not given
  double group_work;  // hint of the work of all children of the group; NaN: not given
  std::size_t bytes;  // hint of the bytes that the group touches; 0: not given
  unsigned index;     // children of the group that the policy was shown before this one
  const void* label;  // address of the child's code
  task& child;
  task& parent;
  void* group_data;  // as group_begin left it; null if that was not called, or the spawner does not own the group
};

// A task group, from its making, or from its first child after a wait, to the end of its wait.
struct group_info {
  double work;        // hint; NaN: not given
  std::size_t bytes;  // hint; 0: not given
  unsigned children;  // that spawn was called for so far
  task& owner;
  void* data;  // the policy's word in the group: null at first
};

// A fork. The caller runs the first half; the second one can go elsewhere.
struct fork_info {
  double first;  // hints of work; NaN: not given
  double second;
  std::size_t bytes;  // hint, of both together; 0: not given
  task& owner;
  const void* label{nullptr};  // address of the second half's code; null in fork_begin
};

// What the mechanism offers to a policy.
class scheduler {
 public:
  virtual unsigned workers() const noexcept = 0;
  // How many levels above the leaf of worker `a` the smallest memory group is that holds `b`, too. 0 for a == b; 1
  // for all others where the machine is not known.
  virtual unsigned distance(unsigned a, unsigned b) const noexcept = 0;
  virtual const machine::topology* machine() const noexcept = 0;
  virtual std::uint32_t random(unsigned self, std::uint32_t bound) noexcept = 0;

  // Takes the oldest entry of the victim's queue; 0: none. glance: public entries only, for a few cache misses.
  // insist: also private ones, and ready threads, without the victim's help, for microseconds.
  virtual entry steal(unsigned self, unsigned victim, effort how) noexcept = 0;
  // The victim's queue, or its ready threads, seem not to be empty: a hint.
  virtual bool has_work(unsigned victim) const noexcept = 0;
  // Asks the victim to make work public at its next fork or join. Cheap where somebody has asked already.
  virtual void request(unsigned self, unsigned victim) noexcept = 0;
  // Takes the newest entry of the worker's own queue, whatever it is; 0: none.
  virtual entry newest(unsigned self) noexcept = 0;

  // Turns a task that the policy holds into what acquire and pick return. From then on the task is the caller's
  // [seam:3].
  virtual entry entry_of(task& t) noexcept = 0;

  // To be called after what the sleeper is to find has been published. wake: wakes this worker if it sleeps; false:
  // it does not. wake_any: wakes one that sleeps, if there is one, beginning with rank `near`; nobody, if somebody
  // searches already who will find it.
  virtual bool wake(unsigned rank) noexcept = 0;
  virtual void wake_any(unsigned near) noexcept = 0;
  // To be called when may_rob allows more than before. Leaves requests with all workers on behalf of those that
  // sleep already, and wakes a sleeper for each worker that has something queued. Takes microseconds.
  virtual void widened() noexcept = 0;
  // No worker runs anything: all search or sleep. A hint, for a worker that is just taking something looks idle; if
  // it is true several times in a row it is true.
  virtual bool all_idle() const noexcept = 0;

  // Switches spawns, forks and groups, as far as they are wanted, off or on for worker `self`. They are on at the
  // start.
  virtual void watch(unsigned self, bool on) noexcept = 0;
  // Writes a hint_warning into the trace.
  virtual void warn_of_hint(unsigned self, const char* text, double value) noexcept = 0;
  // Writes a policy_note into the trace: what the policy chose, and the number that decided.
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

  // Called once, before all others but wants and most_workers. May allocate and throw.
  virtual void start(scheduler& host) { host_ = &host; }

  // The most workers that the policy can use. The runtime starts no more.
  virtual unsigned most_workers() const noexcept { return nobody; }

  // --- what an idle worker takes ---

  // An idle worker whose own queue is empty asks for work. 0: none found; it asks again soon. `how` is glance at
  // first. It is insist now and then when requests have gone unanswered; then every victim in question is to be
  // tried.
  virtual entry acquire(unsigned self, effort how) noexcept = 0;
  // Could acquire() still find something for `self`? Asked, after a full fence, before a worker sleeps, and where it
  // matters whether others have something. As written here: some other worker has something queued.
  virtual bool may_find(unsigned self) noexcept;
  // `self` may take what `victim` queues. Asked on any worker, about any two. The answer may change; whoever changes
  // it to yes calls widened().
  virtual bool may_rob(unsigned self, unsigned victim) noexcept { return self != victim; }
  // A worker chooses what to run next. Called with own_is_empty = false before it looks into its own queue and at
  // its ready threads, and with true when these gave nothing. 0: nothing.
  virtual entry pick(unsigned, bool) noexcept { return 0; }

  // --- tasks ---

  // A thread that is nobody's child becomes ready for the first time. `self` is nobody if a foreign kernel thread
  // made it. Answers: stay, send.
  virtual placement started(unsigned, task&) noexcept { return stay; }
  // A child is made, by the owner of its group or by another task. Answers: child_first, parent_first, send.
  virtual placement spawn(unsigned, const spawn_info&) noexcept { return {}; }
  // The answer was send. From now on the task can be run by anybody: the policy puts it where it wants to find it.
  virtual void place(unsigned, task&, const placement&) noexcept {}
  // A task with a word has waited and is ready again. `self` is nobody if a foreign kernel thread woke it. Answers:
  // stay, send.
  virtual placement ready(unsigned, task&) noexcept { return stay; }
  // A task with a word has ended. Its group does not know of it yet.
  virtual void task_end(unsigned, task&) noexcept {}

  // --- groups; always on the owner's worker ---

  virtual void group_begin(unsigned, group_info&) noexcept {}
  virtual void group_wait(unsigned, group_info&) noexcept {}
  // The wait is over. Answers: stay; or send, and then the owner is suspended, and goes on where it is taken.
  virtual placement group_end(unsigned, group_info&) noexcept { return stay; }

  // --- forks; always on the owner's worker ---

  // Is the second half to become a task? False: no, it stays in the queue, and its owner runs it unless a thief
  // takes it. True is a wish. `fork` follows only if it could be granted: not if a thief was quicker, and not if no
  // control block could be had. Then the fork is an ordinary one, and the policy hears no more of it. So what
  // fork_begin prepares must do no harm when nothing follows.
  virtual bool fork_begin(unsigned, const fork_info&) noexcept { return false; }
  // The second half has become a task, as fork_begin wished; the two calls below come for such forks alone. Answers:
  // child_first, that is, it runs before the first half, which thieves may then take; or send.
  virtual placement fork(unsigned, const fork_info&, task&) noexcept { return {}; }
  // The first half has ended. The second one may still run, or not have begun.
  virtual void fork_wait(unsigned, task&) noexcept {}
  // Both halves have ended. Answers: stay, send, as for group_end.
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
// Adds a line, of a policy that is not heddle's. To be called while no other thread reads the table, that is, before
// the first runtime is made. The texts that the line points to must live on.
void add(const registration& line);

// Makes the policy that `text` names: "name" or "name:key=value,key". Throws std::invalid_argument, which names what
// is wrong and the policies or parameters that there are.
std::unique_ptr<policy> make(std::string_view text);

}  // namespace heddle::policy
