// The states of the split_request protocol, for model.hpp, and what changes them.
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

}  // namespace heddle_model
