// What is remembered of the loops of one call site: how long an iteration takes, and whether loops so short are better
// kept from thieves. One object for each type of body, which for a lambda means for each place in the source.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <heddle/detail/loop_profile.hpp>
#include <heddle/export.hpp>

namespace heddle::detail {

// Reads the clock of a simulated machine; null on real ones.
using virtual_clock = std::uint64_t (*)() noexcept;
extern HEDDLE_API constinit const virtual_clock loop_virtual_cycles;

// The processor's time stamp: about 10 ns to read, the same on all cores. Its rate: loop_cycles_per_microsecond.
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

// 0 until the first call of loop_begin. Written once with the same value by whoever comes first.
extern HEDDLE_API constinit std::atomic<std::uint32_t> loop_cycles_per_microsecond;

// Every field is a hint: relaxed, written by any worker, ordered by nothing. A field is written only if it changes by a
// factor: loops inside loops share their site among all workers, whose caches shall all keep its line. What is
// remembered, and why: src/loop/sites.md.
class loop_site {
 public:
  // Loops shorter than this are over before a thief has brought a part of them home, however fast it is.
  static constexpr std::uint64_t tiny_nanoseconds = 700;
  // A loop that was held for tiny was misjudged if its first half takes longer.
  static constexpr std::uint64_t long_nanoseconds = 4000;
  // The least that a batch should take: the looks at the clock and at who is hungry are a hundredth of it.
  static constexpr std::uint64_t batch_nanoseconds = 2000;

  // True: n iterations are expected to take less than a steal costs, and the site is trusted.
  [[gnu::always_inline]] bool is_tiny(std::size_t n) const noexcept {
    return distrust_.load(std::memory_order_relaxed) == 0 && is_tiny_size(n);  // a hint
  }
  [[gnu::always_inline]] bool is_tiny_size(std::size_t n) const noexcept {
    const float cost = cost_.load(std::memory_order_relaxed);  // a hint
    return cost > 0 && cost * static_cast<float>(n) < tiny_ticks();
  }
  // False: in four batches of 2 us n iterations are over, as far as is known; with two workers in eight.
  bool is_long_loop(std::size_t n, unsigned workers) const noexcept {
    return is_uneven() || !is_known() || iterations_in(batch_nanoseconds) < n / (workers == 2 ? 8 : 4);
  }
  bool is_known() const noexcept { return cost_.load(std::memory_order_relaxed) > 0; }  // a hint
  [[gnu::always_inline]] static bool is_long(std::uint64_t cycles) noexcept {
    // a constant by now
    return cycles * 1000 > long_nanoseconds * loop_cycles_per_microsecond.load(std::memory_order_relaxed);
  }

  // Iterations that take about `nanoseconds`; 0: nothing is known.
  std::size_t iterations_in(std::uint64_t nanoseconds) const noexcept {
    const float cost = cost_.load(std::memory_order_relaxed);  // a hint
    if (cost <= 0) return 0;
    // a constant by now
    const float rate = static_cast<float>(loop_cycles_per_microsecond.load(std::memory_order_relaxed));
    const float count = static_cast<float>(nanoseconds) * rate / 1000 / cost;
    return count < 1e15f ? static_cast<std::size_t>(count) : std::size_t{1} << 50;
  }

  static std::uint64_t ticks_in(std::uint64_t nanoseconds) noexcept {
    return nanoseconds * loop_cycles_per_microsecond.load(std::memory_order_relaxed) / 1000;  // a constant by now
  }

  // [site:1] Some batches took many times what was expected. Expensive iterations may hide at the end of a batch, so
  // the last batches of a range are to be short.
  bool is_uneven() const noexcept { return uneven_.load(std::memory_order_relaxed) > soon; }  // a hint
  // [site:1] A batch [low, high) of a loop of n took `cycles`, many times what was expected. The cause of one may be
  // the kernel or a hypervisor. A second one soon after, at the same place, is the loop's own, if it is a part worth
  // balancing of the work done between the two.
  HEDDLE_API void surprise(std::size_t low, std::size_t high, std::size_t n, std::uint64_t cycles) noexcept;
  // A loop begins. After `soon` of them without a surprise the site forgets the last one.
  void age() noexcept {
    const std::uint32_t state = uneven_.load(std::memory_order_relaxed);  // a hint
    if (state != 0) [[unlikely]]
      uneven_.store(state == soon + 1 ? 0 : state - 1, std::memory_order_relaxed);  // a hint
  }

  // [site:4] Where in its loops the work lies.
  loop_grid& grid() noexcept { return grid_; }

  // `n` iterations took `cycles`, reading the time stamps included. n may be 0: nothing was run, nothing is learnt.
  [[gnu::always_inline]] void observe(std::size_t n, std::uint64_t cycles) noexcept {
    const float cost = cost_.load(std::memory_order_relaxed);  // a hint
    const float expected = cost * static_cast<float>(n);
    const float took = static_cast<float>(cycles);
    if (cost > 0 && took < 2 * expected + slack && 2 * took + slack > expected) [[likely]]
      return;
    correct(n, took);
  }

  // On two workers the second half of a loop of n starts late. By so many iterations the first half should be longer:
  // those of half the lateness so far, in steps of a 32nd of the loop, so that most loops of a site have the same
  // border: what lies between two borders would go from cache to cache. 0 for loops so short that this would distort
  // them.
  std::size_t head_start(std::size_t n) const noexcept {
    const float cost = cost_.load(std::memory_order_relaxed);  // a hint
    const float late = late_.load(std::memory_order_relaxed);  // a hint
    if (cost <= 0 || cost * static_cast<float>(n) <= 8 * late) return 0;
    const std::size_t step = n / 32 + 1;
    return static_cast<std::size_t>(late / 2 / cost) / step * step;
  }
  // At the end of a loop of n the first half, longer by `head_start` iterations, waited for the second, `waited` cycles
  // or not at all (0). What one loop says counts up to half of its time at most: a thief that slept, or found the data
  // in another core's cache, is no rule.
  void learn_lateness(std::size_t n, std::uint64_t waited, std::size_t head_start) noexcept {
    const float late = late_.load(std::memory_order_relaxed);                        // a hint
    if (waited == 0) return late_.store(late * 15 / 16, std::memory_order_relaxed);  // a hint
    const float cost = cost_.load(std::memory_order_relaxed);                        // a hint
    const float most = cost * static_cast<float>(n) / 2;
    const float seen = std::min(static_cast<float>(waited) + 2 * cost * static_cast<float>(head_start), most);
    late_.store(late + (seen - late) / 8, std::memory_order_relaxed);  // a hint
  }
  // A tiny loop was measured. If it counts as tiny only because thieves were late, some lateness is forgotten, so that
  // it is shared again some time.
  void forget_lateness() noexcept {
    const float late = late_.load(std::memory_order_relaxed);  // a hint
    // a hint
    if (lateness_factor * late > least_shared_ticks()) late_.store(late * 31 / 32, std::memory_order_relaxed);
  }

  // A loop of tiny size that was shared with thieves has ended: one step closer to being kept from them.
  void trust() noexcept {
    const std::uint32_t left = distrust_.load(std::memory_order_relaxed);  // a hint
    if (left == 0) return;
    distrust_.store(left - 1, std::memory_order_relaxed);                           // a hint
    if (left == 1) trusted_since_.store(loop_cycles(), std::memory_order_relaxed);  // a hint
  }

  // [tiny:5] A loop that was kept from thieves ran long, and a thief took a part of it by force. Each time that this
  // happens soon after trust was won, twice as many loops are needed to win it again.
  HEDDLE_API void misjudged() noexcept;

 private:
  static constexpr std::uint32_t soon = 64;     // loops
  static constexpr float worth_balancing = 16;  // a sixteenth
  static constexpr float slack = 100;           // cycles that two time stamps cost and disturb

  // What one worker does in T, two finish in T / 2 + lateness, so sharing gains if T > 2 lateness; and the queue costs.
  static constexpr float lateness_factor = 2.5f;

  static float least_shared_ticks() noexcept {
    // a constant by now
    return static_cast<float>(loop_cycles_per_microsecond.load(std::memory_order_relaxed)) *
           (tiny_nanoseconds / 1000.0f);
  }
  float tiny_ticks() const noexcept {
    return std::max(least_shared_ticks(), lateness_factor * late_.load(std::memory_order_relaxed));  // a hint
  }
  HEDDLE_API void correct(std::size_t n, float cycles) noexcept;

  std::atomic<float> cost_{0};              // cycles per iteration; 0: not known
  std::atomic<std::uint32_t> distrust_{2};  // tiny loops to be seen before one is kept from thieves
  std::atomic<std::uint32_t> setbacks_{0};
  std::atomic<float> late_{0};            // cycles between the start of a loop's two halves
  std::atomic<std::uint32_t> uneven_{0};  // 0: even; up to `soon`: surprised once; above: uneven
  std::atomic<std::uint64_t> trusted_since_{0};
  std::atomic<std::size_t> surprise_low_{0}, surprise_high_{0};  // where the last one was
  loop_grid grid_;
};

template <class Body>
inline constinit loop_site loop_site_of{};

}  // namespace heddle::detail
