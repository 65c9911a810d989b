// heddle-cache-replay --l1 BYTES,WAYS,LINE --ll BYTES,WAYS,LINE < trace: sends a trace of valgrind's lackey through the
// memory model. Prints a line for data and one for instructions: references, lines they touch, misses of the first and
// last level, and the number of accesses over two lines that missed both.
#include <fmt/format.h>

#include <cstdio>
#include <cstring>
#include <iostream>

#include "sim/flat_machine.hpp"
#include "sim/memory_model.hpp"
#include "sim/valgrind_trace.hpp"

namespace {

bool read_shape(const char* text, heddle::sim::cache_form& into) {
  unsigned long long bytes = 0;
  int ways = 0;
  unsigned line = 0;
  if (std::sscanf(text, "%llu,%d,%u", &bytes, &ways, &line) != 3) return false;
  into = {into.level, bytes, ways, line};
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  using heddle::machine::group_kind;
  heddle::sim::cache_form first{group_kind::l1, 32768, 8}, last{group_kind::l2, 1048576, 16};
  for (int i = 1; i < argc; i += 2) {
    const bool known = i + 1 < argc && (std::strcmp(argv[i], "--l1") == 0   ? read_shape(argv[i + 1], first)
                                        : std::strcmp(argv[i], "--ll") == 0 ? read_shape(argv[i + 1], last)
                                                                            : false);
    if (!known) {
      std::fputs(
          "usage: heddle-cache-replay --l1 BYTES,WAYS,LINE --ll BYTES,WAYS,LINE < trace of valgrind --tool=lackey "
          "--trace-mem=yes\n",
          stderr);
      return 2;
    }
  }
  using heddle::sim::traced_access;
  constexpr unsigned data = 0, instructions = 1;
  heddle::sim::memory_model model(heddle::sim::two_level_machine(first, last));
  std::uint64_t references[2] = {}, twice_first[2] = {}, twice_last[2] = {};
  std::ios::sync_with_stdio(false);
  heddle::sim::read_trace(std::cin, [&](const traced_access& a) {
    const unsigned unit = a.what == traced_access::kind::instruction ? instructions : data;
    const bool writes = a.what == traced_access::kind::store || a.what == traced_access::kind::modify;
    ++references[unit];
    if (a.address / first.line == (a.address + a.bytes - 1) / first.line) {
      model.access(unit, a.address, a.bytes, writes, 0);
      return;
    }
    // Cachegrind counts one miss when both lines of an access miss.
    const auto before = model.levels_of(unit);
    model.access(unit, a.address, a.bytes, writes, 0);
    const auto after = model.levels_of(unit);
    twice_first[unit] += after[0].misses - before[0].misses > 1 ? 1 : 0;
    twice_last[unit] += after[1].misses - before[1].misses > 1 ? 1 : 0;
  });
  for (const unsigned unit : {data, instructions}) {
    const auto levels = model.levels_of(unit);
    fmt::print("{} references {} lines {} first_misses {} last_misses {} twice_first {} twice_last {}\n",
               unit == data ? "data" : "instructions", references[unit], levels[0].accesses, levels[0].misses,
               levels[1].misses, twice_first[unit], twice_last[unit]);
  }
}
