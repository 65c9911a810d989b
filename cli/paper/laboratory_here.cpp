// The measurements on this machine.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cli/here.hpp"
#include "cli/median.hpp"
#include "cli/paper/build.hpp"
#include "cli/paper/figures.hpp"
#include "cli/paper/laboratory.hpp"
#include "cli/paper/process.hpp"
#include "cli/paper/program.hpp"
#include "trace/file.hpp"

namespace heddle::cli::paper {
namespace {

std::string here_key(const experiment& e, const program& p, const std::string& policy, bool traced) {
  return e.id + "|" + p.name + "|" + policy + (traced ? "|traced" : "");
}

}  // namespace

// Returns the key in the notebook: another machine, build or number of rounds makes another figure.
std::string laboratory::lasting_here(const std::string& key, const program& p) const {
  return fmt::format("here|{}|{}|{} workers|{}|{}|{}", name(order_.size), key, order_.real_workers, processor_name(),
                     p.real, digest_of(p.real, false));
}

// Returns true only if all figures of a program are known, because its policies were measured in turns.
bool laboratory::known_here(const experiment& e, const program& p) {
  for (const execution& x : wanted(e)) {
    if (x.program != p.name || x.workers != 0 || x.free_memory) continue;
    const std::string key = here_key(e, p, x.policy, x.traced);
    const auto* known = notes_.find(lasting_here(key, p));
    if (known == nullptr) return false;
    measurements_[key] = attempt_from(*known);
  }
  return true;
}

void laboratory::keep_here(const experiment& e, const program& p) {
  for (const execution& x : wanted(e)) {
    if (x.program != p.name || x.workers != 0 || x.free_memory) continue;
    const std::string key = here_key(e, p, x.policy, x.traced);
    attempt& a = measurements_[key];
    a.commit = commit();
    if (a.failure.empty()) notes_.add(lasting_here(key, p), as_json(a));
  }
}

// Measures one round: all policies of a program in one run of the command. Traces are made in the first round.
void laboratory::measure_here(const experiment& e, const program& p, bool first) {
  std::vector<std::string> timed, traced;
  for (const execution& x : wanted(e)) {
    if (x.program != p.name || x.workers != 0 || x.free_memory || (x.traced && !first)) continue;
    attempt& a = measurements_[here_key(e, p, x.policy, x.traced)];
    if (!a.failure.empty()) continue;
    a.failure = refused_policy(x.policy);
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
      words.insert(words.end(), {"--workers", std::to_string(order_.real_workers), "--policy", list, "--rivals", "none",
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
        a.got.workers = serial ? 1 : order_.real_workers;
        a.rounds.push_back(seconds_in(report, p.real_metric, serial ? "serial" : "heddle",
                                      serial ? std::nullopt : std::optional(policy)));
        a.got.seconds = median(a.rounds);
        a.checked = true;  // otherwise seconds_in would have thrown
        if (with_trace) a.got.map = task_map(trace::load(trace), {});
      } catch (const std::exception& error) {
        a.failure = error.what();
      }
    }
  };
  if (!timed.empty()) run(timed, false);
  for (const std::string& policy : traced) run({policy}, true);
}

// One round of each program; a traced program has only the first.
class laboratory::at_round : public evidence {
 public:
  at_round(const laboratory& of, const experiment& e, std::size_t round)
      : laboratory_(of), experiment_(e), round_(round) {}
  const outcome& at(const execution& what) const override {
    attempt& a = chosen_[what];
    a = of(what);
    a.got.seconds = a.rounds.at(std::min(round_, a.rounds.size() - 1));
    return a.got;
  }
  [[nodiscard]] const attempt& of(const execution& what) const {
    if (laboratory_.order_.real_workers == 0) throw unavailable(not_measured);
    const program& p = program_of(experiment_, what.program);
    if (p.real.empty()) throw unavailable(fmt::format("{} has no size for this machine", p.name));
    if (what.workers != 0) throw unavailable(fmt::format("needs {} workers", what.workers));
    if (what.free_memory) throw unavailable("only the simulator counts that");
    const attempt& a = laboratory_.measurements_.at(here_key(experiment_, p, what.policy, what.traced));
    if (!a.failure.empty()) throw unavailable(a.failure);
    return a;
  }

 private:
  const laboratory& laboratory_;
  const experiment& experiment_;
  std::size_t round_;
  mutable std::map<execution, attempt> chosen_;
};

series laboratory::measured(const experiment& e, const measure& m) const {
  series all;
  try {
    std::size_t rounds = ~std::size_t{0};
    for (const execution& x : m.of.needs()) rounds = std::min(rounds, at_round(*this, e, 0).of(x).rounds.size());
    for (std::size_t r = 0; r < rounds; ++r) all.figures.push_back(m.of(at_round(*this, e, r)));
  } catch (const unavailable& why) {
    return {{}, why.what()};
  }
  return all;
}

std::string laboratory::measured_scale(const experiment& e) const {
  if (order_.real_workers == 0) return {};
  std::string text = fmt::format("{} workers", order_.real_workers);
  const char* before = ": ";
  for (const program& p : e.programs) {
    if (p.real.empty()) continue;
    text += fmt::format("{}{} = {}", before, p.name, shown_command(p.real));
    before = "; ";
  }
  return text;
}

}  // namespace heddle::cli::paper
