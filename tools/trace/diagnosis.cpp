#include "tools/trace/diagnosis.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tools/trace/dag.hpp"
#include "tools/trace/diagnosis_observer.hpp"
#include "tools/trace/examine.hpp"

namespace heddle::trace {

namespace {

constexpr double worth_saying = 0.05;  // of the workers' time

std::string rounded(double ns) {
  if (ns < 1e3) return fmt::format("{:.0f} ns", ns);
  if (ns < 1e6) return fmt::format("{:.1f} us", ns / 1e3);
  if (ns < 1e9) return fmt::format("{:.1f} ms", ns / 1e6);
  return fmt::format("{:.2f} s", ns / 1e9);
}

std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

class writer {
 public:
  writer(const recording& what, const line_finder& line_of, const diagnosis_observer& seen, const dag_summary& dag)
      : what_(what), line_of_(line_of), seen_(seen), dag_(dag) {}

  void serial() {
    for (const auto& [at, a] : seen_.serial) {
      add(complaint::serial, a,
          fmt::format("Serial phase: for {} ({} of the run) one worker of {} ran {} and the others had nothing to do; "
                      "the longest stretch is {}. Give it parallelism, "
                      "or let it run beside something else.",
                      rounded(a.ns), percent(of_run(a.ns)), seen_.workers(), name(at, a), when(a)));
    }
  }

  void outside() {
    for (const auto& [at, a] : seen_.outside) {
      const std::string where = at.name.empty() ? "outside of the runtime, in code that no trace::region names"
                                                : fmt::format("outside of the runtime, in its region {}", name(at));
      add(complaint::outside, a,
          fmt::format(
              "For {} ({} of the run) no worker had anything to do: the program was {}; the longest stretch is {}.",
              rounded(a.ns), percent(of_run(a.ns)), where, when(a)));
    }
  }

  void imbalance() {
    for (const auto& [at, a] : seen_.imbalance) {
      const std::string of =
          a.beside.name.empty() || a.beside == at ? "" : fmt::format(" of what {} is a part of", name(a.beside));
      std::string peers;
      const code* const function = a.inside.empty() ? &at : most(a.inside);
      if (const auto known = seen_.tasks.find(function == nullptr ? at : *function);
          known != seen_.tasks.end() && known->second.size() > 1) {
        std::vector<std::uint64_t> lengths = known->second;
        const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>((lengths.size() - 1) / 2);
        std::nth_element(lengths.begin(), middle, lengths.end());
        peers = fmt::format(", where half of its {} pieces took no more than {}", lengths.size(),
                            rounded(static_cast<double>(*middle)));
      }
      add(complaint::imbalance, a,
          fmt::format("Imbalance: each worker waited {} on average ({} of its time) for the longest parts of {}{}; the "
                      "longest such stretch is {}{}. Cut the work finer where it "
                      "is largest, or begin with that.",
                      rounded(a.lost / static_cast<double>(seen_.workers())), percent(of_workers(a.lost)), name(at, a),
                      of, when(a), peers));
    }
  }

  void locks() {
    for (const auto& [address, lock] : seen_.locks) {
      account a;
      a.lost = lock.lost;
      a.worker = lock.worker;
      a.begin_ns = lock.begin_ns;
      a.end_ns = lock.end_ns;
      const std::size_t threads = lock.threads.size();
      std::string text = fmt::format("{} thread{} waited for the lock at {:#x}, {}{} and {} times in all", threads,
                                     threads == 1 ? "" : "s", address,
                                     rounded(lock.waited_ns / static_cast<double>(std::max<std::size_t>(threads, 1))),
                                     threads == 1 ? "" : " each on average", lock.waits);
      if (const code* by = most(lock.asked)) text += fmt::format(", most in {}", name(*by));
      if (const code* by = most(lock.held)) text += fmt::format(", while it was held by {}", name(*by));
      text += fmt::format(
          "; the longest wait is {}. That kept workers idle for {} of their time: hold it for less, or divide what it "
          "guards.",
          when(a), percent(of_workers(a.lost)));
      add(complaint::lock, a, std::move(text));
    }
  }

  void waits() {
    for (const auto& [at, a] : seen_.asleep) {
      add(complaint::asleep, a,
          fmt::format("For {} ({} of the run) workers were idle while threads slept until a time (sleep_for, "
                      "sleep_until, a time limit); the longest "
                      "stretch is {}.",
                      rounded(a.ns), percent(of_run(a.ns)), when(a)));
    }
    for (const auto& [at, a] : seen_.waiting) {
      add(complaint::waiting, a,
          fmt::format("For {} ({} of the run) no thread was ready: they waited for something of the kind \"{}\"; the "
                      "longest stretch is {}.",
                      rounded(a.ns), percent(of_run(a.ns)), at.name, when(a)));
    }
  }

  void processors() {
    for (const auto& [at, a] : seen_.off_cpu) {
      add(complaint::off_cpu, a,
          fmt::format("{} ran for {} and used the processor for {} of it: for {} ({} of the workers' time) it kept its "
                      "worker while it slept in the kernel; the longest "
                      "stretch is {}. Put calls that block into heddle::blocking, and sleep with heddle::this_thread.",
                      name(at, a), rounded(a.ns), rounded(a.ns - a.lost), rounded(a.lost), percent(of_workers(a.lost)),
                      when(a)));
    }
    // The user can do the same about all of it, so it is one sentence.
    account all_of_it;
    const std::pair<const code, account>* most_of_it = nullptr;
    for (const auto& entry : seen_.crowded) {
      all_of_it.lost += entry.second.lost;
      all_of_it.ns += entry.second.ns;
      if (most_of_it == nullptr || entry.second.lost > most_of_it->second.lost) most_of_it = &entry;
    }
    if (most_of_it == nullptr) return;
    const account& longest = most_of_it->second;
    all_of_it.worker = longest.worker;
    all_of_it.begin_ns = longest.begin_ns;
    all_of_it.end_ns = longest.end_ns;
    add(complaint::crowded, all_of_it,
        fmt::format("The machine ran something else for {} of the {} of each worker's busy time ({} of the workers' "
                    "time), most while {} ran; the longest "
                    "stretch of that is {}. Use fewer workers, or leave the machine to the program; until then, part "
                    "of the other causes may come from this.",
                    rounded(all_of_it.lost / static_cast<double>(seen_.workers())),
                    rounded(all_of_it.ns / static_cast<double>(seen_.workers())), percent(of_workers(all_of_it.lost)),
                    name(most_of_it->first, longest), when(longest)));
  }

  void small_tasks() {
    const dag_options costs;
    const dag_summary& dag = dag_;
    const double stealing = static_cast<double>(dag.steals) * costs.burden_ns;
    const double cost = dag.scheduling_ns + stealing;
    const std::uint64_t cuts = dag.forks + dag.spawns + dag.steals;
    if (cuts < 100 || !(cost > 0.1 * dag.work_ns) || cost < 0.01 * static_cast<double>(seen_.wall_ns())) return;
    const auto of = std::max_element(dag.functions.begin(), dag.functions.end(),
                                     [](const function_profile& a, const function_profile& b) {
                                       return (a.region ? 0 : a.count) < (b.region ? 0 : b.count);
                                     });
    if (of == dag.functions.end() || of->region || of->count == 0) return;
    finding f;
    f.what = complaint::small_tasks;
    f.share = cost / (cost + dag.work_ns);
    const auto seen =
        std::find_if(seen_.tasks.begin(), seen_.tasks.end(), [&](const auto& t) { return t.first.name == of->name; });
    f.text = fmt::format(
        "Tasks are too small: {} of {} computed {} each on average, {} steals and {} forks and children cost about {}, "
        "{} of the work. Raise the grain, or stop "
        "forking earlier.",
        of->count, seen == seen_.tasks.end() ? quoted(of->name) : name(seen->first),
        rounded(of->own_ns / static_cast<double>(of->count)), dag.steals, dag.forks + dag.spawns, rounded(cost),
        percent(cost / dag.work_ns));
    f.end_ns = seen_.wall_ns();
    all.push_back(std::move(f));
  }

  std::vector<finding> all;

 private:
  void add(complaint what, const account& a, std::string text) {
    if (of_workers(a.lost) < worth_saying) return;
    all.push_back({what, of_workers(a.lost), std::move(text), a.worker, a.begin_ns - seen_.begin_ns(),
                   a.end_ns - seen_.begin_ns()});
  }

  static const code* most(const std::map<code, double>& of) {
    const auto largest =
        std::max_element(of.begin(), of.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    return largest == of.end() || largest->first.address == 0 ? nullptr : &largest->first;
  }

  static std::string quoted(const std::string& name) { return "`" + name + "`"; }

  // Adds the place in the source, or at least the file.
  [[nodiscard]] std::string name(const code& at) const {
    if (at.address == 0) return at.name.starts_with("code ") ? at.name : quoted(at.name);
    std::string line = line_of_ ? line_of_(at.address) : std::string();
    if (const auto place = what_.places.find(at.address); line.empty() && place != what_.places.end()) {
      const std::string& module = place->second.module;
      line = fmt::format("{}+{:#x}", module.substr(module.rfind('/') + 1), place->second.offset);
    }
    return line.empty() ? quoted(at.name) : fmt::format("{} ({})", quoted(at.name), line);
  }

  // Of a region, names the function that lost most in it, too.
  [[nodiscard]] std::string name(const code& at, const account& a) const {
    const code* const inside = a.inside.empty() ? nullptr : most(a.inside);
    return inside == nullptr ? name(at) : fmt::format("{} (most in {})", name(at), name(*inside));
  }

  [[nodiscard]] std::string when(const account& a) const {
    return fmt::format("{}, on worker {} from {}", rounded(static_cast<double>(a.end_ns - a.begin_ns)), a.worker,
                       rounded(static_cast<double>(a.begin_ns - seen_.begin_ns())));
  }
  [[nodiscard]] double of_workers(double ns) const { return seen_.workers_time() > 0 ? ns / seen_.workers_time() : 0; }
  [[nodiscard]] double of_run(double ns) const {
    return seen_.wall_ns() > 0 ? ns / static_cast<double>(seen_.wall_ns()) : 0;
  }

  const recording& what_;
  const line_finder& line_of_;
  const diagnosis_observer& seen_;
  const dag_summary& dag_;
};

}  // namespace

std::vector<finding> findings_of(const recording& what, const diagnosis_observer& seen, const dag_summary& dag,
                                 const line_finder& line_of) {
  writer w(what, line_of, seen, dag);
  w.serial();
  w.outside();
  w.imbalance();
  w.locks();
  w.waits();
  w.processors();
  w.small_tasks();
  // A crowded machine comes last, because it is no fault of the program.
  std::stable_sort(w.all.begin(), w.all.end(), [](const finding& a, const finding& b) {
    const bool last = a.what == complaint::crowded, other_last = b.what == complaint::crowded;
    return last != other_last ? other_last : a.share > b.share;
  });
  return std::move(w.all);
}

std::vector<finding> diagnose(const recording& what, const line_finder& line_of) {
  return examine(what, line_of).findings;
}

}  // namespace heddle::trace
