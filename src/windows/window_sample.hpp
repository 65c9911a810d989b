// A sample of the accesses of a loop, taken while it runs: [choice:2] of src/windows/README.md.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <heddle/detail/loop_named.hpp>
#include <heddle/reuse_distance.hpp>

namespace heddle::detail {

// Listens to the accesses that the program tells (heddle/cost.hpp), in the iterations from the loop's first one on that
// are run in order, until they have touched twice what the cache holds. There is one sample at a time in a process.
class window_sample {
 public:
  // Begins to listen, for caches of `lines` lines of `line_bytes`. Check is_on() afterwards: there is nothing to listen
  // to if the program tells nothing, if another loop is being listened to, or if there is no memory.
  window_sample(std::uint64_t lines, unsigned line_bytes) noexcept;
  ~window_sample();
  window_sample(const window_sample&) = delete;
  window_sample& operator=(const window_sample&) = delete;
  bool is_on() const noexcept { return distances_ != nullptr; }
  std::uint64_t lines() const noexcept { return lines_; }
  unsigned line_bytes() const noexcept { return line_bytes_; }

  // Called around a chunk. leave() must be called if enter() returned true.
  bool enter(std::size_t low) noexcept {
    // Only the thread that runs the next iteration finds it so, and advances it.
    if (!is_on() || low != next_.load() || is_full_.load()) return false;
    listen();
    return true;
  }
  void leave(std::size_t high) noexcept {
    ignore();
    next_.store(high);
  }

  // True if more accesses would tell nothing new.
  bool is_full() const noexcept { return is_full_.load(); }
  std::size_t iterations() const noexcept { return next_.load(); }  // that have been listened to

  // The window for `cores` that share the cache; 0 if none is needed, or none helps. Must be called when the loop has
  // ended; it ends the listening.
  std::size_t window(unsigned cores) noexcept;

 private:
  friend struct window_listener;  // behind the program's annotations
  static void listen() noexcept;
  static void ignore() noexcept;
  void access(std::uint64_t address, std::uint64_t bytes);
  void stop() noexcept;

  const std::uint64_t lines_;
  const unsigned line_bytes_;
  std::unique_ptr<reuse_distance> distances_;
  std::atomic<bool> failed_{false};  // set when memory was short
  std::atomic<bool> is_full_{false};
  std::atomic<std::size_t> next_{0};  // all before it have been listened to
};

// A loop that is listened to.
struct sampled_work {
  using result = nothing_returned;
  loop_chunks work;
  window_sample& sample;
  void operator()(result&, std::size_t low, std::size_t high) {
    struct listening {
      window_sample* to;
      std::size_t high;
      ~listening() {
        if (to != nullptr) to->leave(high);
      }
    } until_the_end{sample.enter(low) ? &sample : nullptr, high};
    work(low, high);
  }
};

}  // namespace heddle::detail
