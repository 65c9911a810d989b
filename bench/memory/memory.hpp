// Resident memory. "fib": peak of fib(--n) above the same program without a runtime started, KiB.
// "deep": a thread that blocks inside 100,000 nested forks whose other halves must run meanwhile;
// ms, and that it works. "blocked": 1,000,000 live blocked threads, MiB; "blocked_each": KiB a
// thread. --iterations gives the levels, or the threads; one sample a process.
#pragma once

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <optional>
#include <stdexcept>

#include "fib/fib.hpp"
#include "harness/kernel.hpp"
#include "harness/memory_use.hpp"

namespace heddle::bench {

struct memory {
  static constexpr std::size_t default_n = 35;
  static constexpr std::size_t default_levels = 100'000;
  static constexpr std::size_t default_threads = 1'000'000;
  template <class Backend>
  static constexpr bool supports = Backend::tasks;

  static std::size_t empty_program_kib() {
    char path[4096];
    const auto length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length <= 0) throw std::runtime_error("memory: /proc/self/exe cannot be read");
    path[length] = 0;
    std::string command = path;
    command += " --kernel empty";
    std::FILE* const pipe = popen(command.c_str(), "r");
    std::size_t kib = 0;
    if (pipe == nullptr || std::fscanf(pipe, "%zu", &kib) != 1)
      throw std::runtime_error("memory: the empty program cannot be run");
    pclose(pipe);
    return kib;
  }

  template <class Backend>
  static void fib_peak(context& c, Backend& backend, std::size_t base) {
    std::uint64_t result = 0;
    backend.run([&] { result = fib_task<Backend>(static_cast<unsigned>(c.n())); });
    const std::size_t peak = peak_resident_kib();
    print_metric("fib", "KiB", {peak > base ? static_cast<double>(peak - base) : 0}, result);
  }

  template <class Backend>
  static void blocked(context& c, Backend& backend) {
    const std::size_t count = c.iterations(Backend::size("blocked", default_threads));
    backend.run([&] {
      const std::size_t before = resident_kib();
      typename Backend::gate gate;
      std::vector<std::uint64_t> passed(count);
      std::vector<std::optional<typename Backend::thread>> live(count);
      for (std::size_t i = 0; i < count; ++i) {
        live[i].emplace([&gate, slot = &passed[i]] {
          std::atomic_ref(*slot).store(1);
          gate.wait();
          std::atomic_ref(*slot).store(2);
        });
      }
      // Each thread must reach the gate, because until then its stack may not have been touched.
      for (std::size_t i = 0; i < count; ++i) {
        while (std::atomic_ref(passed[i]).load() == 0) Backend::yield();
      }
      const std::size_t held = resident_kib() - before;
      gate.open();
      for (auto& t : live) t->join();
      std::uint64_t sum = 0;
      for (const auto p : passed) sum += p;
      print_metric("blocked", "MiB", {static_cast<double>(held) / 1024}, sum / count);
      print_metric("blocked_each", "KiB", {static_cast<double>(held) / static_cast<double>(count)}, sum / count);
    });
  }

  template <class Backend>
  static void execute(context& c) {
    if constexpr (Backend::is_serial) {  // cannot block: the results alone
      c.expect("fib", fib_task<Backend>(static_cast<unsigned>(c.n())));
      c.expect("deep", c.iterations(default_levels) * 2);
      c.expect("blocked", 2);
      c.expect("blocked_each", 2);
    } else {
      // One runtime for all: Boost.Fiber's work stealing can be set up only once in a process.
      const std::size_t base = c.wants("fib") ? empty_program_kib() : 0;
      Backend backend(c.options());
      if (c.wants("fib")) fib_peak(c, backend, base);
      if constexpr (requires { Backend::nested_block(c.options(), std::size_t{}); }) {
        if (c.wants("deep")) {
          const std::size_t levels = c.iterations(default_levels);
          const auto begin = std::chrono::steady_clock::now();
          const std::uint64_t ran = Backend::nested_block(c.options(), levels);
          const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
          print_metric("deep", "ms", {took.count()}, ran);
        }
      }
      if constexpr (requires { typename Backend::gate; }) {
        if (c.wants("blocked")) blocked(c, backend);
      }
    }
  }
};

}  // namespace heddle::bench
