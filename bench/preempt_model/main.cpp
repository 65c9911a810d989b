// heddle-preempt-model run|cost|barrier|packing|insitu|gemm|cholesky|messages: experiments of Section 3 of S. Shiina's
// thesis, and one graph of Bak et al. (docs/papers.md), small enough for the simulator, which is told what they cost;
// elsewhere they really compute. Rows of JSON as `heddle bench` writes them. README.md says what each measures.
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <CLI/CLI.hpp>
#include <heddle/cost.hpp>
#include <heddle/heddle.hpp>
#include <heddle/pause.hpp>
#include <nlohmann/json.hpp>

#include "model.hpp"

using namespace heddle::preempt_model;

namespace {

double makers_turn_us = 1;

const char* unit_of(const std::string& metric) {
  return metric == "tick" || metric == "preemption" || metric == "gap" ? "us" : "s";
}

double median(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end());
  return v[v.size() / 2];
}

void pass(std::vector<std::uint64_t>& array, bool write) {
  const std::size_t bytes = array.size() * sizeof array[0];
  if (write) heddle::cost::write(array.data(), bytes);
  else heddle::cost::read(array.data(), bytes);
  if (simulated()) return heddle::cost::cycles(static_cast<double>(bytes) / 16);
  std::uint64_t sum = 0;
  for (std::uint64_t& v : array) sum += write ? v++ : v;
  volatile std::uint64_t keep = sum;
  static_cast<void>(keep);
}

struct spent {
  double all = 0;  // from the first thread's beginning to the last one's end
  double sum = 0;  // of the threads' own times
};

// Calls body(i) on `count` threads at once, as many on each worker. A thread that is not preemptive waits on each
// worker until there is one on all, and makes the others.
template <class F>
spent on_threads(heddle::runtime& home, const std::string& technique, unsigned count, F&& body) {
  std::vector<double> begins(count), ends(count);
  const unsigned makers = std::min(static_cast<unsigned>(home.active_workers()), count);
  std::atomic<unsigned> there{0};
  heddle::thread_options plain, t;
  plain.where = t.where = &home;
  plain.preemption = heddle::preemption::none;
  t.preemption = technique_of(technique);
  home.run([&] {
    std::vector<heddle::thread> all;
    for (unsigned m = 0; m < makers; ++m) {
      all.emplace_back(plain, [&, m] {
        there.fetch_add(1);
        while (there.load() < makers) wait_a_turn(makers_turn_us);
        std::vector<heddle::thread> mine;
        // This thread is for a worker that asked this one for something while it had nothing to do; the other threads
        // stay.
        mine.emplace_back(plain, [] {});
        for (unsigned i = m; i < count; i += makers) {
          mine.emplace_back(t, [&, i] {
            begins[i] = seconds();
            body(i);
            ends[i] = seconds();
          });
        }
        for (heddle::thread& one : mine) one.join();
      });
    }
    for (heddle::thread& one : all) one.join();
  });
  spent s;
  s.all = *std::max_element(ends.begin(), ends.end()) - *std::min_element(begins.begin(), begins.end());
  for (unsigned i = 0; i < count; ++i) s.sum += ends[i] - begins[i];
  return s;
}

// Threads that compute, or go over their arrays, with preemption and without.
samples run(const settings& s) {
  samples got;
  const unsigned count = s.workers * s.threads;
  std::vector<std::vector<std::uint64_t>> arrays(s.array_kb > 0 ? count : 0);
  for (auto& array : arrays) array.assign(static_cast<std::size_t>(s.array_kb * 1024 / sizeof(std::uint64_t)), 1);
  const auto work = [&](unsigned i) {
    if (arrays.empty()) return compute(s.ms, i);
    for (unsigned p = 0; p < s.passes; ++p) pass(arrays[i], s.write);
  };
  settings plain = s;
  plain.technique = "none";
  for (unsigned r = 0; r < s.repeats; ++r) {
    // The pages' first touch, and kernel threads that are made when they are first needed, belong to neither
    // measurement.
    const auto base = runtime_for(plain);
    if (!arrays.empty()) on_threads(*base, "none", count, [&](unsigned i) { pass(arrays[i], false); });
    const spent without = on_threads(*base, "none", count, work);
    const auto home = runtime_for(s);
    if (s.technique == "klt_switching") {
      on_threads(*home, s.technique, count, [&](unsigned i) { compute(std::min(s.ms, 4 * s.interval_us / 1000), i); });
    }
    if (!arrays.empty()) on_threads(*home, "none", count, [&](unsigned i) { pass(arrays[i], false); });
    const heddle::runtime_statistics before = home->statistics();
    const spent with = on_threads(*home, s.technique, count, work);
    const heddle::runtime_statistics after = home->statistics();
    got["time"].push_back(with.all);
    got["base"].push_back(without.all);
    got["ratio"].push_back(with.all / without.all);
    got["overhead"].push_back(with.all / without.all - 1);
    // With one thread a worker each tells its own loss.
    const double lost = (s.threads == 1 ? with.sum - without.sum : (with.all - without.all) * s.workers) * 1e6;
    got["tick"].push_back(lost / static_cast<double>(std::max<std::uint64_t>(after.ticks - before.ticks, 1)));
    got["preemption"].push_back(
        lost / static_cast<double>(std::max<std::uint64_t>(after.preemptions - before.preemptions, 1)));
  }
  return got;
}

// Two threads on one processor look at the clock all the time. The figure is the time between the last look of one and
// the first of the other.
samples cost(const settings& given) {
  settings s = given;
  s.workers = 1;
  s.threads = 2;
  if (by_kernel_threads(s) && !simulated()) {
    cpu_set_t allowed, one;
    sched_getaffinity(0, sizeof allowed, &allowed);
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu) {
      if (CPU_ISSET(cpu, &allowed)) CPU_SET(cpu, &one);
    }
    sched_setaffinity(0, sizeof one, &one);
  }
  const auto home = runtime_for(s);
  const unsigned wanted = simulated() ? 100 : 1000;
  std::vector<double> gaps;
  gaps.reserve(wanted + 2);
  std::atomic<std::int64_t> last{0};  // nanoseconds, with the lowest bit for who
  std::atomic<bool> done{false};
  on_threads(*home, s.technique, 2, [&](unsigned who) {
    std::int64_t before = last.load(std::memory_order_relaxed);
    while (!done.load(std::memory_order_relaxed)) {
      const std::int64_t now = std::chrono::steady_clock::now().time_since_epoch().count() << 1 | who;
      if (last.compare_exchange_strong(before, now, std::memory_order_relaxed)) {
        before = now;
      } else if (before != 0 && static_cast<unsigned>(before & 1) != who) {
        gaps.push_back(
            static_cast<double>((std::chrono::steady_clock::now().time_since_epoch().count() - (before >> 1))) / 1e3);
        if (gaps.size() >= wanted) done.store(true);
      }
    }
  });
  samples got;
  got["gap"].push_back(median(gaps));
  return got;
}

// Threads that meet by spinning: the time of a barrier divided by the number of the worker's other threads that have
// their time slices meanwhile.
samples barrier(const settings& s) {
  samples got;
  const unsigned count = s.workers * s.threads;
  for (unsigned r = 0; r < s.repeats; ++r) {
    const auto home = runtime_for(s);
    std::atomic<unsigned> arrived{0}, phase{0};
    const auto meet = [&](unsigned barriers) {
      return on_threads(*home, s.technique, count, [&](unsigned) {
        for (unsigned b = 0; b < barriers; ++b) {
          const unsigned now = phase.load();
          if (arrived.fetch_add(1) == count - 1) {
            arrived.store(0);
            phase.store(now + 1);
          }
          while (phase.load() == now) wait_a_turn(s.turn_us);
        }
      });
    };
    meet(2);
    got["barrier"].push_back(meet(s.barriers).all / (std::max(s.threads, 2u) - 1) / s.barriers);
  }
  return got;
}

// As many equal threads as workers, on some of them: the time over that of all workers, and that over the ideal.
samples packing(const settings& s) {
  samples got;
  for (unsigned r = 0; r < s.repeats; ++r) {
    const auto home = runtime_for(s);
    const auto work = [&](unsigned i) { compute(s.ms, i); };
    on_threads(*home, s.technique, s.workers, work);
    const double all = on_threads(*home, s.technique, s.workers, work).all;
    home->set_active_workers(s.active);
    const double some = on_threads(*home, s.technique, s.workers, work).all;
    got["packed"].push_back(some / all);
    got["over_ideal"].push_back(some / all * s.active / s.workers);
  }
  return got;
}

// Returns the seconds of a simulation until its last step has ended. *all is the time until the last analysis has
// ended, too.
double steps_with_analyses(const settings& s, double analysis_us, double* all) {
  const auto home = runtime_for(s);
  heddle::thread_options simulation, analysis;
  simulation.where = analysis.where = home.get();
  simulation.preemption = heddle::preemption::none;
  analysis.preemption = technique_of(s.technique);
  if (s.priorities) {
    simulation.priority = heddle::priority::high;
    analysis.priority = heddle::priority::low;
  }
  const unsigned analysts = std::max(1u, s.workers - 1) * s.pieces;
  double took = 0;
  heddle::thread(simulation, [&] {
    std::vector<heddle::thread> queue;
    const double begin = seconds();
    for (unsigned step = 0; step < s.steps; ++step) {
      compute(s.serial_us / 1000, step);
      std::vector<heddle::thread> region;
      for (unsigned w = 1; w < s.workers; ++w)
        region.emplace_back(simulation, [&s, w] { compute(s.region_us / 1000, w); });
      compute(s.region_us / 1000, step);
      for (heddle::thread& one : region) one.join();
      if (analysis_us > 0 && step % s.every == 0) {
        for (unsigned a = 0; a < analysts; ++a)
          queue.emplace_back(analysis, [&s, a, analysis_us] { compute(analysis_us / 1000 / s.pieces, a); });
      }
      compute(s.gap_us / 1000, step);
    }
    took = seconds() - begin;
    for (heddle::thread& one : queue) one.join();
    *all = seconds() - begin;
  }).join();
  return took;
}

// Returns the time of a simulation with analyses beside it, divided by that of the simulation alone.
samples insitu(const settings& s) {
  samples got;
  for (unsigned r = 0; r < s.repeats; ++r) {
    double all = 0;
    const double alone = steps_with_analyses(s, 0, &all);
    const double with = steps_with_analyses(s, s.analysis_us, &all);
    got["alone"].push_back(alone);
    got["slowdown"].push_back(with / alone);
    got["slowdown_all"].push_back(all / alone);
  }
  return got;
}

using measurement = samples (*)(const settings&);

const std::map<std::string, measurement> measurements{
    {"run", run},   {"cost", cost},         {"barrier", barrier}, {"packing", packing},   {"insitu", insitu},
    {"gemm", gemm}, {"cholesky", cholesky}, {"panels", panels},   {"messages", messages},
};

void define(CLI::App& app, std::string& what, settings& s) {
  const CLI::Range count(1u, 1'000'000u), time(0.0, 1e9);
  app.add_option("measurement", what, "what is measured")->required()->check(CLI::IsMember(measurements));
  app.add_option("--workers", s.workers)->check(CLI::Range(1u, 4096u));
  app.add_option("--threads", s.threads, "of each worker")->check(count);
  app.add_option("--active", s.active, "packing: workers that stay active; all if not given")->check(count);
  app.add_option("--technique", s.technique, "threads: 1:1 threads")
      ->check(CLI::IsMember({"none", "signal_yield", "klt_switching", "threads"}));
  app.add_option("--klt", s.klt, "where KLT-switching takes its kernel threads from");
  app.add_option("--timer", s.timer, "which timers are set");
  app.add_option("--interval-us", s.interval_us, "from tick to tick")->check(time);
  app.add_option("--ms", s.ms, "a thread computes so long")->check(time);
  app.add_option("--array-kb", s.array_kb, "of a thread that passes over an array")->check(time);
  app.add_option("--passes", s.passes, "over the array");
  app.add_option("--write", s.write, "whether a pass writes")->type_name("0|1");
  app.add_option("--barriers", s.barriers)->check(count);
  app.add_option("--turn-us", s.turn_us, "of a loop that waits, as the simulator is told")->check(time);
  app.add_option("--steps", s.steps, "of a simulation with analyses")->check(count);
  app.add_option("--serial-us", s.serial_us, "its one thread moves atoms")->check(time);
  app.add_option("--region-us", s.region_us, "a thread on each worker computes")->check(time);
  app.add_option("--gap-us", s.gap_us, "its one thread waits for messages")->check(time);
  app.add_option("--every", s.every, "steps from one analysis to the next")->check(count);
  app.add_option("--analysis-us", s.analysis_us, "on each worker but one; 0: none")->check(time);
  app.add_option("--pieces", s.pieces, "into which each analysis is divided")->check(count);
  app.add_option("--outer", s.outer, "operations at once")->check(count);
  app.add_option("--inner", s.inner, "threads of each")->check(count);
  app.add_option("--phases", s.phases, "of an operation")->check(count);
  app.add_option("--operation-us", s.operation_us, "of one thread alone")->check(time);
  app.add_option("--tiles", s.tiles, "rows of tiles, or block columns")->check(count);
  app.add_option("--gangs", s.gangs, "whether threads of panels are gangs")->type_name("0|1");
  app.add_option("--waits", s.waits, "how threads of an operation wait")
      ->check(CLI::IsMember({"spin", "yield", "park"}));
  app.add_option("--priorities", s.priorities, "whether the simulation goes first")->type_name("0|1");
  app.add_option("--repeat", s.repeats)->check(count);
  app.add_option("--policy", s.policy, "a name for the rows");
  app.add_option("--rivals", "as heddle bench has it; there are none")->expected(1);
  app.add_option("--json", s.json, "the file for the rows");
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Experiments of Section 3 of S. Shiina's thesis, small enough for the simulator");
  std::string what;
  settings s;
  define(app, what, s);
  CLI11_PARSE(app, argc, argv);
  if (s.active == 0) s.active = s.workers;
  makers_turn_us = std::max(1.0, s.turn_us);
  if (by_kernel_threads(s) && what == "insitu") {
    std::fprintf(stderr, "heddle-preempt-model: insitu: no technique threads\n");
    return 2;
  }
  if (!simulated()) {
    const double begin = seconds();
    volatile std::uint64_t keep = rounds(20'000'000, 1);
    static_cast<void>(keep);
    rounds_a_ms = 20'000'000 / ((seconds() - begin) * 1e3);
  }
  samples got;
  try {
    got = measurements.at(what)(s);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "heddle-preempt-model: %s\n", e.what());
    return 1;
  }
  auto rows = nlohmann::json::array();
  for (const auto& [metric, values] : got) {
    rows.push_back({{"runtime", "heddle"},
                    {"policy", s.policy},
                    {"metric", metric},
                    {"unit", unit_of(metric)},
                    {"checked", true},
                    {"median", median(values)}});
    std::printf("%-12s %.6g %s\n", metric.c_str(), median(values), unit_of(metric));
  }
  if (!s.json.empty()) {
    std::ofstream(s.json) << nlohmann::json{{"measurement", what}, {"rows", rows}}.dump(1) << "\n";
  }
  return 0;
}
