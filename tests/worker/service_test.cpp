// Threads that wait while all workers compute have their turn (src/worker/searching/service.md). In each test the work
// lasts until a certain thread has run, and that thread can run only if the work gives way.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <heddle/heddle.hpp>

namespace heddle {
namespace service_test {
namespace {

using namespace std::chrono_literals;

// Work that has no end of its own, and keeps every worker of the calling thread's runtime busy until `stop`.
using endless = void (*)(runtime& home, std::stop_source& stop);

constexpr long endless_length = 1L << 32;  // hours

void compute() {
  volatile int x = 0;
  for (int i = 0; i < 2000; ++i) x = x + 1;
}

void a_loop(runtime&, std::stop_source& stop) {
  parallel_for(0L, endless_length, [](long) { compute(); }, {.stop = stop.get_token()});
}
void a_loop_that_yields(runtime&, std::stop_source& stop) {
  const auto body = [](long) {
    compute();
    this_thread::yield();
  };
  parallel_for(0L, endless_length, body, {.stop = stop.get_token()});
}
void a_loop_with_a_grain(runtime&, std::stop_source& stop) {
  parallel_for(0L, endless_length, [](long) { compute(); }, {.grain = 1, .stop = stop.get_token()});
}
void a_reduction(runtime&, std::stop_source& stop) {
  const auto body = [](long) {
    compute();
    return 1L;
  };
  parallel_reduce(0L, endless_length, 0L, body, std::plus<>(), {.stop = stop.get_token()});
}
void a_dynamic_loop(runtime&, std::stop_source& stop) {
  parallel_for(0L, endless_length, [](long) { compute(); },
               {.stop = stop.get_token(), .schedule = schedule::dynamic(10)});
}

void fork_until(const std::stop_source& stop, int depth) {
  compute();
  if (depth == 0 || stop.stop_requested()) return;
  parallel_invoke([&] { fork_until(stop, depth - 1); }, [&] { fork_until(stop, depth - 1); });
}
void forks(runtime&, std::stop_source& stop) { fork_until(stop, 60); }

void children(runtime&, std::stop_source& stop) {
  while (!stop.stop_requested()) {
    task_group group;
    for (int i = 0; i < 1000; ++i) {
      group.run([&] {
        if (!stop.stop_requested()) compute();
      });
    }
    group.wait();
  }
}

void yields(runtime& home, std::stop_source& stop) {
  std::vector<jthread> all;
  for (unsigned i = 0; i < home.workers(); ++i) {
    all.emplace_back([&] {
      while (!stop.stop_requested()) {
        compute();
        this_thread::yield();
      }
    });
  }
}

void a_scan(runtime&, std::stop_source& stop) {
  std::vector<long> values(1000, 1);
  const auto add = [](long a, long b) {
    compute();
    return a + b;
  };
  while (!stop.stop_requested()) parallel_scan(values, add);
}

// What stops it, from inside the runtime or from outside.
using stopper = void (*)(runtime& home, std::stop_source& stop, endless work);

void a_timer(runtime& home, std::stop_source& stop, endless work) {
  jthread clock([&] {
    this_thread::sleep_for(5ms);
    stop.request_stop();
  });
  work(home, stop);
}
void a_ready_thread(runtime& home, std::stop_source& stop, endless work) {
  jthread waits([&] { stop.request_stop(); });
  work(home, stop);
}
void a_thread_from_outside(runtime& home, std::stop_source& stop, endless work) {
  std::thread outside([&] {
    std::this_thread::sleep_for(5ms);
    async(home, [&] { stop.request_stop(); }).get();
  });
  work(home, stop);
  // The outer thread waits for its future in the kernel.
  blocking([&] { outside.join(); });
}
void a_readable_descriptor(runtime& home, std::stop_source& stop, endless work) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  jthread reader([&] {
    wait_readable(ends[0]);
    stop.request_stop();
  });
  std::thread outside([&] {
    std::this_thread::sleep_for(5ms);
    EXPECT_EQ(write(ends[1], "x", 1), 1);
  });
  work(home, stop);
  blocking([&] { outside.join(); });
  reader.join();
  close(ends[0]);
  close(ends[1]);
}

struct named_work {
  const char* name;
  endless work;
};
struct named_stopper {
  const char* name;
  stopper by;
};

class service : public testing::TestWithParam<std::tuple<named_work, named_stopper, unsigned>> {};

TEST_P(service, work_gives_way_to_what_waits) {
  const auto& [work, by, workers] = GetParam();
  runtime home(runtime_options{.workers = workers});
  std::stop_source stop;
  home.run([&] { by.by(home, stop, work.work); });
  EXPECT_TRUE(stop.stop_requested());
}

constexpr named_work all_work[] = {{"loop", a_loop},
                                   {"yielding_loop", a_loop_that_yields},
                                   {"grain", a_loop_with_a_grain},
                                   {"reduction", a_reduction},
                                   {"scan", a_scan},
                                   {"dynamic_loop", a_dynamic_loop},
                                   {"forks", forks},
                                   {"children", children},
                                   {"yields", yields}};
constexpr named_stopper all_stoppers[] = {{"timer", a_timer},
                                          {"ready", a_ready_thread},
                                          {"sent_in", a_thread_from_outside},
                                          {"readable", a_readable_descriptor}};

INSTANTIATE_TEST_SUITE_P(all, service,
                         testing::Combine(testing::ValuesIn(all_work), testing::ValuesIn(all_stoppers),
                                          testing::Values(1u, 2u)),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param).name) + "_" + std::get<1>(info.param).name + "_" +
                                  std::to_string(std::get<2>(info.param));
                         });

// A thread above the loop's level is served although nothing else would make the loop give way.
TEST(service_by_priority, a_higher_thread_has_its_turn_in_a_loop) {
  runtime home(runtime_options{.workers = 1});
  std::stop_source stop;
  home.run([&] {
    thread_options o;
    o.priority = priority::highest;
    jthread clock(o, [&] {
      this_thread::sleep_for(5ms);
      stop.request_stop();
    });
    a_loop(home, stop);
  });
  EXPECT_TRUE(stop.stop_requested());
}

// An interrupted loop is finished, and each iteration runs once.
TEST(service_and_results, an_interrupted_loop_is_complete) {
  runtime home(runtime_options{.workers = 2, .service_bound = 10us});
  constexpr int n = 20000;
  std::vector<std::atomic<int>> runs(n);
  std::atomic<bool> done{false};
  std::atomic<long> turns{0};
  home.run([&] {
    std::vector<jthread> guests;
    for (int i = 0; i < 3; ++i) {
      guests.emplace_back([&] {
        while (!done) {
          ++turns;
          this_thread::yield();
        }
      });
    }
    parallel_for(0, n, [&](int i) {
      compute();
      ++runs[static_cast<std::size_t>(i)];
    });
    const long sum = parallel_reduce(0, n, 0L, [](int i) { return static_cast<long>(i); }, std::plus<>());
    EXPECT_EQ(sum, static_cast<long>(n) * (n - 1) / 2);
    done = true;
  });
  for (const auto& r : runs) EXPECT_EQ(r, 1);
  EXPECT_GT(turns, 3);
}

}  // namespace
}  // namespace service_test
}  // namespace heddle
