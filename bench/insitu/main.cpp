// heddle-insitu --lammps FILE [--option value]...: a molecular dynamics simulation with analyses of its atoms beside
// it, as in section 3.3.4 of S. Shiina's thesis. README.md says what it measures. Rows of JSON as `heddle bench` writes
// them.
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <CLI/CLI.hpp>
#include <heddle/heddle.hpp>
#include <nlohmann/json.hpp>

#include "bench/insitu/simulation.hpp"

namespace {

using heddle::bench_insitu::simulation;

struct settings {
  std::string lammps;
  std::string by = "heddle";               // whose threads analyse: heddle's or the kernel's
  std::string technique = "signal_yield";  // none
  bool priorities = true;                  // low, or a nice value
  int threads = 2;                         // of the simulation
  int cells = 16;
  int steps = 50;
  int every = 1;      // steps from one analysis to the next; 0 means none
  int pieces = 1;     // threads of one
  int compared = 60;  // atoms to which each atom of an analysis is compared
  std::string json;
};

struct outcome {
  double last_step = 0, all = 0;  // seconds
  std::vector<double> state;
  std::uint64_t pairs = 0;  // that the analyses counted
};

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// Counts distances of some pairs of atoms by length: a part of a radial distribution. It calls nothing, so that
// signal-yield may preempt it anywhere. Returns the number of pairs that are nearer than half the side.
std::uint64_t count_pairs(const std::vector<double>& at, double side, int piece, int pieces, int compared) {
  const std::size_t atoms = at.size() / 3;
  const std::size_t stride = std::max<std::size_t>(1, atoms / static_cast<std::size_t>(compared));
  std::uint64_t histogram[64] = {};
  for (std::size_t i = static_cast<std::size_t>(piece); i < atoms; i += static_cast<std::size_t>(pieces)) {
    for (std::size_t j = 0; j < atoms; j += stride) {
      double square = 0;
      for (int d = 0; d < 3; ++d) {
        double delta = std::fabs(at[3 * i + d] - at[3 * j + d]);
        if (delta > side / 2) delta = std::fabs(side - delta);
        square += delta * delta;
      }
      const auto bin = static_cast<std::size_t>(std::sqrt(square) / (side / 2) * 64);
      if (bin < 64) ++histogram[bin];
    }
  }
  std::uint64_t sum = 0;
  for (const std::uint64_t n : histogram) sum += n;
  return sum;
}

// Analyses that have begun, by threads of either kind.
class analyses {
 public:
  explicit analyses(const settings& s) : s_(s) {}

  void begin(std::vector<double> positions, double side) {
    const auto shared = std::make_shared<const std::vector<double>>(std::move(positions));
    for (int piece = 0; piece < s_.pieces; ++piece) {
      const auto body = [this, shared, side, piece] {
        pairs_.fetch_add(count_pairs(*shared, side, piece, s_.pieces, s_.compared));
      };
      if (s_.by == "kernel") {
        by_kernel_.emplace_back([this, body] {
          // Linux: of the thread, not of the process. The same nice value as the thesis's "niceness": the lowest.
          if (s_.priorities) setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), 19);
          body();
        });
        continue;
      }
      heddle::thread_options o;
      o.preemption = s_.technique == "none" ? heddle::preemption::none : heddle::preemption::signal_yield;
      o.priority = s_.priorities ? heddle::priority::low : heddle::priority::normal;
      by_heddle_.emplace_back(o, body);
    }
  }
  std::uint64_t end() {
    for (heddle::thread& one : by_heddle_) one.join();
    for (std::thread& one : by_kernel_) one.join();
    return pairs_.load();
  }

 private:
  const settings& s_;
  std::atomic<std::uint64_t> pairs_{0};
  std::vector<heddle::thread> by_heddle_;
  std::vector<std::thread> by_kernel_;
};

outcome run(const settings& s) {
  outcome got;
  simulation melt(s.lammps, s.cells, s.threads);
  for (int i = 0; i < 5; ++i) melt.step();  // threads are made, and caches filled
  analyses beside(s);
  const double begin = seconds();
  for (int step = 0; step < s.steps; ++step) {
    melt.step();
    if (s.every > 0 && step % s.every == 0) beside.begin(melt.positions(), melt.side());
  }
  got.last_step = seconds() - begin;
  got.pairs = beside.end();
  got.all = seconds() - begin;
  got.state = melt.state();
  return got;
}

void define(CLI::App& app, settings& s) {
  app.add_option("--lammps", s.lammps, "liblammps.so")->required()->check(CLI::ExistingFile);
  app.add_option("--by", s.by, "whose threads analyse")->check(CLI::IsMember({"heddle", "kernel"}));
  app.add_option("--technique", s.technique, "how they are preempted")->check(CLI::IsMember({"signal_yield", "none"}));
  app.add_option("--priorities", s.priorities, "whether the simulation goes first")->type_name("0|1");
  app.add_option("--threads", s.threads, "of the simulation")->check(CLI::Range(1, 4096));
  app.add_option("--cells", s.cells, "of the melt, in each direction")->check(CLI::Range(1, 1000));
  app.add_option("--steps", s.steps, "of the simulation")->check(CLI::Range(1, 1'000'000));
  app.add_option("--every", s.every, "steps from one analysis to the next; 0: none")->check(CLI::Range(0, 1'000'000));
  app.add_option("--pieces", s.pieces, "threads of an analysis")->check(CLI::Range(1, 4096));
  app.add_option("--compared", s.compared, "atoms to which each atom is compared")->check(CLI::Range(1, 1'000'000));
  app.add_option("--json", s.json, "the file for the figures");
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("A molecular dynamics simulation with analyses of its atoms beside it");
  settings s;
  define(app, s);
  CLI11_PARSE(app, argc, argv);
  outcome got;
  try {
    if (s.by == "kernel") {
      got = run(s);
    } else {
      // A user-level thread, so that the simulation's first thread has a worker like all others.
      heddle::thread_options o;
      o.tls = heddle::tls::own;
      o.stack_size = std::size_t{8} << 20;
      o.priority = s.priorities ? heddle::priority::high : heddle::priority::normal;
      heddle::thread(o, [&] { got = run(s); }).join();
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "heddle-insitu: %s\n", e.what());
    return 3;
  }
  std::printf("last step %.6g s, all %.6g s\ntemperature %.15g, potential energy %.15g, pairs %llu\n", got.last_step,
              got.all, got.state[0], got.state[1], static_cast<unsigned long long>(got.pairs));
  if (!s.json.empty()) {
    const nlohmann::json figures{
        {"last_step", got.last_step}, {"all", got.all}, {"temperature", got.state[0]}, {"pairs", got.pairs}};
    std::ofstream(s.json) << figures.dump() << "\n";
  }
  return 0;
}
