// The cost of a line of another core: a line that the other core has modified, and a line of which it has a copy and
// that is to be written. Two cores take turns: one writes every line of a small ring, and the other one goes through
// it.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "cli/calibrate/measure.hpp"
#include "cli/calibrate/ring.hpp"
#include "platform/platform.hpp"

namespace heddle::cli::calibrate {
namespace {

constexpr std::size_t lines = 256;  // they fit into the innermost cache of each of the two cores

// Modifies every line but keeps its value. A locked operation waits for the line, so no store buffer hides the time.
[[gnu::noinline]] void* rewrite(void* from) {
  void** at = static_cast<void**>(from);
  for (std::size_t i = 0; i < lines; ++i) {
    void* const next = *at;
    (void)__atomic_exchange_n(at, next, __ATOMIC_SEQ_CST);
    at = static_cast<void**>(next);
  }
  return at;
}

template <class F>
double a_line(F&& pass) {
  const auto begin = platform::now();
  pass();
  return static_cast<double>(platform::now() - begin) / static_cast<double>(lines);
}

struct costs_between {
  double transfer, upgrade;
};

costs_between measure_between(int first, int second, std::size_t line, const effort& how) {
  const buffer memory(lines * line);
  void* const ring = make_ring(memory.data(), lines * line, line);
  enum class turn : unsigned { first, second_writes, second_reads, nobody };
  alignas(128) std::atomic<turn> whose{turn::first};
  const auto other = [&] {
    while (true) {
      const turn now = whose.load();
      if (now == turn::nobody) return;
      if (now == turn::first) {
        platform::yield_processor();
        continue;
      }
      if (now == turn::second_writes) rewrite(ring);
      else chase(ring, lines);
      whose.store(turn::first);
    }
  };
  costs_between made{};
  const auto measure = [&] {
    const auto there = [&](turn what) {
      whose.store(what);
      while (whose.load() != turn::first) platform::yield_processor();
    };
    const unsigned runs = 4 * how.runs;
    made.transfer = quiet_time(runs, [&] {
      there(turn::second_writes);
      return a_line([&] { chase(ring, lines); });
    });
    made.upgrade = quiet_time(runs, [&] {
      // Both read the modified lines, because a modified line may move as a whole to the first core that reads it.
      there(turn::second_writes);
      chase(ring, lines);
      there(turn::second_reads);
      const double shared = a_line([&] { rewrite(ring); });
      return std::max(0.0, shared - a_line([&] { rewrite(ring); }));
    });
    whose.store(turn::nobody);
  };
  {
    const helper on_second(second, other), on_first(first, measure);
  }
  return made;
}

}  // namespace

std::string where_they_meet(const machine::topology& here, int first, int second) {
  const auto units = here.units();
  const auto place_of = [&](int number) {
    return static_cast<unsigned>(
        std::find_if(units.begin(), units.end(), [&](const auto& u) { return u.number == number; }) - units.begin());
  };
  const unsigned a = place_of(first), b = place_of(second);
  for (const machine::cache_info& c : here.caches()) {
    const auto serves = [&](unsigned place) { return place >= c.first_unit && place < c.last_unit; };
    if (serves(a) && serves(b)) return fmt::format("cache.{}", machine::name(c.kind));
  }
  return units[a].numa == units[b].numa ? "memory" : "links";
}

figures measure_transfers(const machine::topology& here, const std::vector<int>& units, const effort& how) {
  std::size_t line = 64;
  for (const machine::cache_info& c : here.caches()) line = std::max<std::size_t>(line, c.line_size);
  figures made;
  for (std::size_t i = 1; i < units.size(); ++i) {
    const std::string table = where_they_meet(here, units.front(), units[i]);
    if (made.contains(table + ".transfer")) continue;
    const costs_between costs = measure_between(units.front(), units[i], line, how);
    made[table + ".transfer"] = costs.transfer;
    made[table + ".upgrade"] = costs.upgrade;
  }
  return made;
}

}  // namespace heddle::cli::calibrate
