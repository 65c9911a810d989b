// The sources of work: the one table of all places in which something that can run may stand. A worker goes through
// this table when it chooses, searches, falls asleep, leaves a search, becomes inactive, or is carried by a foreign
// kernel thread. The table's order is the order in which a worker takes. How to add a source, and why no worker sleeps
// beside any of them: [source:1] to [source:4] of src/sync/sleep.md.
#pragma once

#include <cstdint>

#include "platform/explored.hpp"
#include "platform/messages.hpp"
#include "worker/runtime.hpp"
#include "worker/worker.hpp"

namespace heddle::worker::sources {

// The places at which a worker takes something. `taken` of a source names those at which it is asked.
enum place : unsigned {
  ordinary_choice = 1,   // the worker chooses what it runs next, in a program without special threads
  choice = 2,            // the same where the policy is asked first, or threads are packed, pinned or have levels
  fair_choice = 4,       // every 61st choice, which comes first so that work from outside does not starve
  fair_alternately = 8,  // every other fair choice, before the sources of fair_choice
  after_slice = 16,      // at every other end of a time slice, in place of ready threads
  search = 32,           // the worker is in the run loop, and nothing was at hand
  inactive = 64,         // before an inactive worker sleeps, which gives away all that it has
  fair_to_arenas = 256,  // at every fourth fair choice
  substitute = 512,      // a worker that stands in for all others looks for work
  caller = 128,          // a foreign kernel thread carries the worker, and its call is alone in the runtime
};

// The moments at which somebody asks whether a source has something for a worker. `asked` of a source names those at
// which it answers. Every source answers before a sleep: [source:2].
enum question : unsigned {
  before_sleep = 1,    // [sleep:5], the last look. The answer is exact after a heavy fence
  leaving_search = 2,  // [wake:4]: the worker has found something else. The answer is exact after a fence
  giving_back = 4,     // [caller_runs:4], [caller_runs:5]: the foreign kernel thread that carries the worker asks
  nap = 8,        // [caller_runs:6]: the carrier of a held worker asks, which may touch nothing of the worker's own
  unchosen = 32,  // a choice asks whether work from outside waits, which a choice does not take
  overdue = 64,   // a worker whose bound has passed, or a kernel thread for it, asks what waits: [service:1]. A hint
  rest = 16,      // the explorer asks, while no worker is on the way to anything. It must neither wait nor charge
  always = before_sleep | leaving_search | giving_back | nap | rest | overdue,  // but for `unchosen`
};

// The workers that may take what is there: `by` of a source. The announcement wakes one of them.
enum class taker : std::uint8_t {
  anybody,     // any worker. The announcement relies on workers that search, [wake:2]
  thieves,     // those that may rob the worker at which it stands
  policy,      // those that the policy chooses
  its_worker,  // that worker alone, or one that is chosen by an argument of the source's own
};

// A row of the table is a type with these members. `name` is for tests.
//   take      gives the entry that runs next, or 0. `at` is a constant to the compiler
//   may_find  says whether there is something for that worker
//   announce  wakes a worker that may take it. To be called after something was put there
// A `part` is a second place in the order for a source that is asked twice. It has `take` alone.
template <class Source>
concept part = requires { typename Source::part_of; };

// The explorer leaves out a source's announcement, or its answer before a sleep, to see that this is found.
template <class Source>
[[gnu::always_inline]] inline bool is_left_out(platform::step what) noexcept {
  return platform::is_left_out(what, Source::name);
}

inline entry entry_or_none(thread* t) noexcept { return t != nullptr ? ready_entry(*t) : 0; }

// --- the rows --------------------------------------------------------------------------------------------------------

// Common work, which any worker may take. Its announcement wakes any sleeper.
template <class Source>
struct common {
  static constexpr unsigned asked = always;
  static constexpr taker by = taker::anybody;
  // After a full fence. A sleeper of rank `near` or above is preferred.
  static void announce(runtime& home, unsigned near) noexcept {
    if (!is_left_out<Source>(platform::step::announcement)) home.sleepers().wake_one_for(near);
  }
  // The same, by a kernel thread that is no worker: [wake:6].
  static void announce_from_outside(runtime& home) noexcept {
    if (!is_left_out<Source>(platform::step::announcement)) home.wake_for_submitted();
  }
};

// Ready threads whose level is not the normal one. This row takes those above it, `lower_levels` the others.
struct level_threads : common<level_threads> {
  static constexpr char name[] = "levels";
  static constexpr unsigned taken = search | substitute;
  static entry take(worker& w, place, policy::effort) noexcept { return entry_or_none(w.take_high(1)); }
  static bool may_find(const worker& w, question) noexcept { return w.home.levels().any(); }
};

// Ready threads that are pinned to this worker. A choice does not take them from here, because it lets them and all
// others take turns.
struct pinned_here {
  static constexpr char name[] = "pinned";
  static constexpr unsigned taken = search;
  static constexpr unsigned asked = before_sleep | giving_back | rest | overdue;  // no other worker may take them
  static constexpr taker by = taker::its_worker;
  static entry take(worker& w, place, policy::effort) noexcept { return entry_or_none(w.take_pinned(0)); }
  static bool may_find(const worker& w, question) noexcept { return !w.pinned.empty(); }
  // [pin:3]. After the push, which is a full fence.
  static void announce(worker& w) noexcept {
    if (!is_left_out<pinned_here>(platform::step::announcement)) wake_for_pinned(w);
  }
};

// Ready threads of gangs in the lists of busy workers, which an idle one takes over. `gangs::pass_on` asks when a
// worker leaves a search. Not asked where a worker is given back: [caller_runs:5] requires that all others are idle, so
// that none is busy; and no announcement relies on a worker that a foreign kernel thread carries.
struct gang_threads {
  static constexpr char name[] = "gangs";
  static constexpr unsigned taken = search;
  static constexpr unsigned asked = before_sleep;
  static constexpr taker by = taker::its_worker;
  static entry take(worker& w, place, policy::effort) noexcept {
    // decides() lies beside raised(), which was read before
    if (!w.home.precedence().decides() || !w.home.gangs().are_used()) [[likely]]
      return 0;
    thread* t = w.home.gangs().steal(w.rank);
    if (t != nullptr) w.preempts = true;  // as in pinned_level
    return entry_or_none(t);
  }
  static bool may_find(const worker& w, question) noexcept {
    return w.home.gangs().are_used() && w.home.gangs().can_steal(w.rank);
  }
  // [gang:8]. After the push to the list of worker `rank`, which is a full fence.
  static void announce(runtime& home, unsigned rank) noexcept {
    if (!is_left_out<gang_threads>(platform::step::announcement)) home.gangs().wake_for(rank);
  }
};

struct policy_work;

// The tasks that the policy puts before the worker's own queue.
struct policy_first {
  using part_of = policy_work;
  static constexpr unsigned taken = choice;
  static entry take(worker& w, place, policy::effort) noexcept {
    return w.home.host().wants().picks ? w.home.host().scheduler_policy().pick(w.rank, false) : 0;
  }
};

// The fork queue of the worker, which takes its newest entry. Others take the oldest one, through the policy. A search
// takes from it what a call from outside has left there, whose thread submitted jobs on this worker.
struct own_queue {
  static constexpr char name[] = "queue";
  static constexpr unsigned taken = ordinary_choice | choice | after_slice | search | inactive | substitute;
  static constexpr unsigned asked = before_sleep | leaving_search | giving_back;
  static constexpr taker by = taker::thieves;
  [[gnu::always_inline]] static entry take(worker& w, place, policy::effort) noexcept { return w.take_newest(); }
  static bool may_find(const worker& w, question) noexcept { return queue::has_any(w); }
  // By the worker itself, after it has answered a request.
  static void announce(worker& w) noexcept {
    if (!is_left_out<own_queue>(platform::step::announcement)) w.announce_work();
  }
};

// While threads are packed, the ready threads in the pools that this worker serves. `other_pools` takes the rest.
struct pool_threads : common<pool_threads> {
  static constexpr char name[] = "pools";
  static constexpr unsigned taken = choice | fair_choice | search;
  static entry take(worker& w, place, policy::effort) noexcept {
    return w.home.capacity().pools().in_force() ? entry_or_none(w.pick_packed()) : 0;
  }
  static bool may_find(const worker& w, question) noexcept { return w.home.capacity().pools().any(); }
};

// Threads that foreign kernel threads have made ready, or that a worker has given up for all.
struct inbox_threads : common<inbox_threads> {
  static constexpr char name[] = "inbox";
  static constexpr unsigned taken = fair_choice | search | caller | substitute;
  static constexpr unsigned asked = always | unchosen;
  static entry take(worker& w, place at, policy::effort) noexcept {
    if (at == fair_choice) return entry_or_none(w.adopt_inbox_at_fair_choice());
    if (w.leaves_inbox()) [[unlikely]] {                        // [wake:5]
      if (w.home.incoming().empty()) w.leaves_inbox_until = 0;  // the other one has it
      return 0;
    }
    return entry_or_none(w.adopt_inbox());
  }
  static bool may_find(const worker& w, question) noexcept { return !w.home.incoming().empty(); }
};

// The ready threads of the worker, the oldest first. Others take them through the policy.
struct ready_threads {
  static constexpr char name[] = "ready";
  static constexpr unsigned taken = ordinary_choice | choice | search | inactive | caller | substitute;
  static constexpr unsigned asked = before_sleep | leaving_search | giving_back | rest | overdue;
  static constexpr taker by = taker::thieves;
  [[gnu::always_inline]] static entry take(worker& w, place, policy::effort) noexcept {
    return entry_or_none(w.ready.pop());
  }
  static bool may_find(const worker& w, question) noexcept { return !w.ready.looks_empty(); }
  // By the worker itself, after somebody has asked and it has made a thread ready.
  static void announce(worker& w) noexcept {
    if (!is_left_out<ready_threads>(platform::step::announcement)) w.announce_work();
  }
};

// Jobs that came from outside, or for which the queue of their worker had no room.
struct submitted_jobs : common<submitted_jobs> {
  static constexpr char name[] = "jobs";
  static constexpr unsigned taken = fair_alternately | search | substitute;
  static constexpr unsigned asked = always | unchosen;
  static entry take(worker& w, place, policy::effort) noexcept { return w.take_submitted(); }
  static bool may_find(const worker& w, question) noexcept { return !w.home.jobs().empty(); }
};

// Workers of arenas that wait to be carried by a worker of this runtime ([arena:1]).
struct arena_drivers : common<arena_drivers> {
  static constexpr char name[] = "arenas";
  static constexpr unsigned taken = fair_to_arenas | search | substitute;
  static entry take(worker& w, place, policy::effort) noexcept { return w.take_driver(); }
  static bool may_find(const worker& w, question) noexcept { return w.home.drivers().any_for(w.rank); }
  // Of one that only these workers may carry. It relies on no searcher.
  static void announce_to(runtime& home, const std::vector<bool>& allowed) noexcept {
    if (!is_left_out<arena_drivers>(platform::step::announcement)) home.sleepers().wake_one_of(allowed);
  }
};

// The entry that another worker has given to this one, which had asked it by name.
struct own_mailbox {
  static constexpr char name[] = "mailbox";
  static constexpr unsigned taken = fair_alternately | after_slice | search | inactive | caller;
  static constexpr unsigned asked = always;
  static constexpr taker by = taker::thieves;
  static entry take(worker& w, place, policy::effort) noexcept { return w.home.host().take_given(w.rank, w.rank); }
  static bool may_find(const worker& w, question) noexcept { return w.home.host().has_given(w.rank); }
  // [ask:7]. By the worker that has given, after the exchange that has filled the mailbox of worker `rank`.
  static void announce(runtime& home, unsigned rank) noexcept {
    if (is_left_out<own_mailbox>(platform::step::announcement)) return;
    if (!home.sleepers().wake(rank)) home.sleepers().wake_thief_of(rank);
  }
};

// The tasks in queues of the policy's own, and all that it finds at other workers: their forks, ready threads and
// mailboxes. It is asked after all other rows, because its answer may take time.
struct policy_work {
  static constexpr char name[] = "policy";
  static constexpr unsigned taken = choice | after_slice | search | caller | substitute;
  static constexpr unsigned asked = before_sleep | leaving_search | giving_back;  // it may use what is the worker's own
  static constexpr taker by = taker::policy;
  static entry take(worker& w, place at, policy::effort how) noexcept {
    if (at == substitute) return w.home.substitutes().rob(w);  // the policy does not know it
    policy_host& host = w.home.host();
    policy::policy& scheduler = host.scheduler_policy();
    if (at == search) {
      if (const entry item = host.take_told_of(w.rank); item != 0) return item;
    }
    if (at == search || at == caller) return scheduler.acquire(w.rank, how);
    if (!host.wants().picks) return 0;
    if (at == after_slice) {  // both: what only the first one gives would wait behind ready threads for ever
      if (const entry item = scheduler.pick(w.rank, false); item != 0) return item;
    }
    return scheduler.pick(w.rank, true);
  }
  // Before a sleep it answers for all that it could find. At other moments it answers for what it holds itself, because
  // the queues of other workers are looked at one by one there.
  static bool may_find(const worker& w, question at) noexcept {
    policy_host& host = w.home.host();
    if (at == before_sleep && platform::is_under_way(w.rank)) return true;  // so that the answer is looked for
    return (at == before_sleep || host.wants().picks) && host.scheduler_policy().may_find(w.rank);
  }
  static bool is_announced() noexcept { return !is_left_out<policy_work>(platform::step::announcement); }
};

// While threads are packed, the ready threads in pools that other workers serve.
struct other_pools {
  using part_of = pool_threads;
  static constexpr unsigned taken = search | substitute;
  static entry take(worker& w, place, policy::effort) noexcept {
    return w.home.capacity().pools().in_force() ? entry_or_none(w.take_from_any_pool()) : 0;
  }
};

// Threads below the normal level. Before one of them runs, what others have of the normal level is taken without their
// help.
struct lower_levels {
  using part_of = level_threads;
  static constexpr unsigned taken = search | substitute;
  static entry take(worker& w, place at, policy::effort how) noexcept {
    if (!w.home.levels().any_low(lowest_level) && w.pinned.empty()) [[likely]]
      return 0;
    if (at != substitute && how != policy::effort::insist && w.home.host().scheduler_policy().may_find(w.rank)) {
      constexpr auto more = policy::effort::insist;
      if (const entry item = w.home.host().scheduler_policy().acquire(w.rank, more); item != 0) return item;
    }
    return entry_or_none(w.take_low(lowest_level));
  }
};

// --- the list --------------------------------------------------------------------------------------------------------

template <class... Source>
struct list {
  // Calls f.operator()<Source>() for each, until one returns true. Returns whether one did.
  template <class F>
  [[gnu::always_inline]] static bool until(F&& f) {
    return (f.template operator()<Source>() || ...);
  }
};

using all = list<level_threads, pinned_here, gang_threads, policy_first, own_queue, pool_threads, inbox_threads,
                 ready_threads, own_mailbox, submitted_jobs, arena_drivers, policy_work, other_pools, lower_levels>;

// The first entry that a source gives at that place, or 0 if none has any.
template <place At>
[[gnu::always_inline]] inline entry take(worker& w, policy::effort how = policy::effort::glance) noexcept {
  entry item = 0;
  all::until([&]<class Source>() __attribute__((always_inline)) {
    if constexpr ((Source::taken & At) != 0) item = Source::take(w, At, how);
    return item != 0;
  });
  return item;
}

// Whether a source has something for that worker. The policy is asked last.
template <question At>
[[gnu::always_inline]] inline bool any(const worker& w) noexcept {
  const auto has = [&]<class Source>() __attribute__((always_inline)) {
    if constexpr (part<Source>) {
      return false;
    } else {
      static_assert((Source::asked & before_sleep) != 0, "[source:2]: each source answers before a sleep");
      if constexpr ((Source::asked & At) == 0) return false;
      else if (At == before_sleep && is_left_out<Source>(platform::step::last_look)) return false;
      else return Source::may_find(w, At);
    }
  };
  const auto is_of_policy = []<class Source>() {
    if constexpr (part<Source>) return false;
    else return Source::by == taker::policy;
  };
  return all::until([&]<class Source>() __attribute__((always_inline)) {
           return !is_of_policy.template operator()<Source>() && has.template operator()<Source>();
         }) ||
         has.template operator()<policy_work>();
}

// Something is there that a foreign kernel thread leaves to the worker's own carrier.
[[gnu::always_inline]] inline bool any_but_for_callers(const worker& w) noexcept {
  return all::until([&]<class Source>() __attribute__((always_inline)) {
    if constexpr (part<Source>) return false;
    else if constexpr ((Source::taken & caller) != 0 || (Source::asked & giving_back) == 0) return false;
    else return Source::may_find(w, giving_back);
  });
}

// Something stands at worker `of` that those may take who may rob it. Exact after a heavy fence, or after a fence for
// what was announced before it; else a hint.
[[gnu::always_inline]] inline bool any_to_rob(const worker& of) noexcept {
  return all::until([&]<class Source>() __attribute__((always_inline)) {
    if constexpr (part<Source>) return false;
    else if constexpr (Source::by != taker::thieves) return false;
    else return Source::may_find(of, leaving_search);
  });
}

// The same of the workers that this one may rob.
inline bool any_to_rob_for(const worker& thief) noexcept {
  runtime& home = thief.home;
  for (unsigned r = 0; r < home.workers(); ++r) {
    if (home.host().may_rob(thief.rank, r) && any_to_rob(home.at(r))) return true;
  }
  return false;
}

// Something is there that anybody may take.
[[gnu::always_inline]] inline bool any_common(const worker& w) noexcept {
  return all::until([&]<class Source>() __attribute__((always_inline)) {
    if constexpr (part<Source>) return false;
    else if constexpr (Source::by != taker::anybody) return false;
    else return Source::may_find(w, leaving_search);
  });
}

}  // namespace heddle::worker::sources
