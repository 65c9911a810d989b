// The creator: a kernel thread of a runtime with preemptive threads, which does for the workers whatever allocates:
// [preempt:6] of preemption.md. Owns that kernel thread and the requests to it. Requests come from any kernel thread
// with preemption off, also from signal handlers. Promise: a request is served, or its lack is told and it is made
// again; none is lost because the creator falls asleep.
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
  // It also looks after the capacity's limits, if there are any.
  creator(const worker_list& workers, carriers& all, capacity& limits) noexcept
      : workers_(workers), carriers_(all), capacity_(limits) {}

  // Once or more, from anywhere but a signal handler. Throws std::system_error, std::bad_alloc.
  void start();
  // Carriers are to be had from it, as soon as there may be preemptive threads here.
  bool is_there() const noexcept { return kernel_.load() != nullptr; }
  // By the runtime's destructor.
  void end() noexcept;

  // A spare carrier is missing. Of many requests only so many count.
  void want_carrier() noexcept;
  // One that was made for such a request is among the spares: called by it.
  void carrier_made() noexcept;
  // Somebody waits for a block of thread-local storage. Under the lock of those who wait.
  void want_block() noexcept;

 private:
  // Of several that start at once one stays.
  struct kernel_thread {
    enum : std::uint32_t { open, chosen, beaten };
    explicit kernel_thread(creator& owner) noexcept : of(owner) {}
    creator& of;
    platform::kernel_thread kernel;
    std::atomic<std::uint32_t> verdict{open};  // futex word of its beginning; written by who made it
  };
  static void run(void* argument);
  void serve() noexcept;
  void wake() noexcept;
  // False: none could be made, though somebody waits. Defined where the blocks are: own_storage.cpp.
  bool make_blocks() noexcept;
  void tell_of_missing_carrier() noexcept;

  const worker_list& workers_;
  carriers& carriers_;
  capacity& capacity_;
  std::atomic<kernel_thread*> kernel_{nullptr};    // written once, by the quickest start
  std::atomic<std::uint32_t> calls_{0};            // futex word of the creator: raised after each request
  std::atomic<std::uint32_t> carriers_wanted_{0};  // requests so far
  std::atomic<std::uint32_t> carriers_served_{0};  // of these requests
  std::atomic<bool> lack_of_blocks_told_{false};
  std::atomic<bool> ends_{false};        // set once, by end
  bool told_of_missing_carrier_{false};  // the creator's
};

}  // namespace heddle::worker
