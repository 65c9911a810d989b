// The right forms of docs/guide/pitfalls.md.
#include <heddle/heddle.hpp>

#include <atomic>
#include <cstdio>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <numeric>
#include <vector>

#include <unistd.h>

// A lock held across a join: heddle::mutex belongs to the user-level
// thread, which may be suspended and go on elsewhere.
class counters {
 public:
  explicit counters(int n) : values_(n, 1) {}
  int sum() {
    std::lock_guard hold(guard_);
    return heddle::parallel_reduce(values_.begin(), values_.end(), 0, std::plus<>());
  }

 private:
  heddle::mutex guard_;  // a std::mutex here can deadlock, or be unlocked by another kernel thread
  std::vector<int> values_;
};

// A result for each chunk, instead of a thread_local one.
long digits_below(int n) {
  struct cache {  // the data that would have been thread_local
    char text[16];
  };
  std::atomic<long> digits{0};
  heddle::parallel_for_range(0, n, [&](int low, int high) {
    cache mine;
    long sum = 0;
    for (int i = low; i < high; ++i) sum += std::snprintf(mine.text, sizeof mine.text, "%d", i);
    digits += sum;
  });
  return digits;
}

// A system call that blocks: the worker goes on meanwhile, even if it is the only one.
char read_on_one_worker() {
  int ends[2];
  if (pipe(ends) != 0) return 0;
  heddle::runtime one(heddle::runtime_options{.workers = 1});
  const char got = one.run([&] {
    heddle::jthread writer([&] {
      if (write(ends[1], "x", 1) != 1) std::puts("write failed");
    });
    char c = 0;
    const ssize_t count = heddle::blocking([&] { return read(ends[0], &c, 1); });
    return count == 1 ? c : '\0';
  });
  close(ends[0]);
  close(ends[1]);
  return got;
}

// A deep recursion gets a stack to match.
int depth(int n) {
  volatile char frame[256];
  frame[0] = 1;
  return n == 0 ? 0 : depth(n - 1) + frame[0];
}
int deep_recursion() {
  int reached = 0;
  heddle::thread t(heddle::thread_options{.stack_size = std::size_t{256} << 20, .name = "deep"},
                   [&] { reached = depth(200000); });
  t.join();
  return reached;
}

// Waiting for a flag. A loop without yield() would keep the worker
// for itself, and with it the thread that sets the flag.
bool wait_for_flag() {
  heddle::runtime one(heddle::runtime_options{.workers = 1});
  return one.run([] {
    std::atomic<bool> set{false};
    heddle::latch gate(1);
    heddle::jthread other([&] {
      set = true;
      gate.count_down();
    });
    while (!set) heddle::this_thread::yield();  // works
    gate.wait();                                // better: nothing runs until the gate opens
    return true;
  });
}

// A future does not wait when it is destroyed, so the objects that its thread uses must outlive it by themselves.
heddle::future<int> sum_later() {
  auto numbers = std::make_shared<std::vector<int>>(100, 1);
  return heddle::async([numbers] { return std::accumulate(numbers->begin(), numbers->end(), 0); });
}

// Any thread may add to a group: here the children do.
void count_to(int n, heddle::task_group& group, std::atomic<int>& count) {
  ++count;
  if (n > 1) group.run([n, &group, &count] { count_to(n - 1, group, count); });
}
int children_add_children() {
  std::atomic<int> count{0};
  heddle::task_group group;  // last: it is destroyed, and so waits, first
  group.run([&] { count_to(100, group, count); });
  group.wait();
  return count;
}

// A wait in the kernel for what another task does. heddle::future needs no help here.
int get_from_a_child() {
  std::promise<int> result;
  heddle::task_group group;
  group.run([&] { result.set_value(42); });
  const int value = result.get_future().get();  // ends thanks to a substitute, if no other worker takes the child
  group.wait();
  return value;
}

int main() {
  const bool good = counters(1000).sum() == 1000 && digits_below(100) == 190 && read_on_one_worker() == 'x' &&
                    deep_recursion() == 200000 && wait_for_flag() && sum_later().get() == 100 &&
                    children_add_children() == 100 && get_from_a_child() == 42;
  std::puts(good ? "ok" : "wrong");
  return good ? 0 : 1;
}
