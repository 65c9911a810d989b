// The creator: a kernel thread of a runtime with preemptive threads, which does all allocating work for the workers:
// [preempt:6] of preemption.md. Owns that kernel thread and the requests to it. Requests come from any kernel thread
// with preemption off, also from signal handlers. Promise: a request is served, or its failure is told and it is made
// again; no request is lost because the creator falls asleep.
#pragma once

#include <atomic>
#include <cstdint>

#include "platform/platform.hpp"
#include "worker/carriers/carriers.hpp"
#include "worker/order/capacity.hpp"
#include "worker/worker.hpp"

namespace heddle::worker {

class creator {
 public:
  // The creator also looks after the capacity's limits, if there are any.
  creator(const worker_list& workers, carriers& all, capacity& limits) noexcept
      : workers_(workers), carriers_(all), capacity_(limits) {}

  // May be called more than once, from anywhere but a signal handler. Throws std::system_error, std::bad_alloc.
  void start();
  // True if carriers are to be had from it. That is so as soon as there may be preemptive threads here.
  bool is_there() const noexcept { return kernel_.load() != nullptr; }
  // Called by the runtime's destructor.
  void end() noexcept;

  // A spare carrier is missing. Requests beyond a limit do not count.
  void want_carrier() noexcept;
  // A carrier that was made for such a request is among the spares. Called by that carrier.
  void carrier_made() noexcept;
  // Some thread waits for a block of thread-local storage. Under the lock of the list of waiting threads.
  void want_block() noexcept;

 private:
  // Of several kernel threads that start at once one stays.
  struct kernel_thread {
    enum : std::uint32_t { open, chosen, beaten };
    explicit kernel_thread(creator& owner) noexcept : of(owner) {}
    creator& of;
    platform::kernel_thread kernel;
    std::atomic<std::uint32_t> verdict{open};  // futex word of its beginning; written by the thread that made it
  };
  static void run(void* argument);
  void serve() noexcept;
  void wake() noexcept;
  // Returns false if none could be made, though some thread waits. Defined where the blocks are: own_storage.cpp.
  bool make_blocks() noexcept;
  void tell_of_missing_carrier() noexcept;

  const worker_list& workers_;
  carriers& carriers_;
  capacity& capacity_;
  std::atomic<kernel_thread*> kernel_{nullptr};    // written once, by the quickest start
  std::atomic<std::uint32_t> calls_{0};            // futex word of the creator: raised after each request
  std::atomic<std::uint32_t> carriers_wanted_{0};  // requests so far
  std::atomic<std::uint32_t> carriers_served_{0};  // requests that have been served
  std::atomic<bool> lack_of_blocks_told_{false};
  std::atomic<bool> ends_{false};        // set once, by end
  bool told_of_missing_carrier_{false};  // the creator's
};

}  // namespace heddle::worker
