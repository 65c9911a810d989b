// The creator: a kernel thread of a runtime with preemptive threads, which does for the workers whatever allocates:
// [preempt:6] of preemption.md.
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <utility>

#include "base/contracts.hpp"
#include "worker/runtime.hpp"
#include "worker/section.hpp"
#include "worker/worker.hpp"

namespace heddle::worker {

namespace {

constexpr platform::nanoseconds limits_interval = 100'000'000;  // between two looks at what the process may use
constexpr platform::nanoseconds block_retry = 10'000'000;       // when a block of thread-local storage could not be had

}  // namespace

void runtime::wake_creator() noexcept {
  creator_calls_.fetch_add(1);
  platform::wake_one(creator_calls_);
}

// Makes carriers outside of signal handlers. It may wait for locks
// that a preempted thread holds: that thread goes on meanwhile.
void runtime::create_carriers(void* argument) {
  auto& self = *static_cast<creator*>(argument);
  while (self.verdict.load() == creator::open) platform::wait_on(self.verdict, creator::open);
  if (self.verdict.load() == creator::beaten) return;
  runtime& home = self.home;
  std::uint32_t begun = 0;  // requests for carriers
  for (;;) {
    const std::uint32_t calls = home.creator_calls_.load();  // before the looks at what is wanted
    if (home.creator_ends_.load()) return;
    const bool lacks_blocks = !home.make_blocks();
    const std::uint32_t wanted = home.carriers_wanted_.load();
    if (wanted == begun) {
      if (lacks_blocks) {
        platform::wait_on(home.creator_calls_, calls, platform::now() + block_retry);
      } else if (!home.capacity_.has_limits()) {
        platform::wait_on(home.creator_calls_, calls);
      } else {
        platform::wait_on(home.creator_calls_, calls, platform::now() + limits_interval);
        home.capacity_.follow_limits();
      }
      continue;
    }
    ++begun;
    // it offers itself once it has begun, and counts itself as served
    if (home.make_carrier(-1, true) != nullptr) continue;
    home.carriers_served_.fetch_add(wanted - begun + 1);  // the next tick asks again
    begun = wanted;
    home.tell_of_missing_carrier();
  }
}

// Once a runtime. Allocates nothing: there may be no memory.
void runtime::tell_of_missing_carrier() noexcept {
  if (std::exchange(told_of_missing_carrier_, true)) return;
  char text[600];
  const int length =
      std::snprintf(text, sizeof text,
                    "heddle: no kernel thread could be started for KLT-switching or a blocking call (%s): "
                    "preemptive threads keep their turns, blocking calls their worker, until one can be had\n",
                    platform::why_not_started(start_error_.load()).text);
  platform::write_error(text, static_cast<std::size_t>(length));
}

// A carrier tells it, not the creator: until then it may wait for
// locks of the C library, on the way to its first instruction of ours.
void runtime::carrier_made() noexcept {
  carriers_served_.fetch_add(1);
  for (const auto& w : workers_) {
    if (!w->wants_carrier.exchange(false)) continue;
    if (const int id = w->kernel_thread.load(std::memory_order_relaxed); id != 0) platform::send_tick(id);  // a hint
    break;
  }
}

// Called by user code, preemptive threads' too, so without a lock: of
// several that come at once each starts one, and one stays.
void runtime::start_creator() {
  if (has_creator()) return;
  auto mine = std::make_unique<creator>(*this);
  if (const int error = platform::start(mine->kernel, create_carriers, mine.get(), "heddle-creator"); error != 0) {
    throw std::system_error(std::error_code(error, std::generic_category()),
                            std::string("heddle: no kernel thread that makes others, which preemptive threads need: ") +
                                platform::why_not_started(error).text);
  }
  creator* nobody = nullptr;
  const bool first = creator_.compare_exchange_strong(nobody, mine.get());
  mine->verdict.store(first ? creator::chosen : creator::beaten);
  platform::wake_one(mine->verdict);
  if (first) static_cast<void>(mine.release());  // end_creator's
  else platform::join(mine->kernel);
}

void runtime::end_creator() noexcept {
  const std::unique_ptr<creator> ours(creator_.load());
  if (ours == nullptr) return;
  creator_ends_.store(true);
  wake_creator();
  platform::join(ours->kernel);
}

}  // namespace heddle::worker
