// Decides about a lone thread that was made on a worker and has not begun: whether it is left to its maker, which joins
// it next and runs it by a call, or goes to a worker that asks ("A lone new thread" in src/task/threads.md). Owns what
// the worker and its thieves have learnt of that. It promises nothing but speed. All accesses are relaxed, because the
// words are hints. A reader of an old value gives a thread away that could have stayed, or asks once more. A thread
// that is kept is announced all the same.
#pragma once

#include <atomic>
#include <cstdint>

#include "platform/platform.hpp"

namespace heddle::worker {

class lone_new {
 public:
  // By the worker, when a thief asks and there is such a thread.
  [[nodiscard]] bool is_kept() noexcept {
    if (wanted_.load(std::memory_order_relaxed)) {  // a hint
      wanted_.store(false, std::memory_order_relaxed);
      kept_.store(false, std::memory_order_relaxed);
    }
    return kept_.load(std::memory_order_relaxed);
  }
  // By the worker: a thread that runs here waits for one that it made and that has left this worker. `shared_at` is
  // when the last such thread was shared (platform::cycles).
  void learn_from_join(std::uint64_t shared_at) noexcept {
    if (platform::cycles() - shared_at < soon()) keep();
  }
  void keep() noexcept { kept_.store(true, std::memory_order_relaxed); }  // a hint
  // By a thief that insists: whether it may take ready threads of the worker by force. Returns false if there may be a
  // lone new thread that came not long ago and is kept for its maker. `made`: the threads that the worker has made.
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
  // A joiner that comes so soon after its thread went to another worker would have been quicker by itself. On another
  // worker the thread costs two transfers of cache lines, and it or its joiner changes workers.
  static std::uint64_t soon() noexcept { return 2 * platform::cycles_per_microsecond(); }

  // set when a join came right after the sharing, cleared when a thief had to come
  std::atomic<bool> kept_{false};
  std::atomic<bool> wanted_{false};  // set by thieves, cleared by the worker
  // written by thieves: the number of threads made here, and the time since when it has been that number
  std::atomic<std::uint64_t> made_seen_{0};
  std::atomic<std::uint64_t> made_seen_at_{0};
};

}  // namespace heddle::worker
