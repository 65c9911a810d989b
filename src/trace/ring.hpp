// The ring buffer that one worker writes its events to.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "trace/events.hpp"

namespace heddle::trace {

// Returns the nanoseconds of the platform's clock; virtual time works, too. It is called inside emit, so it must be
// safe in a signal handler.
using clock_function = std::uint64_t (*)();

// The resources that the calling kernel thread has used so far. The function is called inside emit now and then, so it
// must be safe in a signal handler, too.
struct usage {
  std::uint64_t cpu_ns = 0;
  std::uint32_t sleeps = 0;  // the number of times that it gave its processor up by itself
  std::uint64_t kernel_thread = 0;
};
using usage_function = usage (*)();

// The worker number of the ring that foreign threads share.
inline constexpr std::uint16_t foreign_worker = 0xffff;

// One event as readers see it and as it is stored in a trace file.
struct record {
  std::uint64_t ns = 0;
  trace::event event = event::none;
  std::uint16_t worker = 0;
  std::uint32_t arg = 0;
  std::uint64_t a = 0;
  std::uint64_t b = 0;

  friend bool operator==(const record&, const record&) = default;
};
static_assert(sizeof(record) == 32);

struct ring_snapshot {
  std::uint64_t written = 0;    // events ever written
  std::uint64_t lost = 0;       // the part that was overwritten or unreadable
  std::vector<record> records;  // the newest records, by time
};

// A ring of fixed size that keeps the newest records (README.md, "Why the oldest records are dropped"). It has one
// writer at a time and the signal handlers that interrupt it; foreign threads may share a ring, too. Any thread may
// take a snapshot while it is written.
class ring {
 public:
  // `records` is rounded up to a power of two. Throws std::bad_alloc, also for more than 2^32 records. The memory is
  // zero pages until it is written. If `use` is not null, the ring adds event::cpu_time to the records, at most once in
  // 100 us.
  ring(std::size_t records, std::uint16_t worker, clock_function now, usage_function use = nullptr);
  ~ring();
  ring(const ring&) = delete;
  ring& operator=(const ring&) = delete;

  // Callable from any thread and from a signal handler: no lock, no allocation, wait-free.
  void write(event id, std::uint32_t arg, std::uint64_t a, std::uint64_t b) noexcept;

  [[nodiscard]] std::size_t capacity() const noexcept { return mask_ + 1; }
  [[nodiscard]] std::uint16_t worker() const noexcept { return worker_; }
  [[nodiscard]] std::uint64_t written() const noexcept { return next_.load(); }

  // Callable from any thread, at any time. It allocates. Events written during the call may be missing.
  [[nodiscard]] ring_snapshot snapshot() const;

 private:
  std::uint64_t put(event id, std::uint32_t arg, std::uint64_t a, std::uint64_t b) noexcept;
  void sample(std::uint64_t ns) noexcept;

  clock_function now_;
  usage_function use_;
  std::uint64_t* words_;  // four to a slot, accessed by atomic_ref only: ring.md
  std::size_t mask_;
  unsigned shift_;
  std::uint16_t worker_;
  // The position of the next record. Writers write it. It publishes nothing, because a slot says itself whether it is
  // complete.
  alignas(64) std::atomic<std::uint64_t> next_{0};
  // The time when cpu_time was written last; `never` without a usage function. It is read and written by writers alone.
  // Two writers at a time at worst both write a sample.
  std::atomic<std::uint64_t> sampled_;
};

}  // namespace heddle::trace
