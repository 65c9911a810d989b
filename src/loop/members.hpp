// Loops with a named schedule: a member for each worker, which has chunks of its own (fixed, affinity) or takes them
// from all that are left (dynamic, guided). Invariants: src/loop/README.md, "Loops by name".
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <stop_token>

#include <heddle/detail/loop_named.hpp>
#include <heddle/detail/loop_pace.hpp>
#include <heddle/detail/loop_site.hpp>
#include <heddle/loop_schedule.hpp>

namespace heddle::detail {

// The chunks that are left, in order. This class orders nothing: the results of the loop's iterations are ordered by
// their joins.
class chunks_left {
 public:
  chunks_left(std::size_t n, const loop_schedule& how, std::size_t members) noexcept
      : n_(n), least_(std::clamp<std::size_t>(how.chunk, 1, n)), members_(members) {}

  // Takes the next `least` iterations. Returns false if there are none left.
  bool take_equal(std::size_t& low, std::size_t& high) noexcept {
    // Chunks are counted, not iterations, so that no number of takers makes the sum too large. relaxed: see above
    const std::size_t k = begin_.fetch_add(1, std::memory_order_relaxed);
    if (k > (n_ - 1) / least_) return false;
    low = k * least_;
    high = n_ - low < least_ ? n_ : low + least_;
    return true;
  }
  // Takes a part of the rest.
  bool take_part(std::size_t& low, std::size_t& high) noexcept {
    low = begin_.load(std::memory_order_relaxed);  // as above
    do {
      if (low == n_) return false;
      high = low + std::min(n_ - low, std::max(least_, (n_ - low) / (2 * members_)));
    } while (!begin_.compare_exchange_weak(low, high, std::memory_order_relaxed));  // as above
    return true;
  }

 private:
  const std::size_t n_, least_, members_;
  alignas(64) std::atomic<std::size_t> begin_{0};
};

// The Work of a loop over members, in the form that loop_tree takes.
class loop_members {
 public:
  using result = nothing_returned;

  // `site` is the memory of the loop's own iterations. If `measures` is true, long parts are timed for it.
  loop_members(loop_chunks work, std::size_t n, const loop_schedule& how, std::size_t members,
               const std::stop_token& stop, loop_site& site, bool measures) noexcept
      : work_(work),
        n_(n),
        how_(how),
        members_(members),
        left_(n, how, members),
        stop_(stop),
        site_(site),
        batch_(site.iterations_in(measures ? least_nanoseconds : long_batches::batch_nanoseconds)) {}

  // Not noexcept, because an iteration's exception goes through the loop over members.
  void operator()(result&, std::size_t low, std::size_t high) {
    for (; low != high; ++low) {
      try {
        run(low);
      } catch (...) {
        stopped_.store(true, std::memory_order_relaxed);  // relaxed: a request, ordered by nothing
        throw;
      }
    }
  }
  static result combine(result, result) noexcept { return {}; }
  static result nothing() noexcept { return {}; }
  const void* code() const noexcept { return work_.code(); }

  // For run_on_each_worker. The first exception is kept.
  static void run_noted(void* self, std::size_t member) noexcept {
    auto& s = *static_cast<loop_members*>(self);
    try {
      s.run(member);
    } catch (...) {
      s.stopped_.store(true, std::memory_order_relaxed);  // relaxed as above
      // relaxed: read when all have ended
      if (!s.failed_.exchange(true, std::memory_order_relaxed)) s.error_ = std::current_exception();
    }
  }
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  // Functions of their own, so that none saves registers for another.
  void run(std::size_t member) {
    switch (how_.how) {
      case loop_schedule::kind::dynamic: return run_dynamic();
      case loop_schedule::kind::guided: return run_guided();
      default: return how_.chunk == 0 ? run_part(member) : run_chunks(member);
    }
  }
  [[gnu::noinline]] void run_dynamic() {
    std::size_t low = 0, high = 0;
    service_pace pace;
    while (!stopped() && left_.take_equal(low, high)) work_(low, high), pace.boundary();
  }
  [[gnu::noinline]] void run_guided() {
    std::size_t low = 0, high = 0;
    service_pace pace;
    while (!stopped() && left_.take_part(low, high)) call(low, high), pace.boundary();
  }
  [[gnu::noinline]] void run_chunks(std::size_t member) {
    service_pace pace;
    const std::size_t chunks = (n_ - 1) / how_.chunk + 1;
    for (std::size_t k = member; k < chunks && !stopped(); k += members_) {
      const std::size_t low = k * how_.chunk;
      work_(low, n_ - low < how_.chunk ? n_ : low + how_.chunk);
      pace.boundary();
    }
  }
  [[gnu::noinline]] void run_part(std::size_t member) {
    const std::size_t low = part(member), high = part(member + 1);
    if (low != high && !stopped()) call(low, high);
  }
  // [named:4] A chunk whose length the program has not chosen.
  [[gnu::always_inline]] void call(std::size_t low, std::size_t high) {
    if (high - low <= batch_) work_(low, high);
    else run_in_batches(low, high);
  }
  [[gnu::noinline]] void run_in_batches(std::size_t low, std::size_t high) {
    const std::size_t n = high - low;
    long_batches batches(site_);
    while (low != high && !stopped()) {
      const std::size_t end = batches.end_of_next(low, high);
      work_(low, end);
      batches.ended(end - low);
      low = end;
    }
    if (low == high) site_.observe(n, batches.cycles());
  }
  // The position where the part of a member begins: the first n mod S members have one iteration more.
  std::size_t part(std::size_t member) const noexcept {
    return member * (n_ / members_) + std::min(member, n_ % members_);
  }
  bool stopped() const noexcept {
    // relaxed: requests, ordered by nothing
    return stopped_.load(std::memory_order_relaxed) || stop_.stop_requested();
  }

  // A part that is thought to take less is not timed again, because the clock would cost a hundredth of it.
  static constexpr std::uint64_t least_nanoseconds = 4000;

  const loop_chunks work_;
  const std::size_t n_;
  const loop_schedule how_;
  const std::size_t members_;
  chunks_left left_;
  std::atomic<bool> stopped_{false}, failed_{false};
  std::exception_ptr error_;
  const std::stop_token& stop_;
  loop_site& site_;
  const std::size_t batch_;  // a part of no more iterations is one batch, and is not timed
};

}  // namespace heddle::detail
