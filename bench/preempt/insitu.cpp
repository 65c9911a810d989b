// What a simulation loses to analyses of its results that run beside it. After Section 3.3.4 of the thesis, with the molecular dynamics program of
// the examples in LAMMPS's place: every fourth step's atoms are copied, and their distances counted while the next steps run. A step ends
// with a millisecond in which it waits, as for messages of other processes; there, and while one thread moves the atoms, processors are idle.
#include <sys/resource.h>
#include <unistd.h>

#include <condition_variable>
#include <functional>
#include <mutex>
#include <stdexcept>

#include "../../examples/insitu/lennard_jones.hpp"
#include "measure.hpp"

namespace preempt {

namespace {

constexpr unsigned steps = 60, steps_between_analyses = 4, side = 8;
constexpr std::chrono::milliseconds messages{1};

// Kernel threads that compute the shares of a step together, as those of an OpenMP program do.
class team {
 public:
  explicit team(unsigned size) : size_(size) {
    for (unsigned p = 1; p < size; ++p) threads_.emplace_back([this, p] { serve(p); });
  }
  ~team() {
    run({});
    for (auto& t : threads_) t.join();
  }
  team(const team&) = delete;
  team& operator=(const team&) = delete;
  // work(p) for all p of the team; empty: the end.
  void run(const std::function<void(unsigned)>& work) {
    {
      const std::lock_guard hold(mutex_);
      work_ = &work;
      at_work_ = size_ - 1;
      ++round_;
    }
    begin_.notify_all();
    if (work) work(0);
    std::unique_lock hold(mutex_);
    end_.wait(hold, [this] { return at_work_ == 0; });
  }

 private:
  void serve(unsigned part) {
    for (unsigned done = 0;;) {
      std::unique_lock hold(mutex_);
      begin_.wait(hold, [&] { return round_ != done; });
      done = round_;
      const std::function<void(unsigned)>& work = *work_;
      hold.unlock();
      const bool last = !work;
      if (!last) work(part);
      hold.lock();
      if (--at_work_ == 0) end_.notify_one();
      if (last) return;
    }
  }

  const unsigned size_;
  std::mutex mutex_;
  std::condition_variable begin_, end_;
  const std::function<void(unsigned)>* work_{nullptr};  // under mutex_, as all below
  unsigned at_work_{0}, round_{0};
  std::vector<std::thread> threads_;
};

struct arrangement {
  const char* name;
  bool threads;                // kernel threads
  heddle::preemption how;      // of the analysis
  bool priorities;             // high and low; of kernel threads: nice 19 for the analysis
  const char* thesis;
};

// Simulation and analysis in one; what differs is how threads are made. Returns seconds until both have ended.
template <class ForParts, class Thread, class Wait>
double simulate(bool with_analysis, unsigned workers, ForParts&& for_parts, Thread&& analyst, Wait&& wait) {
  using thread_of = decltype(analyst([] {}));
  insitu::fluid fluid(side);
  insitu::radial_distribution g(std::max(1u, workers - 1));
  std::vector<thread_of> analysts;
  const double energy = fluid.total_energy(), begin = seconds();
  for (unsigned s = 0; s < steps; ++s) {
    fluid.step(workers, for_parts);
    if (with_analysis && s % steps_between_analyses == 0) {
      for (auto& t : analysts) t.join();
      analysts.clear();
      g.take(fluid);
      for (unsigned p = 0; p < g.parts(); ++p) analysts.push_back(analyst([&g, p] { g.count(p); }));
    }
    wait();
  }
  for (auto& t : analysts) t.join();
  const double took = seconds() - begin;
  if (std::abs(fluid.total_energy() - energy) > 1e-2 * std::abs(energy)) throw std::runtime_error("insitu: energy is not conserved");
  return took;
}

double once(const arrangement& a, const settings& s, bool with_analysis) {
  if (a.threads) {
    team others(s.workers);
    return simulate(
        with_analysis, s.workers, [&](auto compute) { others.run([&](unsigned p) { compute(p, s.workers); }); },
        [&](auto work) {
          return std::thread([work, nice = a.priorities] {
            if (nice) setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), 19);
            work();
          });
        },
        [] { std::this_thread::sleep_for(messages); });
  }
  heddle::runtime_options o;
  o.workers = s.workers;
  o.preempt = heddle::preemption::none;
  o.preempt_interval = s.interval;
  o.preempt_timer = "chain";  // few threads are preemptive
  heddle::runtime rt(o);
  heddle::thread_options simulation, analysis;
  simulation.where = analysis.where = &rt;
  analysis.preemption = a.how;
  if (a.priorities) {
    simulation.priority = heddle::priority::high;
    analysis.priority = heddle::priority::low;
  }
  double took = 0;
  heddle::thread(simulation, [&] {
    took = simulate(
        with_analysis, s.workers,
        [&](auto compute) {
          std::vector<heddle::thread> all;
          for (unsigned p = 1; p < s.workers; ++p) all.emplace_back(simulation, [&, p] { compute(p, s.workers); });
          compute(0, s.workers);
          for (auto& t : all) t.join();
        },
        [&](auto work) { return heddle::thread(analysis, work); }, [] { heddle::this_thread::sleep_for(messages); });
  }).join();
  return took;
}

}  // namespace

nlohmann::json insitu(const settings& s) {
  using heddle::preemption;
  static const arrangement all[] = {
      {"kernel_threads", true, preemption::none, false, "Pthreads"},
      {"kernel_threads_nice", true, preemption::none, true, "Pthreads (priority)"},
      {"nonpreemptive", false, preemption::none, false, "-"},
      {"nonpreemptive_priority", false, preemption::none, true, "-"},
      {"signal_yield", false, preemption::signal_yield, false, "Argobots"},
      {"signal_yield_priority", false, preemption::signal_yield, true, "Argobots (priority)"},
  };
  nlohmann::json rows = nlohmann::json::array();
  const unsigned repeats = s.repeats != 0 ? s.repeats : 7;
  constexpr std::size_t count = std::size(all);
  std::vector<double> alone[count], with[count], lost[count];
  for (unsigned r = 0; r < repeats; ++r) {  // side by side: what else the machine does hits all alike
    for (std::size_t i = 0; i < count; ++i) {
      alone[i].push_back(once(all[i], s, false));
      with[i].push_back(once(all[i], s, true));
      lost[i].push_back((with[i].back() / alone[i].back() - 1) * 100);
    }
  }
  say("%-24s %12s %14s %12s   %s\n", "in-situ analysis", "alone, ms", "with it, ms", "lost, %", "in the thesis (Fig. 3.13)");
  for (std::size_t i = 0; i < count; ++i) {
    const double percent = median(lost[i]);
    say("%-24s %12.1f %14.1f %12.2f   %s\n", all[i].name, median(alone[i]) * 1e3, median(with[i]) * 1e3, percent, all[i].thesis);
    rows.push_back({{"way", all[i].name},
                    {"alone_ms", median(alone[i]) * 1e3},
                    {"with_ms", median(with[i]) * 1e3},
                    {"lost_percent", percent},
                    {"workers", s.workers},
                    {"interval_us", s.interval.count() / 1000},
                    {"repeats", repeats}});
  }
  return rows;
}

}  // namespace preempt
