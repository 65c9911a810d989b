// Costs of the scheduler's operations: heddle's own are measured with heddle, the system's with the functions that
// heddle calls.
#include <atomic>
#include <csignal>
#include <ctime>
#include <memory>
#include <vector>

#include <heddle/parallel_invoke.hpp>
#include <heddle/runtime.hpp>
#include <heddle/task_group.hpp>
#include <heddle/thread.hpp>

#include "arch/arch.hpp"
#include "cli/calibrate/measure.hpp"
#include "platform/platform.hpp"
#include "queue/fork_queue.hpp"

namespace heddle::cli::calibrate {
namespace {

// Returns the ns of one of `count` repetitions.
template <class F>
double each(unsigned runs, std::size_t count, F&& repeat) {
  return quiet_time(runs, [&] {
    const auto begin = platform::now();
    repeat();
    return static_cast<double>(platform::now() - begin) / static_cast<double>(count);
  });
}

runtime_options alone(unsigned workers) {
  runtime_options options;
  options.workers = workers;
  options.policy = "random_ws";
  options.bind = workers > 1 ? "auto" : "off";
  options.trace = "";
  // The idle worker keeps looking, because wakes are measured by themselves.
  options.spin = 1'000'000;
  return options;
}

[[gnu::noinline]] void forks(unsigned depth) {
  if (depth == 0) return;
  parallel_invoke([=] { forks(depth - 1); }, [=] { forks(depth - 1); });
}

[[gnu::noinline]] void calls(unsigned depth) {
  if (depth == 0) return;
  const auto half = [=] { calls(depth - 1); };
  half();
  asm volatile("" ::: "memory");
  half();
}

void alone_on_one_worker(const effort& how, figures& made) {
  runtime one(alone(1));
  one.run([&] {
    const unsigned depth = how.run_ns > 1e6 ? 18 : 14;
    const std::size_t count = (std::size_t{1} << depth) - 1;
    const double both = each(how.runs, count, [&] { forks(depth); }) - each(how.runs, count, [&] { calls(depth); });
    // Only the sum is measured; each key gets half of it.
    if (both > 0) made["costs.fork"] = made["costs.join"] = both / 2;

    const std::size_t switches = how.run_ns > 1e6 ? 50'000 : 5'000;
    made["costs.thread_switch"] = each(how.runs, 2 * switches, [&] {
      task_group group;
      for (int partner = 0; partner < 2; ++partner) {
        group.run([&] {
          for (std::size_t i = 0; i < switches; ++i) this_thread::yield();
        });
      }
      group.wait();
    });
  });
}

// Measures a child that begins at once, on a stack of its own.
void child_first(const effort& how, figures& made) {
  runtime_options options = alone(1);
  options.policy = "random_ws:spawn=child";
  runtime one(options);
  one.run([&] {
    const std::size_t children = how.run_ns > 1e6 ? 20'000 : 2'000;
    made["costs.spawn"] = each(how.runs, children, [&] {
      task_group group;
      for (std::size_t i = 0; i < children; ++i) group.run([] {});
      group.wait();
    });
  });
}

// Measures the time from the fork until its second half runs on the other worker, which looks for work all the time.
void steals(const effort& how, figures& made) {
  runtime two(alone(2));
  const unsigned runs = 8 * how.runs;
  const double found = two.run([&] {
    return quiet_time(runs, [&] {
      std::atomic<platform::nanoseconds> started{0};
      const auto begin = platform::now();
      parallel_invoke(
          [&] {
            const auto limit = begin + 50'000'000;
            while (started.load() == 0 && platform::now() < limit) {
              // the victim serves requests at its forks
              parallel_invoke([] {}, [] {});
            }
          },
          [&] { started = platform::now(); });
      return started.load() > begin ? static_cast<double>(started.load() - begin) : 0.0;
    });
  });
  if (found > 0) made["costs.steal"] = found;
}

// Measures a look at a queue without public entries, with the request that it leaves there; the owner does not answer.
void failed_steals(int unit, const effort& how, figures& made) {
  std::vector<queue::slot> memory(queue::slots_for(64));
  queue::fork_queue victim;
  queue::attach(victim, memory.data(), 64);
  double cost = 0;
  const auto body = [&] {
    const std::size_t count = how.run_ns > 1e6 ? 100'000 : 10'000;
    cost = each(how.runs, count, [&] {
      for (std::size_t i = 0; i < count; ++i) {
        bool left = false;
        if (queue::steal(victim, left) == 0) queue::request(victim);
      }
    });
  };
  {
    const helper thief(unit, body);
  }
  made["costs.failed_steal"] = cost;
}

double processor_time() {
  std::timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return 1e9 * static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec);
}

// Measures the futex wake of a kernel thread that sleeps on another unit: the cost for the waker, the time until the
// sleeper is back, and the processor time of a sleep with its end.
void wakes(int unit, const effort& how, figures& made) {
  std::atomic<std::uint32_t> word{0};
  std::atomic<bool> asleep{false}, stop{false};
  std::atomic<platform::nanoseconds> woken{0};
  double slept = 0;
  const auto body = [&] {
    const double before = processor_time();
    std::uint32_t seen = 0;
    for (; !stop.load(); ++seen) {
      asleep = true;
      while (word.load() == seen) platform::wait_on(word, seen);
      woken = platform::now();
    }
    slept = (processor_time() - before) / seen;
  };
  auto sleeper = std::make_unique<helper>(unit, body);
  std::vector<double> paid, waited;
  const auto limit = platform::now() + 3'000'000'000;
  for (unsigned i = 0; i < 8 * how.runs && platform::now() < limit; ++i) {
    while (!asleep.load()) arch::pause();
    // This gives it time to fall asleep. It is a spin, because this unit must not sleep, too.
    for (const auto until = platform::now() + 100'000; platform::now() < until;) arch::pause();
    asleep = false;
    woken = 0;
    const auto begin = platform::now();
    word.fetch_add(1);
    platform::wake_one(word);
    const auto end = platform::now();
    while (woken.load() == 0) arch::pause();
    paid.push_back(static_cast<double>(end - begin));
    waited.push_back(static_cast<double>(woken.load()) - static_cast<double>(begin));
  }
  while (!asleep.load()) arch::pause();
  stop = true;
  word.fetch_add(1);
  platform::wake_one(word);
  sleeper.reset();
  std::size_t next = 0;
  const auto count = static_cast<unsigned>(paid.size());
  made["costs.wake"] = quiet_time(count, [&] { return paid[next++]; });
  next = 0;
  made["costs.wake_latency"] = quiet_time(count, [&] { return waited[next++]; });
  made["costs.sleep"] = slept;
}

// Measures a heavy fence while a kernel thread of the process runs on another unit.
void fences(int unit, const effort& how, figures& made) {
  std::atomic<bool> running{false}, stop{false};
  const auto body = [&] {
    running = true;
    while (!stop.load()) arch::pause();
  };
  // It ends after stop is set, at the end of the function.
  const helper other(unit, body);
  while (!running.load()) arch::pause();
  const std::size_t count = 100;
  made["costs.heavy_fence"] = each(how.runs, count, [&] {
    for (std::size_t i = 0; i < count; ++i) platform::heavy_fence();
  });
  stop = true;
}

std::atomic<unsigned> delivered;

void signals(const effort& how, figures& made) {
  const auto before = std::signal(SIGURG, [](int) { delivered.fetch_add(1); });
  if (before == SIG_ERR) return;
  const std::size_t count = 200;
  delivered = 0;
  const double cost = each(how.runs, count, [&] {
    for (std::size_t i = 0; i < count; ++i) std::raise(SIGURG);
  });
  std::signal(SIGURG, before);
  if (delivered.load() == how.runs * count) made["costs.signal"] = cost;
}

void clocks(const effort& how, figures& made) {
  const std::size_t count = 10'000;
  made["costs.clock"] = each(how.runs, count, [&] {
    for (std::size_t i = 0; i < count; ++i) (void)platform::now();
  });
}

}  // namespace

figures measure_operations(const std::vector<int>& units, const effort& how) {
  figures made;
  alone_on_one_worker(how, made);
  child_first(how, made);
  signals(how, made);
  clocks(how, made);
  if (units.size() > 1) {
    steals(how, made);
    // The caller is on the first unit, the helpers are on the second.
    platform::bind_self(units[0]);
    failed_steals(units[1], how, made);
    wakes(units[1], how, made);
    fences(units[1], how, made);
    platform::bind_self(-1);
  }
  // A figure that is below the clock's resolution was not measured.
  std::erase_if(made, [](const auto& line) { return !(line.second > 0); });
  return made;
}

}  // namespace heddle::cli::calibrate
