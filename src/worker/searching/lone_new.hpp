// Whether a lone thread that was made on a worker and has not begun is left to its maker, who joins it next and runs it
// by a call, instead of going to whoever asks ("A lone new thread" in src/task/threads.md). Owns what the worker and
// its thieves have learnt of that. Promise: none but of speed. relaxed, all of it: hints. Who reads an old one gives a
// thread away that could have stayed, or asks once more; what is kept is announced all the same.
#pragma once

#include <atomic>
#include <cstdint>

#include "platform/platform.hpp"

namespace heddle::worker {

class lone_new {
 public:
  // The worker: somebody asks, and there is such a thread.
  [[nodiscard]] bool is_kept() noexcept {
    if (wanted_.load(std::memory_order_relaxed)) {  // a hint
      wanted_.store(false, std::memory_order_relaxed);
      kept_.store(false, std::memory_order_relaxed);
    }
    return kept_.load(std::memory_order_relaxed);
  }
  // The worker: a thread that runs here waits for one that it made and that is here no more. Such threads were shared
  // last at that time (platform::cycles).
  void learn_from_join(std::uint64_t shared_at) noexcept {
    if (platform::cycles() - shared_at < soon()) keep();
  }
  void keep() noexcept { kept_.store(true, std::memory_order_relaxed); }  // a hint
  // A thief that insists: may it take ready threads of the worker by force? False: there may be a lone new one, which
  // came not long ago and is kept for its maker. `made`: threads that the worker has made.
  [[nodiscard]] bool is_given_up(std::uint64_t made) noexcept {
    if (!kept_.load(std::memory_order_relaxed)) return true;
    const std::uint64_t now = platform::cycles();
    if (made_seen_.load(std::memory_order_relaxed) != made) {
      made_seen_.store(made, std::memory_order_relaxed);    // a hint
      made_seen_at_.store(now, std::memory_order_relaxed);  // a hint
      return false;
    }
    if (now - made_seen_at_.load(std::memory_order_relaxed) < soon()) return false;  // a hint
    wanted_.store(true, std::memory_order_relaxed);                                  // a hint
    return true;
  }

 private:
  // A joiner that comes so soon after its thread went to another worker would have been quicker by itself. Elsewhere
  // the thread costs two transfers of cache lines and a change of workers, for it or for its joiner.
  static std::uint64_t soon() noexcept { return 2 * platform::cycles_per_microsecond(); }

  // Learnt: set when a join came right after the sharing, cleared when a thief had to come.
  std::atomic<bool> kept_{false};
  std::atomic<bool> wanted_{false};  // set by thieves, cleared by the worker
  // What thieves remember: threads made here, and since when they have been that many.
  std::atomic<std::uint64_t> made_seen_{0};
  std::atomic<std::uint64_t> made_seen_at_{0};
};

}  // namespace heddle::worker
