// heddle-cache-speed [SECONDS [ONLY]]: how many line accesses a second of processor time the memory model serves, for a
// machine of 4 x 16 cores. ONLY: part of a name.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "sim/flat_machine.hpp"
#include "sim/memory_model.hpp"

namespace {

using heddle::sim::memory_model;

constexpr std::uint64_t kB = 1024, MB = 1024 * kB;
constexpr unsigned cores = 64;

// Caches of 4 x Xeon Gold 6130; round figures for the rest.
heddle::machine::model machine() {
  using heddle::machine::group_kind;
  const heddle::sim::cache_form caches[] = {
      {group_kind::l1, 32 * kB, 8}, {group_kind::l2, MB, 16}, {group_kind::l3, 22 * MB, 11}};
  heddle::machine::model m = heddle::sim::bare_machine("pack:4 [numa(memory=64GB)] l3:1 l2:16 l1:1 pu:1", caches);
  m.overlap = 10;
  m.caches = {{group_kind::l1, 1.5}, {group_kind::l2, 5}, {group_kind::l3, 20}};
  for (int node = 0; node < 4; ++node) m.nodes.push_back({node, 80, 100, 6});
  for (int from = 0; from < 4; ++from) {
    for (int to = 0; to < 4; ++to) {
      if (from != to) m.links.push_back({from, to, 60, 20});
    }
  }
  return m;
}

// Processor time of this process, seconds: what the model costs, whatever else runs.
double processor_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

struct measure {
  std::string name;
  // Makes accesses; returns how many lines. `time` is the virtual clock.
  std::function<std::uint64_t(memory_model&, double& time)> round;
};

void report(const measure& what, double seconds) {
  memory_model model(machine());
  double time = 0;
  what.round(model, time);  // page tables and caches warm
  std::vector<double> rates;
  const double end = processor_seconds() + seconds;
  while (processor_seconds() < end || rates.size() < 3) {
    const double begin = processor_seconds();
    const std::uint64_t lines = what.round(model, time);
    rates.push_back(static_cast<double>(lines) / (processor_seconds() - begin));
  }
  std::sort(rates.begin(), rates.end());
  const double median = rates[rates.size() / 2];
  std::string misses;
  for (const auto& level : model.levels()) {
    misses += fmt::format(
        " {:.3f}", level.accesses == 0 ? 0.0 : static_cast<double>(level.misses) / static_cast<double>(level.accesses));
  }
  fmt::print("{:<34}{:>10.1f} M/s {:>8.1f} ns   miss ratios{}   model {} MB\n", what.name, median / 1e6, 1e9 / median,
             misses, model.host_bytes() / MB);
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::strtod(argv[1], nullptr) : 2;
  constexpr std::uint64_t base = 0x7f0000000000;
  heddle::base::random_source rng(1);
  const auto sweep = [](std::uint64_t bytes, bool write) {
    return [=](memory_model& m, double& time) {
      std::uint64_t lines = 0;
      while (lines < 1'000'000) {
        time += m.access(0, base, bytes, write, time);
        lines += bytes / 64;
      }
      return lines;
    };
  };
  const auto random = [&](std::uint64_t bytes, bool write) {
    return [=, &rng](memory_model& m, double& time) {
      constexpr std::uint64_t count = 500'000;
      for (std::uint64_t i = 0; i < count; ++i) {
        const std::uint64_t r = rng.next();
        m.access(static_cast<unsigned>(r % cores), base + ((r >> 8) % bytes & ~63ull), 8, write, time);
        time += 2;
      }
      return count;
    };
  };
  const measure measures[] = {
      {"one core, 4 KB in order, read", sweep(4 * kB, false)},
      {"one core, 4 KB in order, write", sweep(4 * kB, true)},
      {"one core, 16 KB in order, read", sweep(16 * kB, false)},
      {"one core, 16 KB in order, write", sweep(16 * kB, true)},
      {"one core, 512 KB in order, read", sweep(512 * kB, false)},
      {"one core, 8 MB in order, read", sweep(8 * MB, false)},
      {"one core, 256 MB in order, read", sweep(256 * MB, false)},
      {"64 cores, 1 GB at random, read", random(1024 * MB, false)},
      {"64 cores, 1 GB at random, write", random(1024 * MB, true)},
      {"64 cores, 8 MB at random, read", random(8 * MB, false)},
      {"64 cores, 64 KB at random, write", random(64 * kB, true)},
      {"64 cores, 4 MB, 1 write in 8",
       [&](memory_model& m, double& time) {
         constexpr std::uint64_t count = 500'000;
         for (std::uint64_t i = 0; i < count; ++i) {
           const std::uint64_t r = rng.next();
           m.access(static_cast<unsigned>(r % cores), base + ((r >> 16) % (4 * MB) & ~63ull), 8, (r >> 8) % 8 == 0,
                    time);
           time += 2;
         }
         return count;
       }},
      {"64 cores, rows of a 2048^2 grid",
       [](memory_model& m, double& time) {
         constexpr std::uint64_t row = 2048 * 4, rows = 2048;
         std::uint64_t lines = 0;
         for (std::uint64_t i = 1; i + 1 < rows / cores; ++i) {
           double longest = 0;
           for (unsigned core = 0; core < cores; ++core) {
             const std::uint64_t at = base + (core * (rows / cores) + i) * row;
             double took = m.access(core, at - row, 3 * row, false, time);
             took += m.access(core, at + 2048 * row, row, true, time + took);
             longest = std::max(longest, took);
             lines += 4 * row / 64;
           }
           time += longest;
         }
         return lines;
       }},
  };
  for (const measure& m : measures) {
    if (argc < 3 || m.name.find(argv[2]) != std::string::npos) report(m, seconds / std::size(measures));
  }
}
