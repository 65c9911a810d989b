// A listener to the accesses that a program tells: a cost model in front of the process's own one, if there is one.
#include "windows/window_sample.hpp"

#include <heddle/detail/cost_model.hpp>
#include <heddle/detail/current.hpp>
#include <heddle/detail/wait.hpp>

#include <algorithm>
#include <new>

#include "worker/preemption/section.hpp"

namespace heddle::detail {

namespace {

// Static, because a worker may come here late, with a model that has been removed.
constinit std::atomic<window_sample*> listening{nullptr};
constinit std::atomic<const void*> listened_to{nullptr};  // the queue of the worker that runs the chunk
constinit std::atomic<bool> busy{false};                  // a thread is inside the sample
constinit std::atomic<const heddle_cost_model*> behind{nullptr};

}  // namespace

struct window_listener {
  // The thread that is busy reads `listening` after it became so, and stop() looks at `busy` after it has cleared
  // `listening`.
  template <class F>
  static void hear(F&& f) noexcept {
    const worker::section inside;
    const void* const on = listened_to.load();
    if (on == nullptr || on != current_queue() || busy.exchange(true)) return;
    if (window_sample* const s = listening.load(); s != nullptr) {
      try {
        f(*s);
      } catch (const std::bad_alloc&) {
        s->failed_.store(true);
        s->is_full_.store(true);
      }
    }
    busy.store(false);
  }

  static void cycles(double n) {
    if (const auto* to = behind.load(); to != nullptr) to->cycles(n);
  }
  static void access(const void* address, std::size_t bytes, int write) {
    hear([=](window_sample& s) { s.access(reinterpret_cast<std::uintptr_t>(address), bytes); });
    if (const auto* to = behind.load(); to != nullptr) to->access(address, bytes, write);
  }
  static void rows(const heddle_cost_rows* sets, std::size_t set_count, std::size_t count) {
    hear([=](window_sample& s) {
      for (std::size_t row = 0; row < count; ++row) {
        for (std::size_t k = 0; k < set_count; ++k)
          s.access(reinterpret_cast<std::uintptr_t>(sets[k].first) + row * sets[k].stride, sets[k].bytes);
      }
    });
    if (const auto* to = behind.load(); to != nullptr) to->rows(sets, set_count, count);
  }
};

namespace {

// The model offers all functions under the simulator; elsewhere pages are placed as usual.
constinit heddle_cost_model in_front{window_listener::cycles, window_listener::access, 0, nullptr, nullptr,
                                     window_listener::rows};

}  // namespace

window_sample::window_sample(std::uint64_t lines, unsigned line_bytes) noexcept
    : lines_(lines), line_bytes_(std::max(line_bytes, 1u)) {
  // Samples of the cache: distances are right to a hundredth or two.
  constexpr double samples = 8192;
  if (heddle_cost_is_declared() == 0 || lines == 0) return;
  window_sample* nobody = nullptr;
  if (!listening.compare_exchange_strong(nobody, this)) return;
  try {
    distances_ = std::make_unique<reuse_distance>(std::min(1.0, samples / static_cast<double>(lines)));
  } catch (const std::bad_alloc&) {
    listening.store(nullptr);
    return;
  }
  const heddle_cost_model* const before = cost_model();
  behind.store(before);
  if (before != nullptr) {  // one thread simulates all workers
    in_front.only = before->only;
    in_front.place = before->place;
    in_front.forget = before->forget;
  }
  // pairs with cost_model: publishes the model, which is filled in
  __atomic_store_n(&heddle_cost, &in_front, __ATOMIC_RELEASE);
}

window_sample::~window_sample() { stop(); }

void window_sample::stop() noexcept {
  if (listening.load() != this) return;
  __atomic_store_n(&heddle_cost, behind.load(), __ATOMIC_RELEASE);  // as above
  listened_to.store(nullptr);
  listening.store(nullptr);
  // A thread may have begun to hear in a chunk that has ended on another worker. It may wait for a lock of malloc's
  // whose holder waits for a time slice of this worker.
  while (busy.load()) yield();
}

void window_sample::listen() noexcept {
  const worker::section inside;
  listened_to.store(current_queue());
}

void window_sample::ignore() noexcept { listened_to.store(nullptr); }

void window_sample::access(std::uint64_t address, std::uint64_t bytes) {
  if (bytes == 0) return;
  const std::uint64_t last = (address + bytes - 1) / line_bytes_;
  for (std::uint64_t line = address / line_bytes_; line <= last; ++line) distances_->access(line);
  if (distances_->elements() >= 2 * lines_) is_full_.store(true);
}

std::size_t window_sample::window(unsigned cores) noexcept {
  stop();
  const std::size_t iterations = next_.load();
  if (!is_on() || failed_.load() || iterations == 0) return 0;
  try {
    distances_->set_iterations(iterations);
    return distances_->propose_window(lines_, cores).length;
  } catch (const std::bad_alloc&) {
    return 0;
  }
}

}  // namespace heddle::detail
