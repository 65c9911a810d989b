// Waiting for file descriptors. Protocol and proof: readiness.md.
#include <heddle/readiness.hpp>

#include <array>
#include <atomic>
#include <cerrno>
#include <memory>
#include <new>
#include <optional>
#include <system_error>

#include <heddle/blocking.hpp>
#include <heddle/detail/wait.hpp>
#include <heddle/sleep.hpp>

#include "base/contracts.hpp"
#include "platform/platform.hpp"
#include "worker/preemption/section.hpp"

namespace heddle::detail {

namespace {

// The waits for one descriptor. It is never freed, because descriptors are small numbers that are used again.
struct descriptor_state {
  spin_word guard;
  waiter_list readers, writers;  // under guard
  std::uint32_t asked{0};        // the number of requests to the kernel for it; under guard

  waiter_list& of(direction which) noexcept { return which == direction::read ? readers : writers; }
};

// All waits of a process, and the kernel thread that watches for them.
class watcher {
 public:
  // Returns the process's watcher. It is made at first use, and again in a forked child, which lacks the kernel thread.
  // Throws std::system_error, std::bad_alloc.
  static watcher& here();

  watcher() {
    if (const int error = platform::open_queue(queue_); error != 0)
      throw std::system_error(error, std::generic_category(), "heddle: epoll");
    const int error =
        platform::start(kernel_, [](void* self) { static_cast<watcher*>(self)->watch(); }, this, "heddle-io");
    if (error != 0)
      throw std::system_error(error, std::generic_category(),
                              "heddle: the kernel thread that watches file descriptors");
  }

  // Throws std::bad_alloc.
  descriptor_state& at(int descriptor) {
    std::atomic<chunk*>& place = chunks_[static_cast<unsigned>(descriptor) / chunk_size];
    chunk* known = place.load(std::memory_order_acquire);  // pairs with the exchange below: the entries, empty
    if (known == nullptr) {
      auto fresh = std::make_unique<chunk>();
      if (place.compare_exchange_strong(known, fresh.get())) known = fresh.release();
    }
    return (*known)[static_cast<unsigned>(descriptor) % chunk_size];
  }
  static bool possible(int descriptor) noexcept {
    return descriptor >= 0 && static_cast<unsigned>(descriptor) < chunk_size * chunk_count;
  }

  // Called under the descriptor's guard: asks the kernel to tell, once, when one of the directions is ready that a
  // thread waits for. Returns 0 or an errno value.
  int arm(int descriptor, descriptor_state& e) noexcept {
    return platform::arm(queue_, descriptor, ++e.asked, !e.readers.empty(), !e.writers.empty());
  }

 private:
  // Returns null if there is none yet in this process. made_in_ is written after instance_, so a thread that sees this
  // process's count sees its watcher.
  static watcher* existing() noexcept { return made_in_.load() == platform::fork_count() ? instance_.load() : nullptr; }

  static constexpr unsigned chunk_size = 256, chunk_count = 4096;  // descriptors up to 2^20, the kernel's usual limit
  using chunk = std::array<descriptor_state, chunk_size>;

  void watch() noexcept;
  void let_go(const platform::ready_descriptor& ready) noexcept;

  platform::readiness_queue queue_;
  platform::kernel_thread kernel_;
  std::array<std::atomic<chunk*>, chunk_count> chunks_{};

  static std::atomic<watcher*> instance_;
  static std::atomic<std::uint64_t> made_in_;  // the fork count of its process
  // 1 + the fork count of the process whose thread makes one; 0 if none does.
  static std::atomic<std::uint64_t> maker_;
};

std::atomic<watcher*> watcher::instance_{nullptr};
std::atomic<std::uint64_t> watcher::made_in_{0};
std::atomic<std::uint64_t> watcher::maker_{0};

watcher& watcher::here() {
  for (;; yield()) {
    if (watcher* const w = existing(); w != nullptr) return *w;
    const std::uint64_t mine = platform::fork_count() + 1;
    std::uint64_t maker = maker_.load();
    // Threads make a watcher one at a time. A value that a parent's thread left here while another thread forked
    // does not count, because that thread does not exist in this process.
    if (maker == mine || !maker_.compare_exchange_strong(maker, mine)) continue;
    struct until_return {
      ~until_return() { maker_.store(0); }
    } const made;
    if (watcher* const w = existing(); w != nullptr) return *w;  // another thread made one between the looks
    // It runs as a foreign kernel thread, which no tick interrupts, because memory is allocated and a kernel thread
    // started.
    return *blocking([] {
      auto fresh = std::make_unique<watcher>();
      instance_.store(fresh.get());
      made_in_.store(platform::fork_count());
      return fresh.release();  // ends with the process
    });
  }
}

void watcher::watch() noexcept {
  std::array<platform::ready_descriptor, 256> ready;
  for (;;) {
    const unsigned count = platform::wait_for_ready(queue_, ready.data(), ready.size());
    for (unsigned i = 0; i < count; ++i) let_go(ready[i]);
  }
}

void watcher::let_go(const platform::ready_descriptor& ready) noexcept {
  waiter_list chosen;
  descriptor_state& e = (*chunks_[static_cast<unsigned>(ready.descriptor) / chunk_size]
                              .load())[static_cast<unsigned>(ready.descriptor) % chunk_size];
  e.guard.lock();
  // The answer belongs to an earlier request: the descriptor may have been closed, and its number may be in use again.
  // The last request still holds.
  if (ready.asked != e.asked) return e.guard.unlock();
  const auto take = [&](waiter_list& list) {
    while (waiter* w = list.pop_front()) {
      if (claim(*w, wake_reason::notified)) chosen.push_back(*w);
    }
  };
  if (ready.readable) take(e.readers);
  if (ready.writable) take(e.writers);
  // it can fail only for a descriptor that was closed while a thread waited for it
  if (!e.readers.empty() || !e.writers.empty()) (void)arm(ready.descriptor, e);
  e.guard.unlock();
  while (waiter* w = chosen.pop_front()) resume(*w);
}

struct request {
  watcher* by;
  descriptor_state* at;
  int descriptor;
  direction which;
  const std::stop_token* stop;
  int error{0};

  static bool enqueue(void* data, waiter& w) noexcept {
    auto& r = *static_cast<request*>(data);
    descriptor_state& e = *r.at;
    e.guard.lock();
    // The stop's callback has run, or will find no waiter.
    if (r.stop != nullptr && r.stop->stop_requested()) {
      e.guard.unlock();
      return false;
    }
    e.of(r.which).push_back(w);
    r.error = r.by->arm(r.descriptor, e);
    const bool waits = r.error == 0;
    if (!waits) e.of(r.which).remove(w);
    e.guard.unlock();  // the waiter may be gone from here on
    return waits;
  }
};

wake_reason wait_at(request& r, waiter& w, const deadline* limit) noexcept {
  const worker::section inside;
  const wake_reason reason =
      limit == nullptr ? suspend(w, request::enqueue, &r) : suspend_until(w, request::enqueue, &r, *limit);
  if (reason == wake_reason::timed_out) {
    r.at->guard.lock();
    r.at->of(r.which).remove(w);
    r.at->guard.unlock();
  }
  return reason;
}

// A simulated machine has no events for what happens outside it, so the descriptor is looked at again and again.
[[maybe_unused]] bool look_again_and_again(int descriptor, direction which, const deadline* limit,
                                           const std::stop_token* stop) {
  for (;;) {
    if (stop != nullptr && stop->stop_requested()) return false;
    const int ready = platform::look(descriptor, which == direction::write);
    if (ready < 0) throw std::system_error(-ready, std::generic_category(), "heddle: waiting for a file descriptor");
    if (ready > 0) return true;
    if (limit != nullptr && std::chrono::steady_clock::now() >= *limit) return false;
    this_thread::sleep_for(std::chrono::microseconds(20));
  }
}

}  // namespace

bool wait_ready(int descriptor, direction which, const deadline* limit, const std::stop_token* stop) {
  if constexpr (platform::simulated) return look_again_and_again(descriptor, which, limit, stop);
  if (!watcher::possible(descriptor))
    throw std::system_error(EBADF, std::generic_category(), "heddle: waiting for a file descriptor");
  watcher& by = watcher::here();
  request r{&by, &by.at(descriptor), descriptor, which, stop};
  waiter w(which == direction::read ? "readable descriptor" : "writable descriptor");
  wake_reason reason;
  if (stop == nullptr) {
    reason = wait_at(r, w, limit);
  } else {
    const auto let_go = [&]() noexcept {
      const worker::section inside;
      r.at->guard.lock();
      waiter_list& list = r.at->of(which);
      // A waiter that has been claimed under the guard may be in the list of those to be resumed, which has no guard.
      const bool waits = w.reason.load() == 0 && (w.previous != nullptr || list.front() == &w);
      const bool mine = waits && claim(w, wake_reason::cancelled);
      if (mine) list.remove(w);
      r.at->guard.unlock();
      if (mine) resume(w);
    };
    std::optional<std::stop_callback<decltype(let_go)>> on_stop(std::in_place, *stop, let_go);
    reason = wait_at(r, w, limit);
    // As for condition variables: a callback under way may belong to a preempted thread that waits for this very
    // worker.
    if (worker::has_preemption() && stop->stop_requested()) blocking([&] { on_stop.reset(); });
  }
  // A descriptor of this kind cannot be watched and is always ready.
  if (r.error == EPERM) return true;
  if (r.error != 0) throw std::system_error(r.error, std::generic_category(), "heddle: waiting for a file descriptor");
  return reason == wake_reason::notified;
}

}  // namespace heddle::detail
