// Exhaustive check of the split_request protocol: every interleaving of an owner and its thieves,
// the owner behind a FIFO store buffer (x86-TSO), membarrier as "the owner's store buffer was empty
// at some moment". The steps are in model.hpp.
//
// The owner forks and joins in every nested order of up to `operations` operations; each thief
// makes up to `attempts` steal attempts and chooses freely between asking and the last resort.
// Checked: every job is taken exactly once, pop returns false only for a job that a thief took, no
// slot is read that holds no job, no request is lost (a posted request leaves a poison behind while
// the owner is on its fast path), with an address or without.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <unordered_set>
#include <vector>

#include "model.hpp"

namespace {

using namespace heddle_model;

// 128 bits stand for a state: two of 1e8 states collide with a probability of about 1e-22.
struct fingerprint {
  std::uint64_t a, b;
  bool operator==(const fingerprint&) const = default;
};
struct fingerprint_hash {
  std::size_t operator()(const fingerprint& f) const { return f.a; }
};
fingerprint fingerprint_of(const state& s) {
  fingerprint f{0x243f6a8885a308d3u, 0x13198a2e03707344u};
  unsigned char bytes[sizeof s];
  std::memcpy(bytes, &s, sizeof s);
  for (unsigned char c : bytes) {
    f.a = (f.a ^ c) * 0x9e3779b97f4a7c15u;
    f.a ^= f.a >> 29;
    f.b = (f.b + c) * 0xbf58476d1ce4e5b9u;
    f.b ^= f.b >> 32;
  }
  return f;
}

std::size_t explore() {
  state first;
  first.operations = static_cast<std::uint8_t>(option.operations);
  for (int i = 0; i < thieves; ++i) {
    first.thief[i].left = static_cast<std::uint8_t>(option.attempts);
    if (i >= option.thief_count) first.thief[i].pc = t_done;
  }
  std::unordered_set<fingerprint, fingerprint_hash> seen;
  std::vector<state> work{first};
  seen.insert(fingerprint_of(first));
  while (!work.empty()) {
    const state s = work.back();
    work.pop_back();
    check_state(s);
    auto visit = [&](const state& n) {
      if (seen.insert(fingerprint_of(n)).second) work.push_back(n);
    };
    if (s.buffer_size) {
      state n = s;
      drain_one(n);
      visit(n);
    }
    for (int choice = 0; choice < 2; ++choice) {
      bool possible;
      if (s.buffer_size <= 4 && (choice == 0 || s.pc == choose)) {  // no step stores more than four words
        state n = s;
        owner_step(n, choice, possible);
        if (possible) visit(n);
      }
      for (int i = 0; i < option.thief_count; ++i) {
        if (choice == 1 && s.thief[i].pc != t_start && s.thief[i].pc != t_take_cas) continue;
        state n = s;
        thief_step(n, n.thief[i], choice, possible);
        if (possible) visit(n);
      }
    }
  }
  return seen.size();
}

}  // namespace

// model OPERATIONS ATTEMPTS THIEVES CREEP HALF FAULT NAMES
int main(int argc, char** argv) {
  if (argc > 1) option.operations = std::atoi(argv[1]);
  if (argc > 2) option.attempts = std::atoi(argv[2]);
  if (argc > 3) option.thief_count = std::atoi(argv[3]);
  if (argc > 4) option.creep_max = std::atoi(argv[4]);
  if (argc > 5) option.publish_half = std::atoi(argv[5]) != 0;
  if (argc > 6) {
    bool found = false;
    for (int i = 0; i < static_cast<int>(std::size(fault_names)); ++i)
      if (!std::strcmp(argv[6], fault_names[i])) option.broken = static_cast<fault>(i), found = true;
    if (!found || option.thief_count > thieves) {
      std::fprintf(stderr, "unknown fault %s\n", argv[6]);
      return 2;
    }
  }
  if (argc > 7) option.by_name = std::atoi(argv[7]) != 0;
  const std::size_t states = explore();
  std::printf(
      "fault %-20s: %zu states, %d forks, %d thieves with %d attempts each, creep %d, half %d, names %d: no "
      "violation\n",
      fault_names[static_cast<int>(option.broken)], states, option.operations, option.thief_count, option.attempts,
      option.creep_max, option.publish_half, option.by_name);
}
