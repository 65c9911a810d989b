#include "trace/diagnosis.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "trace/dag.hpp"
#include "trace/diagnosis_observer.hpp"

namespace heddle::trace {

namespace {

constexpr double worth_saying = 0.05;  // of the workers' time

std::string duration(double ns) {
  if (ns < 1e3) return fmt::format("{:.0f} ns", ns);
  if (ns < 1e6) return fmt::format("{:.1f} us", ns / 1e3);
  if (ns < 1e9) return fmt::format("{:.1f} ms", ns / 1e6);
  return fmt::format("{:.2f} s", ns / 1e9);
}

std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

class writer {
 public:
  writer(const recording& what, const line_finder& line_of, const diagnosis_observer& seen)
      : what_(what), line_of_(line_of), seen_(seen) {}

  void serial() {
    for (const auto& [at, a] : seen_.serial) {
      add(complaint::serial, a,
          fmt::format("Serial phase: for {} ({} of the run) one worker of {} ran {} and the others had nothing to do; "
                      "the longest stretch is {}. Give it parallelism, "
                      "or let it run beside something else.",
                      duration(a.ns), percent(of_run(a.ns)), seen_.workers(), name(at), when(a)));
    }
  }

  void outside() {
    for (const auto& [at, a] : seen_.outside) {
      const std::string where = at.name.empty() ? "outside of the runtime, in code that no trace::region names"
                                                : fmt::format("outside of the runtime, in its region {}", name(at));
      add(complaint::outside, a,
          fmt::format(
              "For {} ({} of the run) no worker had anything to do: the program was {}; the longest stretch is {}.",
              duration(a.ns), percent(of_run(a.ns)), where, when(a)));
    }
  }

  void imbalance() {
    for (const auto& [at, a] : seen_.imbalance) {
      const std::string of =
          a.beside.name.empty() || a.beside == at ? "" : fmt::format(" of what {} is a part of", name(a.beside));
      std::string peers;
      if (const auto known = seen_.tasks.find(at); known != seen_.tasks.end() && known->second.size() > 1) {
        std::vector<std::uint64_t> lengths = known->second;
        const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>((lengths.size() - 1) / 2);
        std::nth_element(lengths.begin(), middle, lengths.end());
        peers = fmt::format(", where half of its {} pieces took no more than {}", lengths.size(),
                            duration(static_cast<double>(*middle)));
      }
      add(complaint::imbalance, a,
          fmt::format("Imbalance: workers waited {} in all ({} of their time) for the longest parts of {}{}; the "
                      "longest such stretch is {}{}. Cut the work finer where it "
                      "is largest, or begin with that.",
                      duration(a.lost), percent(of_workers(a.lost)), name(at), of, when(a), peers));
    }
  }

  void locks() {
    for (const auto& [address, lock] : seen_.locks) {
      account a;
      a.lost = lock.lost;
      a.worker = lock.worker;
      a.begin_ns = lock.begin_ns;
      a.end_ns = lock.end_ns;
      std::string text = fmt::format("Threads waited {} times, {} in all, for the lock at {:#x}", lock.waits,
                                     duration(lock.waited_ns), address);
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
                      duration(a.ns), percent(of_run(a.ns)), when(a)));
    }
    for (const auto& [at, a] : seen_.waiting) {
      add(complaint::waiting, a,
          fmt::format("For {} ({} of the run) no thread was ready: they waited for something of the kind \"{}\"; the "
                      "longest stretch is {}.",
                      duration(a.ns), percent(of_run(a.ns)), at.name, when(a)));
    }
  }

  void processors() {
    for (const auto& [at, a] : seen_.off_cpu) {
      add(complaint::off_cpu, a,
          fmt::format("{} ran for {} and used the processor for {} of it: for {} ({} of the workers' time) it kept its "
                      "worker while it slept in the kernel; the longest "
                      "stretch is {}. Put calls that block into heddle::blocking, and sleep with heddle::this_thread.",
                      name(at), duration(a.ns), duration(a.ns - a.lost), duration(a.lost), percent(of_workers(a.lost)),
                      when(a)));
    }
    for (const auto& [at, a] : seen_.crowded) {
      add(complaint::crowded, a,
          fmt::format("{} ran for {} and had a processor for {} of it, without having slept: the machine ran something "
                      "else for {} ({} of the workers' time); the longest "
                      "stretch is {}. Use fewer workers, or leave the machine to the program.",
                      name(at), duration(a.ns), duration(a.ns - a.lost), duration(a.lost), percent(of_workers(a.lost)),
                      when(a)));
    }
  }

  void small_tasks() {
    const dag_options costs;
    const dag_summary dag = analyse(what_, costs);
    const double stealing = static_cast<double>(dag.steals) * costs.burden_ns;
    const double cost = dag.scheduling_ns + stealing;
    const std::uint64_t cuts = dag.forks + dag.spawns + dag.steals;
    if (cuts < 100 || !(cost > 0.1 * dag.work_ns) || cost < 0.01 * static_cast<double>(seen_.wall_ns())) return;
    const auto of =
        std::max_element(dag.functions.begin(), dag.functions.end(),
                         [](const function_profile& a, const function_profile& b) { return a.count < b.count; });
    if (of == dag.functions.end() || of->count == 0) return;
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
        duration(of->own_ns / static_cast<double>(of->count)), dag.steals, dag.forks + dag.spawns, duration(cost),
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

  [[nodiscard]] std::string when(const account& a) const {
    return fmt::format("{}, on worker {} from {}", duration(static_cast<double>(a.end_ns - a.begin_ns)), a.worker,
                       duration(static_cast<double>(a.begin_ns - seen_.begin_ns())));
  }
  [[nodiscard]] double of_workers(double ns) const { return seen_.workers_time() > 0 ? ns / seen_.workers_time() : 0; }
  [[nodiscard]] double of_run(double ns) const {
    return seen_.wall_ns() > 0 ? ns / static_cast<double>(seen_.wall_ns()) : 0;
  }

  const recording& what_;
  const line_finder& line_of_;
  const diagnosis_observer& seen_;
};

}  // namespace

std::vector<finding> diagnose(const recording& what, const line_finder& line_of) {
  diagnosis_observer seen(what);
  replay(what, seen);
  seen.finish();
  writer w(what, line_of, seen);
  w.serial();
  w.outside();
  w.imbalance();
  w.locks();
  w.waits();
  w.processors();
  w.small_tasks();
  std::stable_sort(w.all.begin(), w.all.end(), [](const finding& a, const finding& b) { return a.share > b.share; });
  return std::move(w.all);
}

}  // namespace heddle::trace
