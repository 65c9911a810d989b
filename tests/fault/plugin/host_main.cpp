// A program that knows nothing of heddle and loads two libraries that use it: they share one set of kernel threads
// (scikit-learn #34070), and both can be unloaded and loaded again while the workers live.
#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "support/kernel_threads.hpp"

using heddle_test::kernel_threads;

namespace {

struct library {
  void* handle;
  long (*work)(long);
  const void* (*runtime)();
  unsigned (*workers)();
};

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "plugin test: %s\n", what.c_str());
  std::exit(1);
}

template <class F>
void find(void* handle, const char* name, F& function) {
  void* symbol = dlsym(handle, name);
  if (symbol == nullptr) fail(dlerror());
  function = reinterpret_cast<F>(symbol);
}

library load(const char* path) {
  library l{};
  l.handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (l.handle == nullptr) fail(dlerror());
  find(l.handle, "plugin_work", l.work);
  find(l.handle, "plugin_runtime", l.runtime);
  find(l.handle, "plugin_workers", l.workers);
  return l;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) fail("usage: host FIRST SECOND");
  alarm(100);
  constexpr long expected = 610 + 4950;
  const long before = kernel_threads();
  for (int round = 0; round < 20; ++round) {
    const library first = load(argv[1]);
    if (first.work(15) != expected) fail("the first library computes wrongly");
    const long with_one = kernel_threads();
    if (with_one < before + static_cast<long>(first.workers())) fail("there are no workers");
    const library second = load(argv[2]);
    if (second.work(15) != expected) fail("the second library computes wrongly");
    if (first.runtime() != second.runtime()) fail("the libraries have a runtime each");
    if (kernel_threads() != with_one)
      fail("the second library started kernel threads: " + std::to_string(kernel_threads()) + " after " +
           std::to_string(with_one));
    // Unloaded right after use, with workers still searching: their code must stay.
    dlclose(second.handle);
    if (first.work(15) != expected) fail("the first library computes wrongly after the second went");
    dlclose(first.handle);
    usleep(2000);  // workers search, sleep, and search again, all in code that must still be there
    if (kernel_threads() > with_one) fail("kernel threads were left behind");
  }
  std::puts("ok");
  return 0;
}
