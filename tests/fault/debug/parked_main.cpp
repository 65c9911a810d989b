// Parks threads at known places. A debugger attaches to the program or reads its core. The program prints "parked" when
// the threads are there, and stays so.
#include <heddle/mutex.hpp>
#include <heddle/runtime.hpp>
#include <heddle/semaphore.hpp>
#include <heddle/thread.hpp>

#include <unistd.h>

#include <cstdio>

namespace {

heddle::mutex door;
heddle::counting_semaphore<> never(0);

[[gnu::noinline]] void waits_at_the_door(volatile int* depth) {
  *depth = *depth + 1;
  door.lock();
  asm volatile("" ::: "memory");  // no tail call: the frame shall be seen
}

[[gnu::noinline]] void takes_steps(volatile int* depth) {
  *depth = *depth + 1;
  if (*depth < 4) takes_steps(depth);
  else never.acquire();
  asm volatile("" ::: "memory");
}

}  // namespace

int main() {
  alarm(100);
  heddle::runtime rt({.workers = 2});
  rt.run([] {
    door.lock();
    heddle::thread a({.name = "at the door"}, [] {
      volatile int depth = 0;
      waits_at_the_door(&depth);
    });
    heddle::thread b({.name = "on the stairs"}, [] {
      volatile int depth = 0;
      takes_steps(&depth);
    });
    for (int i = 0; i < 1000; ++i) heddle::this_thread::yield();  // both have run and wait now
    std::puts("parked");
    std::fflush(stdout);
    never.acquire();
  });
}
