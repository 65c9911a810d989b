// A queue of analyses of a simulation. Each analysis has its own copy of the atoms, so that it may go
// on while steps pass. At most as many analyses are under way as there are buffers.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

#include "lennard_jones.hpp"

namespace insitu {

// Thread is the type that start() returns; its join() waits for the end. One thread, the simulation's, may use this.
template <class Thread>
class analyses {
 public:
  // Each analysis runs on `parts` threads.
  analyses(unsigned buffers, unsigned parts) {
    for (unsigned b = 0; b < buffers; ++b) buffers_.push_back(std::make_unique<buffer>(parts));
  }

  // Copies the atoms and starts an analysis of them; start(work) makes a thread that calls work(). Waits for the oldest
  // when no buffer is free. Calls ended(number, g) when the buffer's earlier analysis is complete; number counts the
  // analyses from 0.
  template <class Start, class Ended>
  void add(const fluid& atoms, Start&& start, Ended&& ended) {
    buffer* free = nullptr;
    for (const auto& b : buffers_) {
      // acquire pairs with the decrement by the analysis's last thread: its counts, and that it ends at once
      const bool done = b->left.load(std::memory_order_acquire) == 0;
      if (done && (free == nullptr || b->number < free->number)) free = b.get();
    }
    if (free == nullptr) {
      ++waits_;
      for (const auto& b : buffers_) {
        if (free == nullptr || b->number < free->number) free = b.get();
      }
    }
    finish(*free, ended);
    free->number = next_++;
    free->g.take(atoms);
    free->left.store(free->g.parts());
    for (unsigned p = 0; p < free->g.parts(); ++p) {
      free->threads.push_back(start([free, p] {
        free->g.count(p);
        free->left.fetch_sub(1, std::memory_order_release);  // pairs with add: the counts
      }));
    }
  }

  // Waits for all analyses.
  template <class Ended>
  void finish(Ended&& ended) {
    for (const auto& b : buffers_) finish(*b, ended);
  }

  // Returns how often there was no free buffer.
  unsigned waits() const { return waits_; }

 private:
  struct buffer {
    explicit buffer(unsigned parts) : g(parts) {}
    radial_distribution g;
    std::atomic<unsigned> left{0};  // threads that have not ended
    std::size_t number{0};
    std::vector<Thread> threads;
  };

  template <class Ended>
  void finish(buffer& b, Ended&& ended) {
    if (b.threads.empty()) return;
    for (Thread& t : b.threads) t.join();
    b.threads.clear();
    ended(b.number, static_cast<const radial_distribution&>(b.g));
  }

  std::vector<std::unique_ptr<buffer>> buffers_;
  std::size_t next_{0};
  unsigned waits_{0};
};

}  // namespace insitu
