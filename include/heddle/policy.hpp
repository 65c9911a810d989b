/// Scheduling policies: the seam between schedulers and the mechanism. A policy decides which task runs where and when,
/// and the mechanism does it. A policy sees workers (by rank), tasks, memory groups, hints, a random source, and, where
/// it wants them, times and counts that the mechanism has measured; never a kernel thread, a signal or a clock. So one
/// policy schedules real and simulated machines.
///
/// To write one: docs/guide/write_a_policy.md. The order of the calls, and what a policy promises:
/// src/policy/README.md. How the published schedulers use the seam: docs/design/policies.md.
///
/// Every function is called with preemption off. But the worker may be the very one that a preempted thread waits for,
/// and that thread may hold a lock of malloc or of user code. So, in a process with preemptive threads, no function but
/// `start` may allocate memory or take a lock that user code takes [seam:2]. Audit builds (HEDDLE_AUDIT) abort when one
/// of them calls malloc on behalf of a preemptive thread, between two threads, or in the run loop of such a process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>

#include <heddle/export.hpp>
#include <heddle/machine.hpp>
#include <heddle/task_usage.hpp>

namespace heddle::policy {

/// What a worker can run: a task, the second half of a fork, a child. Opaque; 0: nothing.
using entry = std::uintptr_t;

inline constexpr unsigned nobody = ~0u;  ///< a foreign kernel thread, or no worker at all
inline constexpr double not_given = std::numeric_limits<double>::quiet_NaN();  ///< a hint of work that nobody gave

/// A user-level thread, as its policy sees it: a tag, links, and room for what the policy knows of it. Owned by
/// whoever owns the thread; a policy that hands a thread to another worker publishes these fields with it.
struct task {
  /// Null when the thread is made: the policy has no part in it. Else the policy hears of its wake-ups and of its end.
  void* tag{nullptr};
  /// Where a task goes for which the policy has answered `send`: see policy::send_to. Two numbers of the policy's own.
  struct destination {
    unsigned target;
    unsigned slot;
  };
  union {
    task* next;      ///< a link of the policy's list that the task stands in
    destination to;  ///< between an answer `send` and the call of `enqueue`, when it stands in none
  };
  task* previous;                 ///< the other link; both are unset while the task stands in no list
  alignas(8) std::byte room[40];  ///< for keep and get

  /// Begins what the policy keeps of the task: a T of its own, which get<T>() finds from then on. T is trivial and fits
  /// into the task, which is checked at compile time. A policy that holds another one lets the other's T be the first
  /// member of its own.
  template <class T>
  T& keep(const T& value) noexcept {
    check<T>();
    return *::new (static_cast<void*>(room)) T(value);
  }
  template <class T>
  T& get() noexcept {
    check<T>();
    return *std::launder(reinterpret_cast<T*>(room));
  }

  template <class T>
  static constexpr void check() noexcept {
    static_assert(sizeof(T) <= sizeof room && alignof(T) <= 8, "a policy has 40 bytes in a task");
    static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>,
                  "nobody destroys what a policy keeps in a task");
  }
};

/// Of a search: a glance costs little and misses what victims keep private; who insists gets that, too.
enum class effort : std::uint8_t { glance, insist };

/// Where a task is to go.
enum class placement : std::uint8_t {
  child_first,   ///< a new task: run it now; the spawner's continuation becomes stealable
  parent_first,  ///< a new task: queue it; the spawner goes on
  stay,          ///< a task that exists: where it is, or with the worker that woke it
  send           ///< the mechanism makes it ready to run and calls `enqueue`
};

/// What the mechanism switches on for a policy. The first eleven follow from the functions that the policy overrides
/// (see `create`); the others it sets itself, in its constructor or in `start`. `ready` and `task_end` need no flag:
/// they are called for the tasks whose `tag` the policy has set, and for no other.
struct policy_wants {
  bool spawns = false;  ///< `spawn`, for each child of a group. Off: children are queued, as second halves of forks are
  bool forks = false;   ///< `fork_begin`, for each second half of parallel_invoke, and of a loop that is cut
  bool groups = false;  ///< `group_begin`, `group_wait`, `group_end`
  bool roots = false;   ///< `started`. Off: a thread that is nobody's child is like one that was woken
  bool picks = false;   ///< `pick`. Off: the own queue, the ready threads, then `acquire`
  bool limits = false;  ///< `may_rob`. Off: a worker may take from everybody
  bool preemptions = false;  ///< `preempted`. Off: who was interrupted waits among its worker's ready threads
  bool usage = false;        ///< `used`. Off: nothing is counted
  bool changes = false;      ///< `workers_changed`; and `speed` is measured. Off: it is what is declared
  bool beats = false;        ///< `beat`
  bool iterations = false;   ///< `next_iteration`

  /// The policy calls scheduler::ask. Off: nobody is asked by name, `ask` is false.
  bool asks = false;
  /// A promise of the policy [seam:5]: no worker sleeps while its `acquire` could find something. The mechanism relies
  /// on it where a worker that was woken has found something: it then wakes another one for what else there is. A
  /// policy that cannot promise it sets this to false in its constructor.
  bool greedy = true;
  usage_figures figures;      ///< what `used` is to tell; what nobody wants is not read
  bool elapsed = false;       ///< how long groups and forks took: group_info::elapsed, and what `fork_end` is told
  bool running = false;       ///< scheduler::running
  unsigned beat_us = 1000;    ///< microseconds from one call of `beat` to the next; 100 at least
  double speed_step = 0.125;  ///< `workers_changed` is called when some speed has moved by more than that
};

/// A task that is made: the child of a group, the second half of a fork, or a thread that is nobody's child.
struct task_info {
  task& made;         ///< the new task
  task* parent;       ///< who made it; null: it is nobody's child
  const void* label;  ///< address of the task's code: the same for all tasks of one place in the program
  double work;        ///< hint of its work; not_given
  double group_work;  ///< hint of the work of all children of the group, or of both halves of the fork; not_given
  std::size_t bytes;  ///< hint of the bytes that the group or the fork touches; 0: not given
  unsigned index;     ///< children of the group that the policy was shown before this one; 1 for a second half
  unsigned siblings;  ///< how many children the group is to have (task_group::expect), itself included; 0: not told
  void* group_data;   ///< as group_begin left it; null if that was not called, or the maker does not own the group
};

/// A task group, from its making, or from its first child after a wait, to the end of its wait.
struct group_info {
  double work;        ///< hint; not_given
  std::size_t bytes;  ///< hint; 0: not given
  unsigned children;  ///< that `spawn` was called for so far
  unsigned expected;  ///< how many it is to have (task_group::expect); 0: not told
  task& owner;
  void* data;  ///< the policy's own: null at first
  /// ns since group_begin, by the mechanism's clock; 0 where policy_wants::elapsed is not set, and in group_begin.
  std::uint64_t elapsed{0};
};

/// A fork. The caller runs the first half; the second one can go elsewhere.
struct fork_info {
  double first;  ///< hints of work; not_given
  double second;
  std::size_t bytes;  ///< hint, of both together; 0: not given
  task& owner;
};

/// What the mechanism offers to a policy.
class scheduler {
 public:
  virtual unsigned workers() const noexcept = 0;
  /// How many levels above the leaf of worker `a` the smallest memory group is that holds `b`, too. 0 for a == b; 1
  /// for all others where the machine is not known.
  virtual unsigned distance(unsigned a, unsigned b) const noexcept = 0;
  /// Who shares which memory. No groups where the machine is not known.
  virtual machine::view machine() const noexcept = 0;
  /// How fast a worker is at the moment, relative to the fastest kind of core of the machine; 0 while it stands aside
  /// (runtime::set_active_workers). Declared: of its processing unit (machine::processing_unit::speed). For a policy
  /// that overrides workers_changed it is that, times the part of the time that the worker's kernel thread had a
  /// processor of late: less than 1 where the processor is shared, throttled or taken away. Measured every 10 ms, while
  /// the worker does not sleep; else as it was.
  virtual double speed(unsigned worker) const noexcept = 0;
  /// declared; clock or simulated once it was measured; none: nothing is known of the machine, and speed says 1.
  virtual source speed_source(unsigned worker) const noexcept = 0;
  /// The task that ran on a worker a moment ago; null: none, or policy_wants::running is not set. A hint, to be
  /// compared and not to be looked into: it may have ended, and another one may have its place.
  virtual const task* running(unsigned worker) const noexcept = 0;
  /// A number in [0, bound) from the random source of worker `self`.
  virtual std::uint32_t random(unsigned self, std::uint32_t bound) noexcept = 0;

  /// Takes the oldest entry of the victim's queue; 0: none. glance: public entries only, for a few cache misses.
  /// insist: also private ones, and ready threads, without the victim's help, for microseconds.
  virtual entry steal(unsigned self, unsigned victim, effort how) noexcept = 0;
  /// The victim's queue, or its ready threads, seem not to be empty: a hint.
  virtual bool has_work(unsigned victim) const noexcept = 0;
  /// Asks the victim to make work public at its next fork or join. Cheap where somebody has asked already.
  virtual void request(unsigned self, unsigned victim) noexcept = 0;
  /// Takes the newest entry of the worker's own queue, whatever it is; 0: none.
  virtual entry newest(unsigned self) noexcept = 0;
  /// Takes the oldest one.
  virtual entry oldest(unsigned self) noexcept = 0;
  /// How many entries lie in a worker's queue, and in its box; without its ready threads. A hint.
  virtual unsigned queued(unsigned worker) const noexcept = 0;

  /// Requests with an address, for policies that set policy_wants::asks. `ask` leaves one with the victim and returns
  /// at once; any number may stand, one with each victim. At the victim's next fork or join it gives each asker one
  /// entry, its oldest first, into the asker's box; what it cannot give it gives when it queues more. The asker is
  /// woken if it sleeps; it looks into its box by itself when it has nothing else, and others may take from there by
  /// `steal`. False: a request stands there, or something has come or is about to, or `self` may not rob the victim.
  virtual bool ask(unsigned self, unsigned victim) noexcept = 0;
  /// The request of `self` still stands with `victim`: a hint. False: it was answered, or dropped since may_rob does
  /// not allow it any more or another victim has answered.
  virtual bool asks(unsigned self, unsigned victim) const noexcept = 0;
  /// Takes the request back. False: nothing stands there any more, and something may have been given.
  virtual bool withdraw(unsigned self, unsigned victim) noexcept = 0;
  /// How many ask `self` at the moment. A request may be counted a moment before the next fork there would see it.
  virtual unsigned askers(unsigned self) const noexcept = 0;
  /// Takes what lies in the box of `self`; 0: nothing.
  virtual entry given(unsigned self) noexcept = 0;

  /// Turns a task that the policy holds into what acquire and pick return. From then on the task is the caller's
  /// [seam:3].
  virtual entry entry_of(task& t) noexcept = 0;

  /// To be called after what the sleeper is to find has been published. wake: wakes this worker if it sleeps; false:
  /// it does not. wake_any: wakes one that sleeps, if there is one, beginning with rank `near`; nobody, if somebody
  /// searches already who will find it.
  virtual bool wake(unsigned rank) noexcept = 0;
  virtual void wake_any(unsigned near) noexcept = 0;
  /// To be called when may_rob allows more than before. Leaves requests with all workers on behalf of those that
  /// sleep already, and wakes a sleeper for each worker that has something queued. Takes microseconds.
  virtual void widened() noexcept = 0;
  /// Ends the turn of the preemptive thread whose code runs on worker `victim`, whatever else is ready there;
  /// `preempted` says where it goes. A request: nothing happens where no such thread runs, and a thread inside the
  /// runtime gives way when it comes out. Takes microseconds.
  virtual void interrupt(unsigned victim) noexcept = 0;
  /// No worker runs anything: all search or sleep. A hint, for a worker that is just taking something looks idle; if
  /// it is true several times in a row it is true.
  virtual bool all_idle() const noexcept = 0;

  /// Switches spawns, forks and groups, as far as they are wanted, off or on for worker `self`: what runs there
  /// meanwhile costs as much as under random_ws. They are on at the start.
  virtual void watch(unsigned self, bool on) noexcept = 0;
  /// Writes a hint_warning into the trace.
  virtual void warn_of_hint(unsigned self, const char* text, double value) noexcept = 0;
  /// Writes a policy_note into the trace: what the policy chose, and the number that decided. The text must live on.
  virtual void remark(unsigned self, const char* text, std::uint64_t value) noexcept = 0;

 protected:
  ~scheduler() = default;
};

class policy;
template <class Policy, class... Arguments>
std::unique_ptr<policy> create(Arguments&&... arguments);

/// A scheduler. Derive from it, override what it is to hear of, and make it by `create`.
class policy {
 public:
  virtual ~policy() = default;
  policy() = default;
  policy(const policy&) = delete;
  policy& operator=(const policy&) = delete;

  /// Called once, before all others but most_workers. May allocate and throw. A policy may take flags of wants_ away
  /// here which its parameters make superfluous.
  virtual void start(scheduler& host) { host_ = &host; }

  /// The most workers that the policy can use. The runtime starts no more.
  virtual unsigned most_workers() const noexcept { return nobody; }

  // --- what an idle worker takes ---

  /// An idle worker whose own queue is empty asks for work. 0: none found; it asks again soon. `how` is glance at
  /// first. It is insist now and then when requests have gone unanswered; then every victim in question is to be
  /// tried.
  virtual entry acquire(unsigned self, effort how) noexcept = 0;
  /// Could acquire() still find something for `self`? Asked, after a full fence, before a worker sleeps, and where it
  /// matters whether others have something. As written here: some other worker has something queued.
  virtual bool may_find(unsigned self) noexcept {
    for (unsigned victim = 0; victim < host_->workers(); ++victim) {
      if (victim != self && host_->has_work(victim)) return true;
    }
    return false;
  }
  /// `self` may take what `victim` queues. Asked on any worker, about any two. The answer may change; whoever changes
  /// it to yes calls widened().
  virtual bool may_rob(unsigned self, unsigned victim) noexcept { return self != victim; }
  /// A worker chooses what to run next. Called with own_is_empty = false before it looks into its own queue and at
  /// its ready threads, and with true when these gave nothing. 0: nothing.
  virtual entry pick(unsigned self, bool own_is_empty) noexcept {
    static_cast<void>(self), static_cast<void>(own_is_empty);
    return 0;
  }

  // --- tasks ---

  /// A thread that is nobody's child becomes ready for the first time. `self` is nobody if a foreign kernel thread
  /// made it. Answers: stay, send.
  virtual placement started(unsigned self, const task_info& info) noexcept {
    static_cast<void>(self), static_cast<void>(info);
    return placement::stay;
  }
  /// A child is made, by the owner of its group or by another task. Answers: child_first, parent_first, send.
  virtual placement spawn(unsigned self, const task_info& info) noexcept {
    static_cast<void>(self), static_cast<void>(info);
    return placement::child_first;
  }
  /// The answer was send. From now on the task can be run by anybody: the policy puts it where it wants to find it.
  virtual void enqueue(unsigned self, task& t) noexcept { static_cast<void>(self), static_cast<void>(t); }
  /// A task with a tag has waited and is ready again. `self` is nobody if a foreign kernel thread woke it. Answers:
  /// stay, send.
  virtual placement ready(unsigned self, task& t) noexcept {
    static_cast<void>(self), static_cast<void>(t);
    return placement::stay;
  }
  /// The turn of a task with a tag was ended, by the timer or by scheduler::interrupt. Called where the task was
  /// interrupted, in a signal handler: the rule about memory and locks holds without exception here. Answers: stay,
  /// that is, among the ready threads of this worker; or send.
  virtual placement preempted(unsigned self, task& t) noexcept {
    static_cast<void>(self), static_cast<void>(t);
    return placement::stay;
  }
  /// What a task with a tag has used; it has ended, and task_end comes next. One whose tag was set while it ran is
  /// counted from its next turn on. Figures that are not known say so, among them those that policy_wants::figures does
  /// not name.
  virtual void used(unsigned self, task& t, const task_usage& what) noexcept {
    static_cast<void>(self), static_cast<void>(t), static_cast<void>(what);
  }
  /// A task with a tag has ended. Its group does not know of it yet.
  virtual void task_end(unsigned self, task& t) noexcept { static_cast<void>(self), static_cast<void>(t); }

  // --- groups; always on the owner's worker ---

  virtual void group_begin(unsigned self, group_info& info) noexcept {
    static_cast<void>(self), static_cast<void>(info);
  }
  virtual void group_wait(unsigned self, group_info& info) noexcept {
    static_cast<void>(self), static_cast<void>(info);
  }
  /// The wait is over. Answers: stay; or send, and then the owner is suspended, and goes on where it is taken.
  virtual placement group_end(unsigned self, group_info& info) noexcept {
    static_cast<void>(self), static_cast<void>(info);
    return placement::stay;
  }

  // --- iterations; on the worker of the thread that marks one ---

  /// The thread has called heddle::next_iteration: what it makes from here on belongs to the next iteration of the loop
  /// that `label` stands for. It may be in a group or a fork of its own. Answers: stay, send, as for group_end.
  virtual placement next_iteration(unsigned self, task& owner, const void* label) noexcept {
    static_cast<void>(self), static_cast<void>(owner), static_cast<void>(label);
    return placement::stay;
  }

  // --- forks; always on the owner's worker ---

  /// Is the second half to become a task? False: no, it stays in the queue, and its owner runs it unless a thief
  /// takes it. True is a wish. `fork` follows only if it could be granted: not if a thief was quicker, and not if no
  /// control block could be had. Then the fork is an ordinary one, and the policy hears no more of it. So what
  /// fork_begin prepares must do no harm when nothing follows. A thief is quicker only where the worker has left a fork
  /// in its queue since watch(on) or the last `fork`.
  virtual bool fork_begin(unsigned self, const fork_info& info) noexcept {
    static_cast<void>(self), static_cast<void>(info);
    return false;
  }
  /// The second half has become a task, as fork_begin wished; the two calls below come for such forks alone. Answers:
  /// child_first, that is, it runs before the first half, which thieves may then take; or send.
  virtual placement fork(unsigned self, const fork_info& info, const task_info& half) noexcept {
    static_cast<void>(self), static_cast<void>(info), static_cast<void>(half);
    return placement::child_first;
  }
  /// The first half has ended. The second one may still run, or not have begun.
  virtual void fork_wait(unsigned self, task& owner) noexcept { static_cast<void>(self), static_cast<void>(owner); }
  /// Both halves have ended, `elapsed` ns after `fork`, by the mechanism's clock (0 where policy_wants::elapsed is not
  /// set). Answers: stay, send, as for group_end.
  virtual placement fork_end(unsigned self, task& owner, std::uint64_t elapsed) noexcept {
    static_cast<void>(self), static_cast<void>(owner), static_cast<void>(elapsed);
    return placement::stay;
  }

  // --- by the clock; on a kernel thread of the runtime's own, which is no worker, one after the other ---

  /// Some worker began to stand aside or ceased to, or scheduler::speed has moved by more than speed_step for one.
  virtual void workers_changed() noexcept {}
  /// policy_wants::beat_us have passed since the last time, or more. Also while all workers are busy, and while all
  /// sleep; not any more when the last thread has ended and the runtime is being destroyed.
  virtual void beat() noexcept {}

  /// What it hears of. Settled when `start` returns.
  const policy_wants& wants() const noexcept { return wants_; }
  bool was_created() const noexcept { return created_; }

 protected:
  /// The answer `send`, with two numbers of the policy's own, which `enqueue` finds in t.to. The task must stand in no
  /// list of the policy's.
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

/// The one way to make a policy: it hears of what its class, or a class between it and `policy`, overrides. The
/// overriding functions have to be public.
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

/// The parameters of one policy, "name=value" after the colon of HEDDLE_POLICY. Each is taken once, by its name. One
/// that is left over when the policy has been made is an error, which names those that there are.
class parameters {
 public:
  /// One of `words`, separated by '|'; the first one when not given. Returns its place. Throws std::invalid_argument.
  virtual unsigned choice(std::string_view name, std::string_view words) = 0;
  /// A number in [least, most]. Throws std::invalid_argument.
  virtual double number(std::string_view name, double standard, double least, double most) = 0;
  /// The text as it stands, which no comma can be in; "" when not given.
  virtual std::string_view text(std::string_view name) = 0;

 protected:
  ~parameters() = default;
};

/// One line of the table of policies: `heddle help policies`, HEDDLE_POLICY and runtime_options::policy read it.
struct registration {
  const char* name;
  const char* summary;  ///< one line with the parameters and the source
  std::unique_ptr<policy> (*make)(parameters& given);
};

/// Adds a policy to the table. The texts that the line points to must live on. To be called while no other thread reads
/// the table, that is, before the first runtime is made. Throws std::invalid_argument where a policy of that name
/// exists.
HEDDLE_API void add(const registration& line);

/// Raised whenever what a plugin is compiled with changes in this header.
inline constexpr unsigned plugin_version = 3;

}  // namespace heddle::policy

/// At the end of a shared object that HEDDLE_POLICY_PLUGIN names: the policies that it adds, each a registration.
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
