// Runtimes: docs/guide/scheduling.md, docs/guide/policies.md.
#include <heddle/heddle.hpp>

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

// Two runtimes side by side, each with its own workers.
bool two_runtimes() {
  heddle::runtime rows(heddle::runtime_options{.workers = 2, .policy = "random_ws"});
  heddle::runtime audio(heddle::runtime_options{.workers = 1, .spin = 0});

  const long sum = rows.run([] {  // on a user-level thread of `rows`; the caller waits
    return heddle::parallel_reduce(0, 1000, 0L, [](int i) { return long(i); }, [](long a, long b) { return a + b; });
  });
  auto later = heddle::async(audio, [&] { return audio.is_current() && !rows.is_current(); });
  return sum == 499500 && later.get();
}

// Any kernel thread may use a runtime without telling it.
bool foreign_threads() {
  long a = 0, b = 0;
  std::thread other([&] { heddle::parallel_invoke([&] { a = 1; }, [&] { b = 2; }); });
  heddle::parallel_for(0, 100, [](int) {});
  other.join();
  return a + b == 3;
}

// The order of the serial program, for debugging: also HEDDLE_POLICY=serial.
bool serial_order() {
  heddle::runtime one(heddle::runtime_options{.policy = "serial"});
  std::string order;
  one.run([&] {
    heddle::task_group group;
    for (char c = 'a'; c < 'f'; ++c) group.run([&order, c] { order += c; });
    group.wait();
  });
  return one.workers() == 1 && order == "abcde";
}

// A loop inside the outermost group: docs/guide/policies.md.
void simulate(std::vector<double>& grid, int steps, std::atomic<double>& report) {
  heddle::task_group all;
  all.run([&report] { report.store(0); });  // work beside the loop
  for (int step = 0; step < steps; ++step) {
    heddle::next_iteration();  // the code up to the next mark is one iteration
    heddle::parallel_for(std::size_t{0}, grid.size(), [&grid](std::size_t i) { grid[i] += 1; });
    heddle::parallel_for(std::size_t{0}, grid.size(), [&grid](std::size_t i) { grid[i] *= 0.5; });
  }
  all.wait();  // the last iteration ends here
}

bool marked_iterations() {
  heddle::runtime replays(heddle::runtime_options{.policy = "constrained_ws"});
  std::vector<double> grid(1000, 1.0);
  std::atomic<double> report{1};
  replays.run([&] { simulate(grid, 20, report); });
  return grid.front() == 1.0 && grid.back() == 1.0 && report.load() == 0;
}

int main() {
  const bool good = two_runtimes() && foreign_threads() && serial_order() && marked_iterations();
  std::puts(good ? "ok" : "wrong");
  return good ? 0 : 1;
}
