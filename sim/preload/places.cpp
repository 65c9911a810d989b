#include "sim/preload/places.hpp"

#include <dlfcn.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include <heddle/export.hpp>

#include "platform/sim/engine.hpp"

namespace heddle::sim {

namespace {

using main_function = int (*)(int, char**, char**);

// The program's main runs on a stack of its own, because the place at which the system's begins depends on the lengths
// of the program's name, of its arguments and of the environment.
class main_stack {
 public:
  // Returns the result of main, or calls it here if there is no memory for a stack.
  static int run(int argc, char** argv, char** environment) {
    constexpr std::uintptr_t begin = std::uintptr_t{0x5f} << 40;
    constexpr std::size_t most = std::size_t{1} << 30, guard = std::size_t{1} << 20;
    rlimit limit{};
    getrlimit(RLIMIT_STACK, &limit);
    const std::size_t bytes = std::clamp<std::size_t>(limit.rlim_cur, guard, most) / guard * guard;
    void* const memory = mmap(reinterpret_cast<void*>(begin), bytes + guard, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (memory == MAP_FAILED) return the_main(argc, argv, environment);
    mprotect(memory, guard, PROT_NONE);
    main_stack self{argc, argv, environment, 0};
    running = &self;
    ucontext_t outside, inside;
    getcontext(&inside);
    inside.uc_stack.ss_sp = static_cast<char*>(memory) + guard;
    inside.uc_stack.ss_size = bytes;
    inside.uc_link = &outside;
    makecontext(&inside, call, 0);
    swapcontext(&outside, &inside);
    return self.result_;
  }

  static inline main_function the_main{nullptr};

 private:
  main_stack(int argc, char** argv, char** environment, int result)
      : argc_(argc), argv_(argv), environment_(environment), result_(result) {}
  static void call() {
    main_stack& self = *running;
    self.result_ = the_main(self.argc_, self.argv_, self.environment_);
  }

  static inline main_stack* running{nullptr};
  int argc_;
  char** argv_;
  char** environment_;
  int result_;
};

#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
// The address at which the unused end of the heap begins.
std::uintptr_t end_of_blocks() noexcept { return reinterpret_cast<std::uintptr_t>(sbrk(0)) - mallinfo2().keepcost; }
#endif

}  // namespace

void place_blocks() noexcept {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 4096);
  // The values that hold unless the environment has others: as long as the heap has room, larger blocks come from it.
  mallopt(M_TOP_PAD, 128 << 10);
  mallopt(M_TRIM_THRESHOLD, 128 << 10);
#endif
}

void begin_heap() noexcept {
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
  // Blocks are never freed here. Each is 8 bytes longer than asked for, and its size a multiple of 16.
  constexpr std::size_t largest = 4048, smallest = 24, step = 16, head = 8, place = std::size_t{1} << 20;
  for (std::size_t bytes = largest - head; bytes >= smallest; bytes -= step) {
    // Until one comes from the end of the heap, so that no free block of this size is left.
    for (;;) {
      const std::uintptr_t end = end_of_blocks();
      const void* const block = std::malloc(bytes);
      if (block == nullptr || reinterpret_cast<std::uintptr_t>(block) >= end) break;
    }
  }
  const std::uintptr_t begin = (end_of_blocks() + place) / place * place;
  while (end_of_blocks() < begin) {
    const std::size_t left = begin - end_of_blocks();
    const std::size_t next = left <= largest ? left : std::min(largest, left - 2 * step);
    if (std::malloc(next - head) == nullptr) return;
  }
  malloc_trim(0);  // how much room the heap has left decides which of the larger blocks come from it
#endif
  // Never freed. Runs with several sizes show how much the place of the program's blocks in their pages and lines
  // changes.
  [[gnu::used]] static void* padding = nullptr;
  if (const char* const bytes = std::getenv("HEDDLE_SIM_PADDING"); bytes != nullptr)
    padding = std::malloc(std::strtoul(bytes, nullptr, 10));
}

}  // namespace heddle::sim

extern "C" HEDDLE_API int __libc_start_main(int (*main)(int, char**, char**), int argc, char** argv, void (*init)(),
                                            void (*fini)(), void (*loader_fini)(), void* stack_end) {
  using start = int(int (*)(int, char**, char**), int, char**, void (*)(), void (*)(), void (*)(), void*);
  auto* const in_c_library = reinterpret_cast<start*>(dlsym(RTLD_NEXT, "__libc_start_main"));
  heddle::sim::main_stack::the_main = main;
  return in_c_library(heddle::sim::active != nullptr ? heddle::sim::main_stack::run : main, argc, argv, init, fini,
                      loader_fini, stack_end);
}
