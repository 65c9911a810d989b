#include "cli/paper/laboratory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>

#include "cli/median.hpp"
#include "cli/paper/figures.hpp"
#include "cli/paper/process.hpp"
#include "cli/paper/program.hpp"
#include "cli/progress.hpp"
#include "cli/sim/process.hpp"
#include "policy/registry.hpp"
#include "trace/file.hpp"

namespace heddle::cli::paper {
namespace {

constexpr unsigned limit_quick = 1800, limit_full = 7200;  // seconds of real time a run, on a busy machine

// Empty, or why this policy is none.
std::string refused(const std::string& name) {
  try {
    (void)policy::make(name);
    return {};
  } catch (const std::invalid_argument& error) {
    const std::string all = error.what();
    return all.substr(0, all.find(';'));  // without the list of those that there are
  }
}

attempt failed(const std::string& why) {
  attempt a;
  a.failure = why;
  return a;
}

std::string here_key(const experiment& e, const program& p, const std::string& policy, bool traced) {
  return e.id + "|" + p.name + "|" + policy + (traced ? "|traced" : "");
}

}  // namespace

struct laboratory::simulation {
  std::string machine;
  unsigned shrink{1};
  bool free_memory{false};
  std::string command;
  std::string metric;
  std::string policy;
  unsigned workers{0};
  bool traced{false};

  [[nodiscard]] std::string key() const {
    return fmt::format("{}|{}|{}|{}|{}|{}|{}|{}", machine, shrink, free_memory, command, metric, policy, workers,
                       traced);
  }
};

laboratory::laboratory(scale s, bool simulates, unsigned real_workers)
    : scale_(s), simulates_(simulates), real_workers_(real_workers) {}
laboratory::~laboratory() = default;

laboratory::simulation laboratory::simulation_of(const experiment& e, const execution& what) const {
  const program& p = program_of(e, what.program);
  const bool serial = what.policy == "serial";
  return {e.machine,
          size_at(p, scale_).shrink,
          what.free_memory,
          command_at(p, scale_),
          p.metric,
          what.policy,
          serial              ? 1
          : what.workers != 0 ? what.workers
                              : e.workers,
          what.traced};
}

std::vector<execution> laboratory::wanted(const experiment& e) const {
  std::set<execution> all;
  for (const measure& m : e.measures) all.insert(m.of.needs().begin(), m.of.needs().end());
  return {all.begin(), all.end()};
}

attempt laboratory::simulate_once(const simulation& s, std::uint64_t seed) const {
  attempt result;
  try {
    sim_setting setting{.machine = machine_variant(s.machine, s.shrink, s.free_memory, folder_),
                        .policy = s.policy,
                        .workers = s.workers,
                        .seed = seed,
                        .charge = "auto",
                        .fast = scale_ == scale::quick,
                        .free_scheduler = s.policy == "serial",
                        .trace = {}};
    if (s.traced) setting.trace = folder_.file("run.heddle");
    const std::string report = folder_.file("run.json");
    std::filesystem::remove(report);
    std::vector<std::string> words = command_words(s.command);
    words.insert(words.end(), {"--repeat", "1", "--json", report});
    const sim_outcome ran =
        simulate(words, setting, shown::captured, scale_ == scale::quick ? limit_quick : limit_full);
    if (ran.late)
      throw unavailable(fmt::format("not over after {} s", scale_ == scale::quick ? limit_quick : limit_full));
    if (ran.status != 0) throw unavailable(last_line(ran.errors, ran.status));
    if (ran.figures.empty()) throw unavailable("nothing was simulated");
    result.got.seconds = seconds_in(report, s.metric, "heddle", std::nullopt);
    result.got.workers = s.workers;
    result.got.counts = counts_from(ran.figures);
    result.got.has_counts = true;
    if (s.traced) result.got.map = task_map(trace::load(setting.trace), nodes_of_workers(s.machine, s.workers));
  } catch (const std::exception& error) {
    result.failure = error.what();
  }
  return result;
}

// Of several seeds the run whose time is the median.
attempt laboratory::simulate_all(const simulation& s) const {
  if (const std::string why = refused(s.policy); !why.empty()) return failed(why);
  std::vector<attempt> runs;
  const bool one = scale_ == scale::quick || s.policy == "serial";
  for (std::uint64_t seed = 42; seed < (one ? 43 : 45); ++seed) {
    runs.push_back(simulate_once(s, seed));
    if (!runs.back().failure.empty()) return runs.back();
  }
  std::sort(runs.begin(), runs.end(), [](const attempt& a, const attempt& b) { return a.got.seconds < b.got.seconds; });
  return runs[runs.size() / 2];
}

// One round: all policies of a program in one run of the command. Traces: in the first.
void laboratory::measure_here(const experiment& e, const program& p, bool first) {
  std::vector<std::string> timed, traced;
  for (const execution& x : wanted(e)) {
    if (x.program != p.name || x.workers != 0 || x.free_memory || (x.traced && !first)) continue;
    attempt& a = measurements_[here_key(e, p, x.policy, x.traced)];
    if (!a.failure.empty()) continue;
    a.failure = refused(x.policy);
    if (a.failure.empty()) (x.traced ? traced : timed).push_back(x.policy);
  }
  const auto run = [&](const std::vector<std::string>& policies, bool with_trace) {
    const std::string report = folder_.file("real.json"), trace = folder_.file("real.heddle");
    std::filesystem::remove(report);
    std::string list;
    for (const std::string& policy : policies) {
      if (policy != "serial") list += (list.empty() ? "" : ",") + policy;
    }
    if (list.empty()) list = "random_ws";
    process::ended ran;
    std::string not_run;
    try {
      std::vector<std::string> words = command_words(p.real);
      words.insert(words.end(), {"--workers", std::to_string(real_workers_), "--policy", list, "--rivals", "none",
                                 "--repeat", "1", "--json", report});
      ran = run_here(words, with_trace ? trace : std::string());
    } catch (const std::runtime_error& error) {
      not_run = error.what();
    }
    for (const std::string& policy : policies) {
      attempt& a = measurements_[here_key(e, p, policy, with_trace)];
      try {
        if (!not_run.empty()) throw unavailable(not_run);
        if (ran.status != 0) throw unavailable(last_line(ran.output, ran.status));
        const bool serial = policy == "serial";
        a.got.workers = serial ? 1 : real_workers_;
        a.rounds.push_back(seconds_in(report, p.real_metric, serial ? "serial" : "heddle",
                                      serial ? std::nullopt : std::optional(policy)));
        a.got.seconds = median(a.rounds);
        if (with_trace) a.got.map = task_map(trace::load(trace), {});
      } catch (const std::exception& error) {
        a.failure = error.what();
      }
    }
  };
  if (!timed.empty()) run(timed, false);
  for (const std::string& policy : traced) run({policy}, true);
}

void laboratory::run(const experiment& e) {
  std::vector<execution> all = wanted(e);
  std::erase_if(all, [&](const execution& x) {
    return !simulates_ || !size_at(program_of(e, x.program), scale_).left_out.empty() ||
           simulations_.contains(simulation_of(e, x).key());
  });
  std::vector<const program*> here;
  for (const program& p : e.programs) {
    if (real_workers_ != 0 && !p.real.empty()) here.push_back(&p);
  }
  const std::size_t rounds = scale_ == scale::quick ? 9 : 15;
  progress bar(e.id, all.size() + rounds * here.size());
  for (const execution& x : all) {
    const simulation s = simulation_of(e, x);
    bar.advance(0, fmt::format("{} {}, simulated", x.program, x.policy));
    simulations_[s.key()] = simulate_all(s);
    bar.advance();
  }
  // programs by turns: a machine has its slow minutes, and measures compare programs
  for (std::size_t round = 0; round < rounds; ++round) {
    for (const program* p : here) {
      bar.advance(0, p->name + ", here");
      measure_here(e, *p, round == 0);
      bar.advance();
    }
  }
}

class simulated_evidence : public evidence {
 public:
  simulated_evidence(const laboratory& of, const experiment& e) : laboratory_(of), experiment_(e) {}
  const outcome& at(const execution& what) const override {
    if (!laboratory_.simulates_) throw unavailable(not_simulated);
    const program& p = program_of(experiment_, what.program);
    if (const std::string& why = size_at(p, laboratory_.scale_).left_out; !why.empty())
      throw unavailable(fmt::format("{}: {}", p.name, why));
    const attempt& a = laboratory_.simulations_.at(laboratory_.simulation_of(experiment_, what).key());
    if (!a.failure.empty()) throw unavailable(a.failure);
    return a.got;
  }

 private:
  const laboratory& laboratory_;
  const experiment& experiment_;
};

class measured_evidence : public evidence {
 public:
  measured_evidence(const laboratory& of, const experiment& e) : laboratory_(of), experiment_(e) {}
  const outcome& at(const execution& what) const override {
    if (laboratory_.real_workers_ == 0) throw unavailable(not_measured);
    const program& p = program_of(experiment_, what.program);
    if (p.real.empty()) throw unavailable(fmt::format("{} has no size for this machine", p.name));
    if (what.workers != 0) throw unavailable(fmt::format("needs {} workers", what.workers));
    if (what.free_memory) throw unavailable("only the simulator counts that");
    const attempt& a = laboratory_.measurements_.at(here_key(experiment_, p, what.policy, what.traced));
    if (!a.failure.empty()) throw unavailable(a.failure);
    return a.got;
  }

 private:
  const laboratory& laboratory_;
  const experiment& experiment_;
};

std::unique_ptr<evidence> laboratory::simulated(const experiment& e) const {
  return std::make_unique<simulated_evidence>(*this, e);
}
std::unique_ptr<evidence> laboratory::measured(const experiment& e) const {
  return std::make_unique<measured_evidence>(*this, e);
}

std::string laboratory::simulated_scale(const experiment& e) const {
  std::string text = name(scale_);
  const char* before = ": ";
  for (const program& p : e.programs) {
    const size& z = size_at(p, scale_);
    if (!z.left_out.empty()) continue;
    text += fmt::format("{}{} = {}", before, p.name, shown_command(command_at(p, scale_)));
    if (z.shrink > 1) text += fmt::format(" (caches beyond the first / {})", z.shrink);
    before = "; ";
  }
  return text;
}

std::string laboratory::measured_scale(const experiment& e) const {
  if (real_workers_ == 0) return {};
  std::string text = fmt::format("{} workers", real_workers_);
  const char* before = ": ";
  for (const program& p : e.programs) {
    if (p.real.empty()) continue;
    text += fmt::format("{}{} = {}", before, p.name, shown_command(p.real));
    before = "; ";
  }
  return text;
}

}  // namespace heddle::cli::paper
