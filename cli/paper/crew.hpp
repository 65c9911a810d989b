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

// Entries are begun in their order, each by whichever of `jobs` threads is free first. When one throws, no further one
// is begun, and whoever waits gets what it threw.
class crew {
 public:
  using work = std::function<void(std::size_t entry, std::size_t job)>;

  crew(std::size_t jobs, std::size_t entries, work does);
  // Begins no further entry; waits for those that run.
  ~crew();
  crew(const crew&) = delete;
  crew& operator=(const crew&) = delete;

  // Returns when the first `count` entries are done. `changed(done)` is called by the caller's thread, at once and
  // whenever an entry has been begun or has ended: how many of those there are.
  void wait(std::size_t count, const std::function<void(std::size_t done)>& changed);

 private:
  void work_on(std::size_t job);

  work does_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable news_;
  std::vector<bool> done_;
  std::size_t next_{0};
  bool ends_{false};
  std::exception_ptr failure_;
  std::vector<std::thread> threads_;  // the constructor's and the destructor's alone
};

}  // namespace heddle::cli::paper
