// The steps between the states of the split_request protocol. model.cpp checks them exhaustively. The steps of the
// owner and the thieves are those of split_request.hpp. A fault can be put in.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "model_state.hpp"

namespace heddle_model {

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
