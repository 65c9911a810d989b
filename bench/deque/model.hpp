// The states of the split_request protocol and the steps between them. model.cpp checks them exhaustively. The steps of
// the owner and the thieves are those of split_request.hpp. A fault can be put in.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <type_traits>

namespace heddle_model {

enum class fault {
  none,
  no_membarrier,
  no_poison,
  no_bottom_check,
  no_tag,
  guard_after_cas,
  bottom_after_reset,
  leave_after_failed_commit,
  names_do_not_stand,
  name_after_flag
};
inline constexpr const char* fault_names[] = {"none",
                                              "no_membarrier",
                                              "no_poison",
                                              "no_bottom_check",
                                              "no_tag",
                                              "guard_after_cas",
                                              "bottom_after_reset",
                                              "leave_after_failed_commit",
                                              "names_do_not_stand",
                                              "name_after_flag"};

constexpr int slot_count = 8, max_jobs = 8, thieves = 2;
constexpr std::uint8_t nowhere = 100;

struct options {
  int operations = 5, attempts = 2, thief_count = 1, creep_max = 0;
  bool publish_half = false;
  bool by_name = false;  // thieves ask with their address: [ask:1] to [ask:4] of src/queue/README.md
  fault broken = fault::none;
};
inline options option;

struct word {  // public_
  std::uint8_t tag = 0, count = 0, top = 0, pad = 0;
  bool operator==(const word& o) const { return tag == o.tag && count == o.count && top == o.top; }
};
enum location : std::uint8_t { l_bottom, l_guard, l_limit, l_request, l_slot };  // l_slot + i: slot i

struct buffered {
  std::uint8_t where = 0, value = 0;
};
enum owner_pc : std::uint8_t {
  choose,
  push_limit,
  pop_guard,
  slow_request,
  slow_public,
  slow_cas,
  slow_late,
  slow_hungry,
  slow_settle,
  settle_public,
  settle_limit,
  names_read,
  names_take,
  names_cas,
  names_back,
  names_end,
  finished
};
enum thief_pc : std::uint8_t {
  t_start,
  t_take,
  t_take_slot,
  t_take_cas,
  n_bit,
  n_flag,
  n_late_bit,
  a_request,
  a_exchange,
  a_guard,
  a_limit,
  r_public,
  r_bottom,
  r_guard,
  r_barrier,
  r_end,
  r_slot,
  r_cas,
  t_done
};

struct thief_state {
  thief_pc pc = t_start;
  std::uint8_t left = 0, job = 0, end = 0;
  word x;
};
struct state {
  std::array<std::uint8_t, l_slot + slot_count> memory{};
  word shared;
  std::array<buffered, 8> buffer{};
  std::uint8_t buffer_size = 0;
  owner_pc pc = choose;
  std::uint8_t operations = 0, jobs = 0, depth = 0;
  std::array<std::uint8_t, max_jobs> stack_job{}, stack_place{};
  std::uint8_t is_pop = 0, at = 0, end = 0, wanted = 0, hungry = 0, result = 0, seen_settle = 0, late_guard = 0,
               failed = 0;
  std::uint8_t asked = 0, bits = 0, gave = 0, answering = 0;  // the set of askers; what the owner has taken out of it
  word x, next;
  std::array<std::uint8_t, max_jobs + 1> taken{};
  std::array<thief_state, thieves> thief;
};
static_assert(std::is_trivially_copyable_v<state>);

[[noreturn]] inline void violation(const char* what) {
  std::printf("fault %-20s: VIOLATION %s\n", fault_names[static_cast<int>(option.broken)], what);
  std::exit(1);
}

inline std::uint8_t own(const state& s, std::uint8_t where) {
  for (int i = s.buffer_size; i-- > 0;)
    if (s.buffer[i].where == where) return s.buffer[i].value;
  return s.memory[where];
}
inline void store(state& s, std::uint8_t where, std::uint8_t value) {
  if (s.buffer_size == s.buffer.size()) std::abort();
  s.buffer[s.buffer_size++] = {where, value};
}
inline void drain_one(state& s) {
  s.memory[s.buffer[0].where] = s.buffer[0].value;
  for (int i = 1; i < s.buffer_size; ++i) s.buffer[i - 1] = s.buffer[i];
  s.buffer[--s.buffer_size] = {};
}
inline void take(state& s, std::uint8_t job) {
  if (job == 0) violation("an empty slot was taken");
  if (s.taken[job]++) violation("a job was taken twice");
}
inline void leave_slow(state& s) {
  s.pc = choose;
  s.failed = s.gave = s.answering = s.bits = 0;
  if (!s.is_pop) return;
  const std::uint8_t job = s.stack_job[--s.depth];
  if (s.result) take(s, job);
  else if (!s.taken[job]) violation("pop said stolen, but nobody has the job");
}
// The slow path, or the settling after the owner's own take, is over. An owner that has answered a flag looks at the
// names.
inline void end_settling(state& s) {
  if (s.answering) s.pc = names_back;
  else if (option.by_name && s.gave) s.pc = names_read;
  else leave_slow(s);
}
// One try of the owner to settle the state x: what pop_slow, push_slow and settle do before their
// CAS.
inline void prepare(state& s) {
  const word x = s.x;
  const std::uint8_t t = x.top, split = t + x.count;
  word next = x;
  if (option.broken != fault::no_tag) ++next.tag;
  s.hungry = 0;
  s.result = 1;
  auto answer = [&](std::uint8_t end) {
    const std::uint8_t n = end - split;
    const std::uint8_t k = s.wanted ? (option.publish_half ? (n + 1) / 2 : n != 0) : 0;
    next.count = x.count + k;
    s.hungry = s.wanted && next.count == 0;
    s.end = end;
    if (s.wanted && !s.hungry) s.gave = 1;
  };
  std::uint8_t late_bottom = nowhere;
  if (!s.is_pop || s.seen_settle) {
    answer(s.end);
    s.result = s.seen_settle ? s.result : 1;
  } else if (split <= s.at) {
    answer(s.at);
  } else if (t <= s.at) {
    next.count = (s.at - t + 1) / 2;
    s.hungry = s.wanted && next.count == 0;
    if (s.wanted && !s.hungry) s.gave = 1;
    s.end = s.at;
  } else {
    s.result = 0;
    if (s.at < option.creep_max && (!s.failed || option.broken == fault::leave_after_failed_commit)) {
      store(s, l_bottom, s.at + 1);
      s.pc = s.wanted ? slow_hungry : choose;
      s.hungry = 2;  // set request again, commit nothing
      if (!s.wanted) leave_slow(s);
      return;
    }
    if (option.broken == fault::bottom_after_reset) late_bottom = 0;
    else store(s, l_bottom, 0);
    next.count = next.top = 0;
    s.hungry = s.wanted;
    s.end = 0;
  }
  s.late_guard = nowhere;
  if (option.broken == fault::guard_after_cas) s.late_guard = next.top + next.count;
  else store(s, l_guard, next.top + next.count);
  store(s, l_limit, s.hungry ? 1 : 0);
  s.next = next;
  s.pc = slow_cas;
  if (late_bottom != nowhere) s.late_guard = 50;  // reuse: bottom is stored after the CAS
}

inline void owner_step(state& s, int choice, bool& possible) {
  possible = true;
  switch (s.pc) {
    case choose:
      s.seen_settle = 0;
      if (choice == 0) {  // fork
        if (s.operations == 0 || s.depth == max_jobs || s.jobs == max_jobs) return void(possible = false);
        --s.operations;
        const std::uint8_t b = own(s, l_bottom), job = ++s.jobs;
        if (b >= slot_count) return void(possible = false);
        store(s, l_slot + b, job);
        store(s, l_bottom, b + 1);
        s.stack_job[s.depth] = job, s.stack_place[s.depth++] = b;
        s.at = b, s.is_pop = 0;
        s.pc = push_limit;
      } else {  // join
        if (s.depth == 0) {
          if (s.operations != 0) return void(possible = false);
          s.pc = finished;
          return;
        }
        const std::uint8_t job = s.stack_job[s.depth - 1], b = s.stack_place[s.depth - 1];
        s.is_pop = 1, s.at = b;
        if (own(s, l_bottom) != b + 1 || own(s, l_slot + b) != job) {
          s.result = 0;
          return leave_slow(s);
        }
        store(s, l_bottom, b);
        s.pc = pop_guard;
      }
      return;
    case push_limit:
      s.pc = choose;
      if (own(s, l_limit)) s.pc = slow_request, s.end = s.at + 1;
      return;
    case pop_guard:
      s.result = 1;
      if (s.at >= own(s, l_guard)) return leave_slow(s);
      s.pc = slow_request;
      return;
    case slow_request:
      s.wanted = own(s, l_request);
      if (s.wanted) store(s, l_request, 0);
      s.pc = slow_public;
      return;
    case slow_public: {
      s.x = s.shared;
      const std::uint8_t kept = s.result;
      prepare(s);
      if (s.seen_settle) s.result = kept;
      return;
    }
    case slow_cas: {
      if (s.buffer_size) return void(possible = false);  // a locked operation drains the buffer first
      if (!(s.shared == s.x)) {
        s.pc = slow_public;
        s.failed = 1;
        return;
      }
      s.shared = s.next;
      s.pc = s.late_guard != nowhere ? slow_late : s.hungry ? slow_hungry : slow_settle;
      return;
    }
    case slow_late:
      if (s.late_guard == 50) store(s, l_bottom, 0);
      else store(s, l_guard, s.late_guard);
      s.pc = s.hungry ? slow_hungry : slow_settle;
      return;
    case slow_hungry:
      if (s.buffer_size) return void(possible = false);
      s.memory[l_request] = 1;
      if (s.hungry == 2) return leave_slow(s);
      s.pc = slow_settle;
      return;
    case slow_settle:
      s.pc = settle_public;
      if (!own(s, l_request)) end_settling(s);
      return;
    case settle_public:
      s.x = s.shared;
      s.pc = settle_limit;
      return;
    case settle_limit:
      if (s.x.count == 0 && s.x.top == s.end && own(s, l_limit)) return end_settling(s);
      s.seen_settle = 1;
      s.pc = slow_request;
      return;
    case names_read:                                     // [ask:3]
      if (s.buffer_size) return void(possible = false);  // an exchange
      s.gave = s.failed = 0;
      s.bits = s.shared.top < own(s, l_bottom) ? s.asked : 0;
      if (s.bits) s.asked = 0;
      s.pc = s.bits ? names_take : names_end;
      return;
    case names_take: {
      const word x = s.x = s.shared;
      const int askers = (s.bits & 1) + (s.bits >> 1 & 1), left = own(s, l_bottom) - x.top;
      const auto count = static_cast<std::uint8_t>(askers < left ? askers : left);
      // Once the limits were stored, a new tag has to follow, also where thieves have taken everything since.
      if (count == 0 && (!s.failed || option.broken == fault::leave_after_failed_commit))
        return void(s.pc = names_back);
      word next = x;
      if (option.broken != fault::no_tag) ++next.tag;
      next.count = x.count > count ? x.count - count : 0;
      next.top += count;
      store(s, l_guard, next.top + next.count);
      store(s, l_limit, 0);
      s.next = next;
      s.pc = names_cas;
      return;
    }
    case names_cas:
      if (s.buffer_size) return void(possible = false);
      if (!(s.shared == s.x)) {
        s.pc = names_take;
        s.failed = 1;
        return;
      }
      s.failed = 0;
      s.shared = s.next;
      for (int i = s.x.top; i < s.next.top; ++i) {
        take(s, s.memory[l_slot + i]);
        s.bits &= s.bits - 1;  // into the box of whoever is first
      }
      s.answering = 1;
      s.end = own(s, l_bottom);
      s.pc = slow_settle;
      return;
    case names_back:
      if (s.buffer_size) return void(possible = false);
      s.asked |= s.bits;
      s.bits = s.answering = 0;
      s.pc = s.gave ? names_read : names_end;
      return;
    case names_end:  // [ask:4]
      if (s.asked && option.broken != fault::names_do_not_stand) {
        store(s, l_request, 1);
        store(s, l_limit, 1);
      }
      leave_slow(s);
      return;
    case finished: possible = false; return;
  }
}

inline void thief_step(state& s, thief_state& t, int choice, bool& possible) {
  possible = true;
  auto end_attempt = [&] { t.pc = --t.left ? t_start : t_done, t.x = {}, t.job = t.end = 0; };
  auto& m = s.memory;
  const auto bit = static_cast<std::uint8_t>(1 << (&t - s.thief.data()));
  switch (t.pc) {
    case t_start:
      t.pc = s.shared.count ? t_take : !choice ? r_public : option.by_name ? n_bit : a_request;
      if (t.pc == n_bit && option.broken == fault::name_after_flag) t.pc = n_flag;
      return;
    case n_bit:  // [ask:1]
    case n_late_bit:
      if (s.asked & bit) return end_attempt();
      s.asked |= bit;
      if (t.pc == n_late_bit) return end_attempt();
      t.pc = n_flag;
      return;
    case n_flag: m[l_request] = 1, t.pc = a_guard; return;
    case t_take:
      t.x = s.shared;
      t.pc = t_take_slot;
      if (t.x.count == 0) end_attempt();
      return;
    case t_take_slot:
      t.job = m[l_slot + t.x.top];
      t.pc = t_take_cas;
      return;
    case t_take_cas:
      if (s.shared == t.x) {
        ++s.shared.top, --s.shared.count;
        take(s, t.job);
        if (t.x.count == 1 && choice) {
          t.pc = a_request;
          return;
        }
      }
      return end_attempt();
    case a_request:
      t.pc = a_exchange;
      if (m[l_request]) end_attempt();
      return;
    case a_exchange:
      if (m[l_request]) return end_attempt();
      m[l_request] = 1;
      t.pc = a_guard;
      return;
    case a_guard: m[l_guard] = nowhere, t.pc = a_limit; return;
    case a_limit:
      m[l_limit] = 1;
      if (option.by_name && option.broken == fault::name_after_flag) return void(t.pc = n_late_bit);
      return end_attempt();
    case r_public:
      t.x = s.shared;
      t.pc = r_bottom;
      if (t.x.count) end_attempt();
      return;
    case r_bottom:
      t.pc = r_guard;
      if (m[l_bottom] <= t.x.top) end_attempt();
      return;
    case r_guard:
      if (option.broken != fault::no_poison) m[l_guard] = nowhere;
      t.pc = r_barrier;
      return;
    case r_barrier:
      if (s.buffer_size && option.broken != fault::no_membarrier) return void(possible = false);
      t.pc = r_end;
      return;
    case r_end:
      t.end = m[l_bottom];
      t.pc = r_slot;
      if (option.broken == fault::no_bottom_check) t.end = t.x.top + 1;
      if (t.end <= t.x.top) end_attempt();
      return;
    case r_slot:
      t.job = m[l_slot + t.x.top];
      t.pc = r_cas;
      return;
    case r_cas:
      if (s.shared == t.x) {
        s.shared.count = t.end - t.x.top - 1;
        ++s.shared.top;
        take(s, t.job);
      }
      return end_attempt();
    case t_done: possible = false; return;
  }
}

inline void check_state(const state& s) {
  bool posting = false;
  for (int i = 0; i < option.thief_count; ++i) {
    const thief_pc pc = s.thief[i].pc;
    posting |= pc == a_guard || pc == a_limit || pc == n_flag;
  }
  if (!posting && s.pc == choose && s.buffer_size == 0 && s.memory[l_request] && !s.memory[l_limit] &&
      s.memory[l_guard] != nowhere && s.shared.count == 0 && s.memory[l_bottom] > s.shared.top)
    violation("a request was lost");
  if (!posting && s.pc == choose && s.buffer_size == 0 && s.asked && !s.memory[l_limit])
    violation("a request with an address was lost");
  if (s.pc == finished && s.buffer_size == 0) {
    for (int j = 1; j <= s.jobs; ++j)
      if (s.taken[j] != 1) violation("a job was not taken");
  }
}

}  // namespace heddle_model
