/// Scheduling policies, the interface between schedulers and the mechanism. A policy decides which task runs where and
/// when, and the mechanism carries that out. A policy sees workers (by rank), tasks, memory groups, hints and a random
/// source. Where it asks for them, it also sees times and counts that the mechanism has measured. It never sees a
/// kernel thread, a signal or a clock. So one policy can schedule both real and simulated machines.
///
/// To write a policy: docs/guide/write_a_policy.md. The order of the calls, and the promises of a policy:
/// src/policy/README.md. How the published schedulers use this interface: docs/design/policies.md.
///
/// Every function is called with preemption off. But the worker may be the very one that a preempted thread waits for,
/// and that thread may hold a lock of malloc or of user code. So, in a process with preemptive threads, no function but
/// `start` may allocate memory or take a lock that user code takes [seam:2]. Audit builds (HEDDLE_AUDIT) abort when
/// such a function calls malloc on behalf of a preemptive thread, between two threads, or in the run loop of such a
/// process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <heddle/export.hpp>
#include <heddle/machine.hpp>
#include <heddle/policy_task.hpp>
#include <heddle/task_usage.hpp>

namespace heddle::policy {

/// The services of the mechanism for a policy.
class scheduler {
 public:
  virtual unsigned workers() const noexcept = 0;
  /// Returns how many levels above the leaf of worker `a` the smallest memory group lies that also holds `b`. Returns 0
  /// for a == b. If the machine is not known, it returns 1 for all others.
  virtual unsigned distance(unsigned a, unsigned b) const noexcept = 0;
  /// Returns which workers share which memory. The view has no groups if the machine is not known.
  virtual machine::view machine() const noexcept = 0;
  /// Returns how fast a worker is at the moment, relative to the fastest kind of core of the machine, or 0 while it is
  /// inactive (runtime::set_active_workers). This is the declared speed of its processing unit
  /// (machine::processing_unit::speed). For a policy that overrides workers_changed, the declared speed is multiplied
  /// by the part of the recent time in which the worker's kernel thread had a processor. That part is less than 1 if
  /// the processor is shared, throttled or taken away. It is measured every 10 ms while the worker does not sleep, and
  /// stays unchanged while it sleeps.
  virtual double speed(unsigned worker) const noexcept = 0;
  /// Returns `declared`; `clock` or `simulated` once the speed was measured; `none` if nothing is known of the machine,
  /// and speed() is then 1.
  virtual source speed_source(unsigned worker) const noexcept = 0;
  /// Returns the task that ran on a worker a moment ago. Returns null if there is none or policy_wants::running is not
  /// set. It is a hint that may be compared but not dereferenced, because the task may have ended and another one may
  /// have its place.
  virtual const task* running(unsigned worker) const noexcept = 0;
  /// Returns a number in [0, bound) from the random source of worker `self`.
  virtual std::uint32_t random(unsigned self, std::uint32_t bound) noexcept = 0;

  /// Takes the oldest entry of the victim's queue, or returns 0 if there is none. With `glance` it takes public entries
  /// only, at the cost of a few cache misses. With `insist` it also takes private ones and ready threads, without the
  /// victim's help, which takes microseconds.
  virtual entry steal(unsigned self, unsigned victim, effort how) noexcept = 0;
  /// Returns true if the victim's queue, or its ready threads, seem not to be empty. This is a hint.
  virtual bool has_work(unsigned victim) const noexcept = 0;
  /// Asks the victim to make work public at its next fork or join. It is cheap if another worker has already asked.
  virtual void request(unsigned self, unsigned victim) noexcept = 0;
  /// Takes the newest entry of the worker's own queue, whatever it is, or returns 0 if there is none.
  virtual entry newest(unsigned self) noexcept = 0;
  /// Takes the oldest entry of the worker's own queue.
  virtual entry oldest(unsigned self) noexcept = 0;
  /// Returns the number of entries in a worker's queue and its mailbox, without its ready threads. This is a hint.
  virtual unsigned queued(unsigned worker) const noexcept = 0;

  /// Leaves a request that names the asker with the victim, and returns at once. It is for policies that set
  /// policy_wants::asks. Any number of requests may stand, one with each victim. At its next fork or join the victim
  /// gives each asker one entry, its oldest first, into the asker's mailbox. Requests that it cannot serve then are
  /// served when it queues more. The asker is woken if it sleeps. It looks into its mailbox by itself when it has
  /// nothing else, and other workers may take from the mailbox by `steal`. Returns false if a request already stands
  /// there, if something has come or is about to come, or if `self` may not rob the victim.
  virtual bool ask(unsigned self, unsigned victim) noexcept = 0;
  /// Returns true if the request of `self` still stands with `victim`. This is a hint. It is false if the request was
  /// answered, or was dropped because may_rob does not allow it any more or because another victim has answered.
  virtual bool asks(unsigned self, unsigned victim) const noexcept = 0;
  /// Takes the request back. Returns false if no request stands there any more; something may then have been given.
  virtual bool withdraw(unsigned self, unsigned victim) noexcept = 0;
  /// Returns how many workers ask `self` at the moment. A request may be counted a moment before the next fork there
  /// would see it.
  virtual unsigned askers(unsigned self) const noexcept = 0;
  /// Takes the entry in the mailbox of `self`, or returns 0 if there is none.
  virtual entry given(unsigned self) noexcept = 0;

  /// Turns a task that the policy holds into an entry that acquire and pick can return. The task belongs to the caller
  /// after that [seam:3].
  virtual entry entry_of(task& t) noexcept = 0;

  /// These must be called after the work that the sleeper is to find has been published. `wake` wakes the worker of
  /// this rank if it sleeps, and returns false if it does not sleep. `wake_any` wakes one worker that sleeps, if there
  /// is one, beginning with rank `near`. It wakes none if some worker already searches and will find the work.
  virtual bool wake(unsigned rank) noexcept = 0;
  virtual void wake_any(unsigned near) noexcept = 0;
  /// Must be called when may_rob allows more than before. It leaves requests with all workers on behalf of the workers
  /// that already sleep, and wakes a sleeper for each worker that has something queued. It takes microseconds.
  virtual void widened() noexcept = 0;
  /// Ends the time slice of the preemptive thread whose code runs on worker `victim`, whatever else is ready there.
  /// `preempted` then says where the thread goes. This is a request: nothing happens if no such thread runs there, and
  /// a thread inside the runtime gives way when it comes out. It takes microseconds.
  virtual void interrupt(unsigned victim) noexcept = 0;
  /// Returns true if no worker runs anything, so that all search or sleep. This is a hint, because a worker that is
  /// just taking something looks idle. If it is true several times in a row, no worker runs anything.
  virtual bool all_idle() const noexcept = 0;

  /// Switches the calls for spawns, forks and groups, as far as the policy wants them, off or on for worker `self`.
  /// While they are off, tasks there cost as much as under random_ws. They are on at the start.
  virtual void watch(unsigned self, bool on) noexcept = 0;
  /// Writes an event hint_warning into the trace.
  virtual void warn_of_hint(unsigned self, const char* text, double value) noexcept = 0;
  /// Writes an event policy_note into the trace: the choice of the policy, and the number that decided. The text must
  /// stay valid.
  virtual void remark(unsigned self, const char* text, std::uint64_t value) noexcept = 0;

 protected:
  ~scheduler() = default;
};

class policy;
template <class Policy, class... Arguments>
std::unique_ptr<policy> create(Arguments&&... arguments);

/// A scheduler. Derive from it, override the functions that it is to be told by, and make it by `create`.
class policy {
 public:
  virtual ~policy() = default;
  policy() = default;
  policy(const policy&) = delete;
  policy& operator=(const policy&) = delete;

  /// Called once, before all other functions but most_workers. It may allocate and throw. Here a policy may clear flags
  /// of wants_ that its parameters make superfluous.
  virtual void start(scheduler& host) { host_ = &host; }

  /// Returns the largest number of workers that the policy can use. The runtime starts no more.
  virtual unsigned most_workers() const noexcept { return nobody; }

  // --- the work that an idle worker takes ---

  /// Called when an idle worker whose own queue is empty asks for work. Returns 0 if no work was found; the worker asks
  /// again soon. `how` is `glance` at first. When requests have gone unanswered it is sometimes `insist`, and then
  /// every victim in question must be tried.
  virtual entry acquire(unsigned self, effort how) noexcept = 0;
  /// Returns true if acquire() could still find something for `self`. It is called, after a full fence, before a worker
  /// sleeps, and wherever it matters whether other workers have something. The default returns true if some other
  /// worker has something queued.
  virtual bool may_find(unsigned self) noexcept {
    for (unsigned victim = 0; victim < host_->workers(); ++victim) {
      if (victim != self && host_->has_work(victim)) return true;
    }
    return false;
  }
  /// Returns true if `self` may take what `victim` queues. It is called on any worker, about any two. The answer may
  /// change; after a change to true the policy calls widened().
  virtual bool may_rob(unsigned self, unsigned victim) noexcept { return self != victim; }
  /// Called when a worker chooses what to run next. It is called with own_is_empty = false before the worker looks into
  /// its own queue and at its ready threads, and with true if these gave nothing. Returns 0 for nothing.
  virtual entry pick(unsigned self, bool own_is_empty) noexcept {
    static_cast<void>(self), static_cast<void>(own_is_empty);
    return 0;
  }

  // --- tasks ---

  /// Called when a thread that is nobody's child becomes ready for the first time, or a job comes from outside. `self`
  /// is `nobody` if a foreign kernel thread made it. The answers are stay and send.
  virtual placement started(unsigned self, const task_info& info) noexcept {
    static_cast<void>(self), static_cast<void>(info);
    return placement::stay;
  }
  /// Called when a child is made, by the owner of its group or by another task, and when a task submits a job
  /// (heddle::submit), which is in no group. The answers are child_first, parent_first and send.
  virtual placement spawn(unsigned self, const task_info& info) noexcept {
    static_cast<void>(self), static_cast<void>(info);
    return placement::child_first;
  }
  /// Called after the answer `send`, when any worker can run the task. The policy puts the task where it will find it.
  virtual void enqueue(unsigned self, task& t) noexcept { static_cast<void>(self), static_cast<void>(t); }
  /// Called when a task with a tag has waited and is ready again. `self` is `nobody` if a foreign kernel thread woke
  /// it. The answers are stay and send.
  virtual placement ready(unsigned self, task& t) noexcept {
    static_cast<void>(self), static_cast<void>(t);
    return placement::stay;
  }
  /// Called when the time slice of a task with a tag was ended, by the timer or by scheduler::interrupt. It is called
  /// where the task was interrupted, in a signal handler, so the rule about memory and locks holds without exception.
  /// The answer `stay` puts the task among the ready threads of this worker; the other answer is `send`.
  virtual placement preempted(unsigned self, task& t) noexcept {
    static_cast<void>(self), static_cast<void>(t);
    return placement::stay;
  }
  /// Tells what a task with a tag has used. The task has ended, and task_end comes next. If the tag was set while the
  /// task ran, the task is counted from its next time slice on. Figures that are not known say so, among them those
  /// that policy_wants::figures does not name.
  virtual void used(unsigned self, task& t, const task_usage& what) noexcept {
    static_cast<void>(self), static_cast<void>(t), static_cast<void>(what);
  }
  /// Called when a task with a tag has ended. Its group does not know of the end yet.
  virtual void task_end(unsigned self, task& t) noexcept { static_cast<void>(self), static_cast<void>(t); }

  // --- groups; always called on the owner's worker ---

  virtual void group_begin(unsigned self, group_info& info) noexcept {
    static_cast<void>(self), static_cast<void>(info);
  }
  virtual void group_wait(unsigned self, group_info& info) noexcept {
    static_cast<void>(self), static_cast<void>(info);
  }
  /// Called when the wait is over. After the answer `send` the owner is suspended, and goes on where it is taken; the
  /// other answer is `stay`.
  virtual placement group_end(unsigned self, group_info& info) noexcept {
    static_cast<void>(self), static_cast<void>(info);
    return placement::stay;
  }

  // --- iterations; called on the worker of the thread that marks one ---

  /// Called when the thread has called heddle::next_iteration: all tasks that it makes from here on belong to the next
  /// iteration of the loop that `label` stands for. The thread may be in a group or a fork of its own. The answers are
  /// stay and send, as for group_end.
  virtual placement next_iteration(unsigned self, task& owner, const void* label) noexcept {
    static_cast<void>(self), static_cast<void>(owner), static_cast<void>(label);
    return placement::stay;
  }

  // --- forks; always called on the owner's worker ---

  /// Returns true if the second half is to become a task. If it returns false, the second half stays in the queue, and
  /// its owner runs it unless a thief takes it. The answer true is a wish, and `fork` follows only if it could be
  /// granted. It is not granted if a thief was quicker or if no control block could be had. Then the fork is an
  /// ordinary one, and the policy is told no more of it. So the preparations of fork_begin must do no harm when nothing
  /// follows. A thief can be quicker only if the worker has left a fork in its queue since watch(on) or the last
  /// `fork`.
  virtual bool fork_begin(unsigned self, const fork_info& info) noexcept {
    static_cast<void>(self), static_cast<void>(info);
    return false;
  }
  /// Called when the second half has become a task, as fork_begin wished; the two functions below are called for such
  /// forks only. After the answer child_first it runs before the first half, which thieves may then take. The other
  /// answer is send.
  virtual placement fork(unsigned self, const fork_info& info, const task_info& half) noexcept {
    static_cast<void>(self), static_cast<void>(info), static_cast<void>(half);
    return placement::child_first;
  }
  /// Called when the first half has ended. The second half may still run, or may not have begun.
  virtual void fork_wait(unsigned self, task& owner) noexcept { static_cast<void>(self), static_cast<void>(owner); }
  /// Called when both halves have ended, `elapsed` nanoseconds after `fork`, by the mechanism's clock (0 if
  /// policy_wants::elapsed is not set). The answers are stay and send, as for group_end.
  virtual placement fork_end(unsigned self, task& owner, std::uint64_t elapsed) noexcept {
    static_cast<void>(self), static_cast<void>(owner), static_cast<void>(elapsed);
    return placement::stay;
  }

  // --- by the clock; called one after the other on a kernel thread of the runtime's own, which is no worker ---

  /// Called when some worker became inactive or active again, or when scheduler::speed has moved by more than
  /// speed_step for a worker.
  virtual void workers_changed() noexcept {}
  /// Called when at least policy_wants::beat_us have passed since the last time. It is also called while all workers
  /// are busy and while all sleep. It is not called any more when the last thread has ended and the runtime is being
  /// destroyed.
  virtual void beat() noexcept {}

  /// Returns what the policy is told. It is settled when `start` returns.
  const policy_wants& wants() const noexcept { return wants_; }
  bool was_created() const noexcept { return created_; }

 protected:
  /// Makes the answer `send`, with two numbers of the policy's own, which `enqueue` finds in t.to. The task must be in
  /// no list of the policy's.
  static placement send_to(task& t, unsigned target, unsigned slot = 0) noexcept {
    t.to = {target, slot};
    return placement::send;
  }

  scheduler* host_{nullptr};
  policy_wants wants_;

 private:
  template <class Policy, class... Arguments>
  friend std::unique_ptr<policy> create(Arguments&&... arguments);
  template <class Policy>
  void listen_as() noexcept;

  bool created_{false};
};

/// Makes a policy; there is no other way. The policy is told by the functions that its class, or a class between it and
/// `policy`, overrides. The overriding functions must be public.
template <class Policy, class... Arguments>
std::unique_ptr<policy> create(Arguments&&... arguments) {
  auto made = std::make_unique<Policy>(std::forward<Arguments>(arguments)...);
  static_cast<policy&>(*made).template listen_as<Policy>();
  return made;
}

template <class Policy>
void policy::listen_as() noexcept {
  // A member that Policy inherits from `policy` itself has the type of a member of `policy`.
  constexpr auto differ = [](auto mine, auto base) { return !std::is_same_v<decltype(mine), decltype(base)>; };
  wants_.spawns = differ(&Policy::spawn, &policy::spawn);
  wants_.forks = differ(&Policy::fork_begin, &policy::fork_begin);
  wants_.groups = differ(&Policy::group_begin, &policy::group_begin) ||
                  differ(&Policy::group_wait, &policy::group_wait) || differ(&Policy::group_end, &policy::group_end);
  wants_.roots = differ(&Policy::started, &policy::started);
  wants_.picks = differ(&Policy::pick, &policy::pick);
  wants_.limits = differ(&Policy::may_rob, &policy::may_rob);
  wants_.preemptions = differ(&Policy::preempted, &policy::preempted);
  wants_.usage = differ(&Policy::used, &policy::used);
  wants_.changes = differ(&Policy::workers_changed, &policy::workers_changed);
  wants_.beats = differ(&Policy::beat, &policy::beat);
  wants_.iterations = differ(&Policy::next_iteration, &policy::next_iteration);
  static_assert(differ(&Policy::fork_begin, &policy::fork_begin) ||
                    (!differ(&Policy::fork, &policy::fork) && !differ(&Policy::fork_wait, &policy::fork_wait) &&
                     !differ(&Policy::fork_end, &policy::fork_end)),
                "fork, fork_wait and fork_end are called only for forks that fork_begin wished for: override it, too");
  created_ = true;
}

/// The parameters of one policy, "name=value" after the colon of HEDDLE_POLICY. Each is taken once, by its name. A
/// parameter that is left over when the policy has been made is an error, whose message names the parameters that
/// exist.
class parameters {
 public:
  /// Returns the index of the given word among `words`, which are separated by '|', or 0 if none was given. Throws
  /// std::invalid_argument.
  virtual unsigned choice(std::string_view name, std::string_view words) = 0;
  /// Returns a number in [least, most]. Throws std::invalid_argument.
  virtual double number(std::string_view name, double standard, double least, double most) = 0;
  /// Returns the text as it was given, or "" if there is none. A text has no comma.
  virtual std::string_view text(std::string_view name) = 0;
  /// Does the same as `number` for a whole number below 2^32.
  unsigned whole(std::string_view name, double standard, double least, double most) {
    const double value = number(name, standard, least, most);
    if (value == static_cast<double>(static_cast<unsigned>(value))) return static_cast<unsigned>(value);
    throw std::invalid_argument("policy parameter " + std::string(name) + "=" + std::to_string(value) +
                                " is not a whole number from " + std::to_string(static_cast<unsigned>(least)) + " to " +
                                std::to_string(static_cast<unsigned>(most)));
  }

 protected:
  ~parameters() = default;
};

/// One line of the table of policies, which `heddle help policies`, HEDDLE_POLICY and runtime_options::policy read.
struct registration {
  const char* name;
  const char* summary;  ///< one line with the parameters and the source
  std::unique_ptr<policy> (*make)(parameters& given);
};

/// Adds a policy to the table. The texts that the line points to must stay valid. It must be called while no other
/// thread reads the table, that is, before the first runtime is made. Throws std::invalid_argument if a policy of that
/// name exists.
HEDDLE_API void add(const registration& line);

/// The version of the plug-in interface. It is raised whenever a part of this header changes that plug-ins are compiled
/// with.
inline constexpr unsigned plugin_version = 3;

}  // namespace heddle::policy

/// Stands at the end of a shared object that HEDDLE_POLICY_PLUGIN names, and lists the policies that it adds, each a
/// registration.
///   HEDDLE_POLICIES({"mine", "what it does, with its source", make_mine})
#define HEDDLE_POLICIES(...)                                                                                \
  extern "C" __attribute__((visibility("default"))) const unsigned heddle_policy_version;                   \
  const unsigned heddle_policy_version = heddle::policy::plugin_version;                                    \
  extern "C" __attribute__((visibility("default"))) const heddle::policy::registration* heddle_policy_list( \
      unsigned* count) {                                                                                    \
    static const heddle::policy::registration lines[] = {__VA_ARGS__};                                      \
    *count = sizeof lines / sizeof *lines;                                                                  \
    return lines;                                                                                           \
  }
