// Kernel threads that work through a list, several entries at once.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace heddle::cli::paper {

// Entries are begun in their order, each by the first of the `jobs` threads that is free. If one throws, no further
// entry is begun, and the thread that waits gets the exception.
class crew {
 public:
  using work = std::function<void(std::size_t entry, std::size_t job)>;

  crew(std::size_t jobs, std::size_t entries, work does);
  // Begins no further entry; waits for those that run.
  ~crew();
  crew(const crew&) = delete;
  crew& operator=(const crew&) = delete;

  // Returns when the first `count` entries are done. Calls `changed(done)` on the caller's thread, at once and whenever
  // an entry has begun or ended; `done` is the number of entries that have ended.
  void wait(std::size_t count, const std::function<void(std::size_t done)>& changed);

 private:
  void work_on(std::size_t job);

  work does_;
  std::mutex mutex_;  // guards the members below
  std::condition_variable news_;
  std::vector<bool> done_;
  std::size_t next_{0};
  bool ends_{false};
  std::exception_ptr failure_;
  std::vector<std::thread> threads_;  // used by the constructor and the destructor alone
};

}  // namespace heddle::cli::paper
