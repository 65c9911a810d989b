// Two halves of a fork, each of which waits until the other has begun, by looking at memory: "spin", "pause", "yield".
#include <atomic>
#include <cstdio>
#include <cstring>

#include <heddle/parallel_invoke.hpp>
#include <heddle/pause.hpp>
#include <heddle/thread.hpp>

namespace {

std::atomic<int> arrived{0};

[[gnu::noinline]] void meet(void (*turn)()) {
  ++arrived;
  while (arrived.load() < 2) turn();
}

}  // namespace

int main(int argc, char** argv) {
  void (*turn)() = [] {};
  if (argc > 1 && std::strcmp(argv[1], "pause") == 0) turn = [] { heddle::this_thread::pause(); };
  if (argc > 1 && std::strcmp(argv[1], "yield") == 0) turn = [] { heddle::this_thread::yield(); };
  heddle::parallel_invoke([turn] { meet(turn); }, [turn] { meet(turn); });
  std::puts("met");
}
