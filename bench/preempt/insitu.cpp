// The cost to a simulation of analyses of its results that run beside it. It follows Section 3.3.4 of the thesis, with
// the molecular dynamics program of the examples in LAMMPS's place. Every fourth step's atoms are copied, and their
// distances counted while later steps run; several analyses may be under way. A step ends with a gap, as for messages
// of other processes: the main thread polls, as MPI does and as in the thesis, or it sleeps. In the gap, and while one
// thread moves the atoms, the other processors are idle for longer than all analyses take.
#include <sys/resource.h>
#include <unistd.h>

#include <condition_variable>
#include <functional>
#include <mutex>
#include <stdexcept>

#include <heddle/pause.hpp>

#include "../../examples/insitu/analyses.hpp"
#include "measure.hpp"

namespace preempt {

namespace {

constexpr unsigned steps = 60, steps_between_analyses = 4, side = 8, buffers = 4;
constexpr std::chrono::milliseconds messages{3};

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
  // Calls work(p) for all p of the team; an empty function means the end.
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
  bool threads;            // kernel threads
  heddle::preemption how;  // of the analysis
  bool priorities;         // high and low
  unsigned pieces;         // threads of an analysis, for each that could run beside the main thread
  const char* thesis;
  void (*lower)() = nullptr;  // of kernel threads: called by each of the analysis
};

void be_nice() { setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), 19); }
// Linux lets a thread of the ordinary policy evict one of this policy as soon as it is ready. From a nice thread it
// only takes its share.
void be_idle() {
  const sched_param none{};
  pthread_setschedparam(pthread_self(), SCHED_IDLE, &none);
}

enum class gap { polls, sleeps };

struct spent {
  double simulation;  // seconds until the last step has ended
  double all;         // until the last analysis has, too
  unsigned waits;     // analyses that found no free buffer
};

void poll() {
  const double end = seconds() + std::chrono::duration<double>(messages).count();
  while (seconds() < end) heddle::this_thread::pause();
}

// Runs simulation and analysis. The arguments decide how threads are made and how they wait.
template <class ForParts, class Start, class Wait>
spent simulate(bool with_analysis, unsigned workers, unsigned pieces, ForParts&& for_parts, Start&& start,
               Wait&& wait) {
  insitu::fluid fluid(side);
  insitu::analyses<decltype(start([] {}))> queue(buffers, pieces * std::max(1u, workers - 1));
  const auto nothing = [](std::size_t, const insitu::radial_distribution&) {};
  const double energy = fluid.total_energy(), begin = seconds();
  for (unsigned s = 0; s < steps; ++s) {
    fluid.step(workers, for_parts);
    if (with_analysis && s % steps_between_analyses == 0) queue.add(fluid, start, nothing);
    wait();
  }
  const double simulation = seconds() - begin;
  queue.finish(nothing);
  const double all = seconds() - begin;
  if (std::abs(fluid.total_energy() - energy) > 1e-2 * std::abs(energy))
    throw std::runtime_error("insitu: energy is not conserved");
  return {simulation, all, queue.waits()};
}

spent once(const arrangement& a, const settings& s, gap how, bool with_analysis) {
  if (a.threads) {
    team others(s.workers);
    return simulate(
        with_analysis, s.workers, a.pieces,
        [&](auto compute) { others.run([&](unsigned p) { compute(p, s.workers); }); },
        [&](auto work) {
          return std::thread([work, lower = a.lower] {
            if (lower != nullptr) lower();
            work();
          });
        },
        [how] {
          if (how == gap::polls) return poll();
          std::this_thread::sleep_for(messages);
        });
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
  spent took{};
  heddle::thread(simulation, [&] {
    took = simulate(
        with_analysis, s.workers, a.pieces,
        [&](auto compute) {
          std::vector<heddle::thread> all;
          for (unsigned p = 1; p < s.workers; ++p) all.emplace_back(simulation, [&, p] { compute(p, s.workers); });
          compute(0, s.workers);
          for (auto& t : all) t.join();
        },
        [&](auto work) { return heddle::thread(analysis, work); },
        [how] {
          if (how == gap::polls) return poll();
          heddle::this_thread::sleep_for(messages);
        });
  }).join();
  return took;
}

// Returns the milliseconds that a single processor needs for an analysis.
double analysis_alone() {
  const insitu::fluid fluid(side);
  insitu::radial_distribution g(1);
  g.take(fluid);
  const double begin = seconds();
  g.count(0);
  return (seconds() - begin) * 1e3;
}

}  // namespace

nlohmann::json insitu(const settings& s) {
  using heddle::preemption;
  static const arrangement all[] = {
      {"kernel_threads", true, preemption::none, false, 1, "Pthreads"},
      {"kernel_threads_nice", true, preemption::none, false, 1, "Pthreads (priority)", be_nice},
      {"kernel_threads_idle", true, preemption::none, false, 1, "-", be_idle},
      {"nonpreemptive", false, preemption::none, false, 1, "-"},
      {"nonpreemptive_priority", false, preemption::none, true, 1, "nonpreemptive (Fig. 3.14)"},
      {"nonpreemptive_priority_x8", false, preemption::none, true, 8, "the same, 8 times the threads"},
      {"nonpreemptive_priority_x64", false, preemption::none, true, 64, "the same, 64 times the threads"},
      {"signal_yield", false, preemption::signal_yield, false, 1, "Argobots"},
      {"signal_yield_priority", false, preemption::signal_yield, true, 1, "Argobots (priority)"},
      {"signal_yield_priority_x8", false, preemption::signal_yield, true, 8, "the same, 8 times the threads"},
  };
  constexpr std::size_t count = std::size(all);
  nlohmann::json rows = nlohmann::json::array();
  const unsigned repeats = s.repeats != 0 ? s.repeats : 7;
  constexpr unsigned analyses = (steps + steps_between_analyses - 1) / steps_between_analyses;
  for (const gap how : {gap::polls, gap::sleeps}) {
    std::vector<double> alone[count], with[count], lost[count], last[count];
    std::vector<double> one;
    unsigned waits[count] = {};
    for (unsigned r = 0; r < repeats; ++r) {  // side by side: what else the machine does hits all alike
      for (std::size_t i = 0; i < count; ++i) {
        const spent without = once(all[i], s, how, false), took = once(all[i], s, how, true);
        alone[i].push_back(without.simulation * 1e3);
        with[i].push_back(took.simulation * 1e3);
        last[i].push_back(took.all * 1e3);
        lost[i].push_back((took.simulation / without.simulation - 1) * 100);
        waits[i] += took.waits;
      }
      one.push_back(analysis_alone());
    }
    const char* const words = how == gap::polls ? "polls" : "sleeps";
    say("%u steps, %lld ms after each in which the main thread %s; all %u analyses take %.0f ms of one processor\n",
        steps, static_cast<long long>(messages.count()), words, analyses, analyses * median(one));
    say("%-27s %12s %14s %14s %10s %12s   %s\n", "in-situ analysis", "alone, ms", "with them, ms", "last ends, ms",
        "lost, %", "no buffer", "in the thesis (Fig. 3.13)");
    for (std::size_t i = 0; i < count; ++i) {
      say("%-27s %12.1f %14.1f %14.1f %10.2f %12u   %s\n", all[i].name, median(alone[i]), median(with[i]),
          median(last[i]), median(lost[i]), waits[i], all[i].thesis);
      rows.push_back({{"way", all[i].name},
                      {"gap", words},
                      {"alone_ms", median(alone[i])},
                      {"with_ms", median(with[i])},
                      {"last_analysis_ms", median(last[i])},
                      {"lost_percent", median(lost[i])},
                      {"analyses_ms", analyses * median(one)},
                      {"no_buffer", waits[i]},
                      {"workers", s.workers},
                      {"interval_us", s.interval.count() / 1000},
                      {"repeats", repeats}});
    }
  }
  return rows;
}

}  // namespace preempt
