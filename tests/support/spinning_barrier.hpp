#pragma once

#include <heddle/pause.hpp>

#include <atomic>
#include <thread>

namespace heddle_test {

// A barrier of which the runtime knows nothing.
class spinning_barrier {
 public:
  explicit spinning_barrier(unsigned all) : all_(all) {}
  void operator()() {
    const unsigned phase = phase_.load();
    if (here_.fetch_add(1) + 1 == all_) {
      here_.store(0);
      phase_.store(phase + 1);
    } else {
      for (unsigned looks = 1; phase_.load() == phase; ++looks) {
        heddle::this_thread::pause();
        if (looks % 1000 == 0) std::this_thread::yield();  // the processor, in tests with more workers than there are
      }
    }
  }

 private:
  std::atomic<unsigned> here_{0};
  std::atomic<unsigned> phase_{0};
  const unsigned all_;
};

}  // namespace heddle_test
