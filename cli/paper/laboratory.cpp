#include "cli/paper/laboratory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <set>
#include <system_error>

#include "cli/paper/build.hpp"
#include "cli/paper/crew.hpp"
#include "cli/paper/figures.hpp"
#include "cli/paper/process.hpp"
#include "cli/paper/program.hpp"
#include "cli/progress.hpp"
#include "cli/sim/process.hpp"
#include "tools/trace/reading.hpp"

namespace heddle::cli::paper {
namespace {

// Seconds of real time for a run, on a busy machine.
constexpr unsigned limit_quick = 1800, limit_full = 7200;
constexpr const char* late = "not over after ";

unsigned limit_at(scale s) { return s == scale::quick ? limit_quick : limit_full; }

attempt failed(const std::string& why) {
  attempt a;
  a.failure = why;
  return a;
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
  unsigned pair{0};
  std::string name;           // the name of the program, for people
  std::string lasting_key{};  // its key in the notebook

  [[nodiscard]] std::string key() const {
    return fmt::format("{}|{}|{}|{}|{}|{}|{}|{}|{}", machine, shrink, free_memory, command, metric, policy, workers,
                       traced, pair);
  }
  [[nodiscard]] std::string told() const { return fmt::format("{} {}, pair {}, simulated", name, policy, pair + 1); }
};

laboratory::laboratory(work_order order) : order_(std::move(order)), notes_(order_.notes) {}
laboratory::~laboratory() = default;

laboratory::simulation laboratory::simulation_of(const experiment& e, const execution& what, unsigned pair,
                                                 bool beside) const {
  const program& p = program_of(e, what.program);
  const bool serial = what.policy == "serial";
  return {e.machine,
          size_at(p, order_.size, beside).shrink,
          what.free_memory,
          command_at(p, order_.size, beside),
          p.metric,
          what.policy,
          serial              ? 1
          : what.workers != 0 ? what.workers
                              : e.workers,
          what.traced,
          serial ? 0 : pair,  // it chooses nothing at random
          p.name};
}

std::vector<execution> laboratory::wanted(const experiment& e) const {
  std::set<execution> all;
  for (const measure& m : e.measures) all.insert(m.of.needs().begin(), m.of.needs().end());
  return {all.begin(), all.end()};
}

// The first pair, whose results are checked, comes first, because a program that fails there is not run again.
std::vector<laboratory::simulation> laboratory::to_simulate(const experiment& e) const {
  std::vector<simulation> all;
  std::set<std::string> keys;
  if (!order_.simulates) return all;
  for (unsigned pair = 0; pair < order_.seeds; ++pair) {
    for (const execution& x : wanted(e)) {
      const program& p = program_of(e, x.program);
      for (const bool beside : {false, true}) {
        if (!size_at(p, order_.size, beside).left_out.empty() || (beside && !has_beside(p, order_.size))) continue;
        simulation s = simulation_of(e, x, pair, beside);
        if (!simulations_.contains(s.key()) && keys.insert(s.key()).second) all.push_back(std::move(s));
      }
    }
  }
  return all;
}

// Of the pairs the first one computes what it declares, and its result is checked. The others leave the computation
// out, which changes no virtual time.
attempt laboratory::simulate_once(const simulation& s, const scratch_folder& folder) const {
  if (const std::string why = refused_policy(s.policy); !why.empty()) return failed(why);
  attempt result;
  const auto begin = std::chrono::steady_clock::now();
  try {
    const sim_setting first{.machine = machine_variant(s.machine, s.shrink, s.free_memory, folder),
                            .policy = s.policy,
                            .workers = s.workers,
                            .charge = "auto",
                            .fast = s.pair != 0,
                            .free_scheduler = s.policy == "serial",
                            .trace = s.traced ? folder.file("run.heddle") : std::string(),
                            .environment = environment_of(s.command)};
    const sim_setting setting = repetition(first, s.pair);
    const std::string report = folder.file("run.json");
    std::filesystem::remove(report);
    std::vector<std::string> words = command_words(s.command);
    words.insert(words.end(), {"--repeat", "1", "--json", report});
    const unsigned limit = limit_at(order_.size);
    const sim_outcome ran = simulate(words, setting, shown::captured, limit);
    if (ran.late) throw unavailable(fmt::format("{}{} s", late, limit));
    if (ran.status != 0) throw unavailable(last_line(ran.errors, ran.status));
    if (ran.figures.empty()) throw unavailable("nothing was simulated");
    result.got.seconds = seconds_in(report, s.metric, "heddle", std::nullopt);
    result.got.workers = s.workers;
    result.got.counts = counts_from(ran.figures);
    result.got.has_counts = true;
    result.checked = !setting.fast;
    if (s.traced) {
      const trace::recording recorded = trace::load(setting.trace);
      result.got.map = task_map(recorded, nodes_of_workers(s.machine, s.workers));
      result.got.notes = remarks_in(recorded);
    }
  } catch (const std::exception& error) {
    result.failure = error.what();
  }
  result.commit = commit();
  result.took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return result;
}

void laboratory::simulate_or_recall(const simulation& s, const scratch_folder& folder) {
  simulation first = s;
  first.pair = 0;
  {
    const std::lock_guard hold(mutex_);
    attempt& a = simulations_.at(s.key());
    if (const auto* noted = notes_.find(s.lasting_key)) {
      a = attempt_from(*noted);
      return;
    }
    if (const std::string& why = simulations_.at(first.key()).failure; !why.empty()) {
      a = failed(why);
      return;
    }
  }
  attempt a = simulate_once(s, folder);
  const std::lock_guard hold(mutex_);
  // A missing program may be there next time; a run that takes too long will take too long again.
  if (a.failure.empty() || a.failure.starts_with(late)) notes_.add(s.lasting_key, as_json(a));
  simulations_.at(s.key()) = std::move(a);
}

void laboratory::measure_here(const experiment& e) {
  std::vector<const program*> here;
  for (const program& p : e.programs) {
    if (order_.real_workers != 0 && !p.real.empty() && !known_here(e, p)) here.push_back(&p);
  }
  const std::size_t rounds = order_.size == scale::full ? 15 : 9;
  progress bar(e.id, rounds * here.size());
  // Programs take turns, because a machine has its slow minutes, and measures compare programs.
  for (std::size_t round = 0; round < rounds; ++round) {
    for (const program* p : here) {
      bar.advance(0, p->name + ", here");
      measure_here(e, *p, round == 0);
      bar.advance();
    }
  }
  for (const program* p : here) keep_here(e, *p);
}

void laboratory::run(const std::vector<experiment>& all, const std::function<void(const experiment&)>& done) {
  std::vector<simulation> list;
  std::vector<std::size_t> ends;  // of each experiment's part
  for (const experiment& e : all) {
    for (simulation& s : to_simulate(e)) {
      s.lasting_key = s.key() + "|" + digest_of(s.command, true);  // so that another build makes another figure
      // All entries exist before the crew begins, because it changes entries and adds none.
      simulations_[s.key()];
      list.push_back(std::move(s));
    }
    ends.push_back(list.size());
  }
  // There is one for each job, with names of the same length, because a program that gets longer names has its stack
  // elsewhere.
  std::vector<std::unique_ptr<scratch_folder>> folders;
  for (unsigned job = 0; job < order_.jobs; ++job) folders.push_back(std::make_unique<scratch_folder>("heddle-paper"));
  crew simulating(order_.jobs, list.size(),
                  [&](std::size_t entry, std::size_t job) { simulate_or_recall(list[entry], *folders[job]); });
  const auto wait = [&](const std::string& label, std::size_t first, std::size_t end) {
    progress bar(label, end - first);
    std::size_t before = first;
    simulating.wait(end, [&](std::size_t now) {
      bar.advance(now - before, now < end ? list[now].told() : "");
      before = now;
    });
  };
  if (order_.real_workers != 0) wait("simulated", 0, list.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    wait(all[i].id, i == 0 ? 0 : ends[i - 1], ends[i]);
    measure_here(all[i]);
    done(all[i]);
  }
}

class laboratory::at_pair : public evidence {
 public:
  at_pair(const laboratory& of, const experiment& e, unsigned pair, bool beside)
      : laboratory_(of), experiment_(e), pair_(pair), beside_(beside) {}
  const outcome& at(const execution& what) const override {
    if (!laboratory_.order_.simulates) throw unavailable(not_simulated);
    const program& p = program_of(experiment_, what.program);
    if (const std::string& why = size_at(p, laboratory_.order_.size, beside_).left_out; !why.empty())
      throw unavailable(fmt::format("{}: {}", p.name, why));
    const auto found =
        laboratory_.simulations_.find(laboratory_.simulation_of(experiment_, what, pair_, beside_).key());
    if (found == laboratory_.simulations_.end()) throw unavailable("not run");
    if (!found->second.failure.empty()) throw unavailable(found->second.failure);
    return found->second.got;
  }

 private:
  const laboratory& laboratory_;
  const experiment& experiment_;
  unsigned pair_;
  bool beside_;
};

series laboratory::over_pairs(const experiment& e, const measure& m, bool beside) const {
  series all;
  try {
    for (unsigned pair = 0; pair < order_.seeds; ++pair) all.figures.push_back(m.of(at_pair(*this, e, pair, beside)));
  } catch (const unavailable& why) {
    return {{}, why.what()};
  }
  return all;
}

series laboratory::simulated(const experiment& e, const measure& m) const { return over_pairs(e, m, false); }

series laboratory::beside(const experiment& e, const measure& m) const {
  if (beside_scale(e, m).empty()) return {{}, not_shrunk};
  return over_pairs(e, m, true);
}

std::string laboratory::simulated_scale(const experiment& e) const {
  std::string text = name(order_.size);
  const char* before = ": ";
  for (const program& p : e.programs) {
    const size& z = size_at(p, order_.size);
    if (!z.left_out.empty()) continue;
    text += fmt::format("{}{} = {}", before, p.name, shown_command(command_at(p, order_.size)));
    if (z.shrink > 1) text += fmt::format(" (caches beyond the first / {})", z.shrink);
    if (!z.changes.empty()) text += fmt::format(" ({})", z.changes);
    before = "; ";
  }
  return text;
}

std::string laboratory::beside_scale(const experiment& e, const measure& m) const {
  std::string text;
  std::set<std::string> told;
  for (const execution& x : m.of.needs()) {
    const program& p = program_of(e, x.program);
    if (!has_beside(p, order_.size) || !told.insert(p.name).second) continue;
    const size& z = size_at(p, order_.size, true);
    text += fmt::format("{}{} = {} (caches beyond the first / {} instead of {}{})", text.empty() ? "" : "; ", p.name,
                        shown_command(command_at(p, order_.size, true)), z.shrink, size_at(p, order_.size).shrink,
                        z.changes.empty() ? "" : "; " + z.changes);
  }
  return text;
}

bool laboratory::checked(const experiment& e, const measure& m) const {
  return std::all_of(m.of.needs().begin(), m.of.needs().end(), [&](const execution& x) {
    const auto found = simulations_.find(simulation_of(e, x, 0, false).key());
    return found != simulations_.end() && found->second.checked;
  });
}

std::string laboratory::commits(const experiment& e, const measure& m) const {
  std::set<std::string> all;
  for (unsigned pair = 0; pair < order_.seeds; ++pair) {
    for (const execution& x : m.of.needs()) {
      const auto found = simulations_.find(simulation_of(e, x, pair, false).key());
      if (found != simulations_.end() && !found->second.commit.empty()) all.insert(found->second.commit);
    }
  }
  if (all.empty() && !commit().empty()) all.insert(commit());
  std::string text;
  for (const std::string& one : all) text += (text.empty() ? "" : ", ") + one;
  return text;
}

}  // namespace heddle::cli::paper
