// A program for a debugger and valgrind: threads, children of groups and forks at known places.
#include <heddle/parallel_invoke.hpp>
#include <heddle/runtime.hpp>
#include <heddle/task_group.hpp>
#include <heddle/thread.hpp>

#include <cstdio>

extern "C" {
// Unlike each other, or they are folded into one.
[[gnu::noinline]] void stop_in_thread(volatile int* value) { *value = *value + 1; }
[[gnu::noinline]] void stop_in_child(volatile int* value) { *value = *value + 10; }
}

namespace {

[[gnu::noinline]] void outer_frame(volatile int* value) {
  stop_in_thread(value);
  asm volatile("" ::: "memory");  // no tail call: the frame shall be seen
}

[[gnu::noinline]] void child_frame(volatile int* value) {
  stop_in_child(value);
  asm volatile("" ::: "memory");
}

long fib(long n) {
  if (n < 2) return n;
  auto [x, y] = heddle::parallel_invoke([n] { return fib(n - 1); }, [n] { return fib(n - 2); });
  return x + y;
}

}  // namespace

int main() {
  // the child runs on a stack of its own, at once
  heddle::runtime rt({.workers = 2, .policy = "random_ws:spawn=child"});
  volatile int value = 0;
  const long result = rt.run([&] {
    heddle::thread t({.name = "looked at"}, [&] { outer_frame(&value); });
    t.join();
    heddle::task_group group;
    group.run([&] { child_frame(&value); });
    for (int i = 0; i < 50; ++i) group.run([] { heddle::this_thread::yield(); });
    group.wait();
    return fib(12);
  });
  std::printf("%ld %d\n", result, value);
  return result == 144 && value == 11 ? 0 : 1;
}
