#include "worker/carriers/creator.hpp"

#include <cstdio>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

namespace heddle::worker {

namespace {

// The time between two looks at the processors that the process may use.
constexpr platform::nanoseconds limits_interval = 100'000'000;
// The time until the next try when a block of thread-local storage could not be had.
constexpr platform::nanoseconds block_retry = 10'000'000;

}  // namespace

void creator::wake() noexcept {
  calls_.fetch_add(1);
  platform::wake_one(calls_);
}

// Requests are bounded because the same worker asks again at each tick until a carrier has been made.
void creator::want_carrier() noexcept {
  if (carriers_wanted_.load() - carriers_served_.load() >= 2 * workers_.size()) return;
  carriers_wanted_.fetch_add(1);
  wake();
}

void creator::want_block() noexcept { wake(); }

void creator::run(void* argument) {
  auto& self = *static_cast<kernel_thread*>(argument);
  while (self.verdict.load() == kernel_thread::open) platform::wait_on(self.verdict, kernel_thread::open);
  if (self.verdict.load() == kernel_thread::chosen) self.of.serve();
}

// Makes carriers outside of signal handlers. It may wait for locks that a preempted thread holds, because that thread
// goes on meanwhile.
void creator::serve() noexcept {
  std::uint32_t begun = 0;  // requests for carriers
  for (;;) {
    const std::uint32_t calls = calls_.load();  // before the looks at the requests
    if (ends_.load()) return;
    const bool lacks_blocks = !make_blocks();
    const std::uint32_t wanted = carriers_wanted_.load();
    if (wanted == begun) {
      if (lacks_blocks) {
        platform::wait_on(calls_, calls, platform::now() + block_retry);
      } else if (!capacity_.has_limits()) {
        platform::wait_on(calls_, calls);
      } else {
        platform::wait_on(calls_, calls, platform::now() + limits_interval);
        capacity_.follow_limits();
      }
      continue;
    }
    ++begun;
    // The carrier offers itself once it has begun, and counts its request as served.
    if (carriers_.make(-1, true) != nullptr) continue;
    carriers_served_.fetch_add(wanted - begun + 1);  // the next tick asks again
    begun = wanted;
    tell_of_missing_carrier();
  }
}

// Tells it once for each runtime. It allocates nothing, because there may be no memory.
void creator::tell_of_missing_carrier() noexcept {
  if (std::exchange(told_of_missing_carrier_, true)) return;
  char text[600];
  const int length =
      std::snprintf(text, sizeof text,
                    "heddle: no kernel thread could be started for KLT-switching or a blocking call (%s): "
                    "preemptive threads keep their turns, blocking calls their worker, until one can be had\n",
                    platform::why_not_started(carriers_.start_error()).text);
  platform::write_error(text, static_cast<std::size_t>(length));
}

// Called by the carrier, not by the creator: until then the carrier may wait for locks of the C library, on the way to
// its first instruction of ours.
void creator::carrier_made() noexcept {
  carriers_served_.fetch_add(1);
  for (const auto& w : workers_) {
    if (!w->ticking.lack_carrier.exchange(false)) continue;
    if (const int id = w->ticking.kernel_thread.load(std::memory_order_relaxed); id != 0)
      platform::send_tick(id);  // a hint
    break;
  }
}

// Called by user code, preemptive threads' too, so without a lock: each of several calls at the same time starts a
// kernel thread, and only one stays.
void creator::start() {
  if (is_there()) return;
  auto mine = std::make_unique<kernel_thread>(*this);
  if (const int error = platform::start(mine->kernel, run, mine.get(), "heddle-creator"); error != 0) {
    throw std::system_error(std::error_code(error, std::generic_category()),
                            std::string("heddle: no kernel thread that makes others, which preemptive threads need: ") +
                                platform::why_not_started(error).text);
  }
  kernel_thread* nobody = nullptr;
  const bool first = kernel_.compare_exchange_strong(nobody, mine.get());
  mine->verdict.store(first ? kernel_thread::chosen : kernel_thread::beaten);
  platform::wake_one(mine->verdict);
  if (first) static_cast<void>(mine.release());  // `end` frees it
  else platform::join(mine->kernel);
}

void creator::end() noexcept {
  const std::unique_ptr<kernel_thread> ours(kernel_.load());
  if (ours == nullptr) return;
  ends_.store(true);
  wake();
  platform::join(ours->kernel);
}

}  // namespace heddle::worker
