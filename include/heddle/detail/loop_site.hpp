// The memory of the loops of one call site: how long an iteration takes, and whether loops are so short that thieves
// should not share them. There is one object for each type of body, which for a lambda means for each place in the
// source.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <heddle/detail/loop_profile.hpp>
#include <heddle/export.hpp>

namespace heddle::detail {

// Reads the clock of a simulated machine. The pointer below is null on real machines.
using virtual_clock = std::uint64_t (*)() noexcept;
extern HEDDLE_API constinit const virtual_clock loop_virtual_cycles;

// Returns the processor's time stamp, which takes about 10 ns and is the same on all cores. Its rate is
// loop_cycles_per_microsecond.
[[gnu::always_inline]] inline std::uint64_t loop_cycles() noexcept {
  if (loop_virtual_cycles != nullptr) [[unlikely]]
    return loop_virtual_cycles();
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  std::uint64_t value;
  asm volatile("mrs %0, cntvct_el0" : "=r"(value));
  return value;
#endif
}

// 0 until the first call of loop_begin. Each first caller writes the same value.
extern HEDDLE_API constinit std::atomic<std::uint32_t> loop_cycles_per_microsecond;

// Every field is a hint: relaxed, written by any worker, ordered by nothing. A field is written only if it changes by a
// factor, because loops inside loops share their site among all workers, and the cache line should stay in all caches.
// The fields and their reasons: src/loop/sites.md.
class loop_site {
 public:
  // Loops shorter than this are over before a thief could have run a part of them, however fast the thief is.
  static constexpr std::uint64_t inline_nanoseconds = 700;
  // A loop that was taken for inline was misjudged if its first half takes longer than this.
  static constexpr std::uint64_t long_nanoseconds = 4000;
  // The shortest time of a batch. The looks at the clock and for hungry workers cost a hundredth of it.
  static constexpr std::uint64_t batch_nanoseconds = 2000;

  // Returns true if n iterations are expected to take less than a steal costs, and the site is trusted.
  [[gnu::always_inline]] bool is_inline(std::size_t n) const noexcept {
    return distrust_.load(std::memory_order_relaxed) == 0 && is_inline_size(n);  // a hint
  }
  [[gnu::always_inline]] bool is_inline_size(std::size_t n) const noexcept {
    const float cost = cost_.load(std::memory_order_relaxed);  // a hint
    return cost > 0 && cost * static_cast<float>(n) < inline_ticks();
  }
  // Returns false if, as far as is known, n iterations are over in four batches of 2 us (in eight with two workers).
  bool is_long_loop(std::size_t n, unsigned workers) const noexcept {
    return is_uneven() || !is_known() || iterations_in(batch_nanoseconds) < n / (workers == 2 ? 8 : 4);
  }
  bool is_known() const noexcept { return cost_.load(std::memory_order_relaxed) > 0; }  // a hint
  [[gnu::always_inline]] static bool is_long(std::uint64_t cycles) noexcept {
    // relaxed: a constant by this time
    return cycles * 1000 > long_nanoseconds * loop_cycles_per_microsecond.load(std::memory_order_relaxed);
  }

  // Returns the number of iterations that take about `nanoseconds`, or 0 if nothing is known.
  std::size_t iterations_in(std::uint64_t nanoseconds) const noexcept {
    const float cost = cost_.load(std::memory_order_relaxed);  // a hint
    if (cost <= 0) return 0;
    // relaxed: a constant by this time
    const float rate = static_cast<float>(loop_cycles_per_microsecond.load(std::memory_order_relaxed));
    const float count = static_cast<float>(nanoseconds) * rate / 1000 / cost;
    return count < 1e15f ? static_cast<std::size_t>(count) : std::size_t{1} << 50;
  }

  static std::uint64_t ticks_in(std::uint64_t nanoseconds) noexcept {
    // relaxed: a constant by this time
    return nanoseconds * loop_cycles_per_microsecond.load(std::memory_order_relaxed) / 1000;
  }

  // [site:1] Returns true if some batches took many times the expected time. Expensive iterations may hide at the end
  // of a batch, so the last batches of a range must be short.
  bool is_uneven() const noexcept { return uneven_.load(std::memory_order_relaxed) > soon; }  // a hint
  // [site:1] Records that a batch [low, high) of a loop of n took `cycles`, many times the expected time. One such
  // batch may be caused by the kernel or a hypervisor. A second one soon after at the same place belongs to the loop,
  // if it is a part worth balancing of the work done between the two.
  HEDDLE_API void surprise(std::size_t low, std::size_t high, std::size_t n, std::uint64_t cycles) noexcept;
  // Counts a loop that begins. After `soon` loops without a surprise the site forgets the last one.
  void age() noexcept {
    const std::uint32_t state = uneven_.load(std::memory_order_relaxed);  // a hint
    if (state != 0) [[unlikely]]
      uneven_.store(state == soon + 1 ? 0 : state - 1, std::memory_order_relaxed);  // a hint
  }

  // [site:4] Returns the profile: where in its loops the work lies.
  loop_grid& grid() noexcept { return grid_; }

  // Records that `n` iterations took `cycles`, the reading of the time stamps included. If n is 0, nothing was run and
  // nothing is learnt.
  [[gnu::always_inline]] void observe(std::size_t n, std::uint64_t cycles) noexcept {
    const float cost = cost_.load(std::memory_order_relaxed);  // a hint
    const float expected = cost * static_cast<float>(n);
    const float took = static_cast<float>(cycles);
    if (cost > 0 && took < 2 * expected + slack && 2 * took + slack > expected) [[likely]]
      return;
    correct(n, took);
  }

  // Returns the number of iterations by which the first half of a loop of n should be longer, because on two workers
  // the second half starts late. It is the work of half the lateness seen so far. It is rounded to a 32nd of the loop,
  // so that most loops of a site have the same border: the data between two different borders would move from cache to
  // cache. It is 0 for loops so short that this would distort them.
  std::size_t head_start(std::size_t n) const noexcept {
    const float cost = cost_.load(std::memory_order_relaxed);  // a hint
    const float late = late_.load(std::memory_order_relaxed);  // a hint
    if (cost <= 0 || cost * static_cast<float>(n) <= 8 * late) return 0;
    const std::size_t step = n / 32 + 1;
    return static_cast<std::size_t>(late / 2 / cost) / step * step;
  }
  // Learns from the end of a loop of n. Its first half, longer by `head_start` iterations, waited `waited` cycles for
  // the second, or not at all (0). A single loop counts up to half of its time, because a thief that slept, or that
  // found the data in another core's cache, is not typical.
  void learn_lateness(std::size_t n, std::uint64_t waited, std::size_t head_start) noexcept {
    const float late = late_.load(std::memory_order_relaxed);                        // a hint
    if (waited == 0) return late_.store(late * 15 / 16, std::memory_order_relaxed);  // a hint
    const float cost = cost_.load(std::memory_order_relaxed);                        // a hint
    const float most = cost * static_cast<float>(n) / 2;
    const float seen = std::min(static_cast<float>(waited) + 2 * cost * static_cast<float>(head_start), most);
    late_.store(late + (seen - late) / 8, std::memory_order_relaxed);  // a hint
  }
  // Called when an inline loop was measured. If it counts as inline only because thieves were late, some lateness is
  // forgotten, so that the loop is shared again at some time.
  void forget_lateness() noexcept {
    const float late = late_.load(std::memory_order_relaxed);  // a hint
    // a hint
    if (lateness_factor * late > least_shared_ticks()) late_.store(late * 31 / 32, std::memory_order_relaxed);
  }

  // Called when a loop of inline size that was shared with thieves has ended. It brings the site one step closer to
  // keeping such loops from thieves.
  void trust() noexcept {
    const std::uint32_t left = distrust_.load(std::memory_order_relaxed);  // a hint
    if (left == 0) return;
    distrust_.store(left - 1, std::memory_order_relaxed);                           // a hint
    if (left == 1) trusted_since_.store(loop_cycles(), std::memory_order_relaxed);  // a hint
  }

  // [inline:5] Called when a loop that was kept from thieves ran long, and a thief took a part of it by force. Each
  // time that this happens soon after trust was won, twice as many loops are needed to win it again.
  HEDDLE_API void misjudged() noexcept;

 private:
  static constexpr std::uint32_t soon = 64;     // loops
  static constexpr float worth_balancing = 16;  // one sixteenth of the work
  static constexpr float slack = 100;           // the cost and disturbance of two time stamps, in cycles

  // Two workers finish in T / 2 + lateness what one does in T, so sharing gains if T > 2 lateness. The queue adds a
  // cost.
  static constexpr float lateness_factor = 2.5f;

  static float least_shared_ticks() noexcept {
    // relaxed: a constant by this time
    return static_cast<float>(loop_cycles_per_microsecond.load(std::memory_order_relaxed)) *
           (inline_nanoseconds / 1000.0f);
  }
  float inline_ticks() const noexcept {
    return std::max(least_shared_ticks(), lateness_factor * late_.load(std::memory_order_relaxed));  // a hint
  }
  HEDDLE_API void correct(std::size_t n, float cycles) noexcept;

  std::atomic<float> cost_{0};              // cycles per iteration; 0 if not known
  std::atomic<std::uint32_t> distrust_{2};  // inline loops to be seen before one is kept from thieves
  std::atomic<std::uint32_t> setbacks_{0};
  std::atomic<float> late_{0};            // cycles between the starts of a loop's two halves
  std::atomic<std::uint32_t> uneven_{0};  // 0 is even; up to `soon` means surprised once; above it means uneven
  std::atomic<std::uint64_t> trusted_since_{0};
  std::atomic<std::size_t> surprise_low_{0}, surprise_high_{0};  // where the last surprise was
  loop_grid grid_;
};

template <class Body>
inline constinit loop_site loop_site_of{};

}  // namespace heddle::detail
