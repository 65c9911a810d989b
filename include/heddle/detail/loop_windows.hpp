// Parallel loops with windows, one for each cache that workers share: schedule::window and sliding_window by stealing.
// Protocol: src/loop/windows.md.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <vector>

#include <heddle/detail/loop_runtime.hpp>
#include <heddle/detail/loop_site.hpp>
#include <heddle/detail/loop_window.hpp>
#include <heddle/export.hpp>
#include <heddle/parallel_invoke.hpp>
#include <heddle/pause.hpp>

namespace heddle::detail {

// Workers, by rank, that share a cache of `bytes`; those that share none with anybody are taken together, `bytes` 0.
struct loop_cache {
  unsigned first_worker, workers;
  std::uint64_t bytes;
  unsigned line_bytes;
};
// Of the calling runtime, in the order of its workers. On a worker. Throws std::bad_alloc.
HEDDLE_API std::vector<loop_cache> loop_caches();
// The rank of the worker that the caller is on.
HEDDLE_API unsigned loop_worker() noexcept;

// How many positions are run between two looks at what else is to be done: such as take 2 us.
class window_pace {
 public:
  window_pace() noexcept : last_(loop_cycles()) {}
  std::uint64_t length() const noexcept { return length_; }
  void start() noexcept { last_ = loop_cycles(); }
  void passed(std::uint64_t count) noexcept {
    constexpr std::uint64_t target_nanoseconds = 2000, growth = 8, most = std::uint64_t{1} << 31;
    const std::uint64_t now = loop_cycles(), took = now - last_, target = loop_site::ticks_in(target_nanoseconds);
    last_ = now;
    if (took > target) length_ = std::max<std::uint64_t>(count * target / took, 1);
    else if (count == length_) length_ = std::min(count * std::min(target / (took + 1) + 1, growth), most);
  }

 private:
  std::uint64_t length_{1};
  std::uint64_t last_;
};

// The positions that a seat has been handed out and has not begun: it takes from the front, others from the back. A
// word of two halves, whose value is all there is to know: that it was another one in between does no harm.
class alignas(64) window_seat {
 public:
  // Its own: what it had is empty.
  void put(std::uint64_t low, std::uint64_t high) noexcept { word_.store(low << 32 | high); }
  bool take_front(std::uint64_t most, std::uint64_t& low, std::uint64_t& high) noexcept {
    std::uint64_t word = word_.load();
    do {
      low = low_of(word);
      if (low == high_of(word)) return false;
      high = std::min(low + most, high_of(word));
    } while (!word_.compare_exchange_weak(word, high << 32 | high_of(word)));
    return true;
  }
  // Somebody else takes the upper half of what it was seen to have.
  bool take_back(std::uint64_t seen, std::uint64_t& low, std::uint64_t& high) noexcept {
    low = low_of(seen) + (high_of(seen) - low_of(seen)) / 2;
    high = high_of(seen);
    return word_.compare_exchange_strong(seen, low_of(seen) << 32 | low);
  }
  std::uint64_t seen() const noexcept { return word_.load(); }
  static std::uint64_t low_of(std::uint64_t word) noexcept { return word >> 32; }
  static std::uint64_t high_of(std::uint64_t word) noexcept { return word & 0xffffffff; }

 private:
  std::atomic<std::uint64_t> word_{0};
};

// The Work of a loop over seats, for loop_tree.
template <class Work>
class windows_of {
 public:
  using result = nothing_returned;

  // Windows of `length` iterations. Throws std::bad_alloc.
  windows_of(Work& work, std::size_t n, std::size_t length, bool slides, std::size_t seats,
             const std::vector<loop_cache>& caches, const std::stop_token& stop)
      : work_(work),
        n_(n),
        unit_(n / most_positions + 1),
        seat_count_(seats),
        caches_(caches),
        seats_(std::make_unique<window_seat[]>(seats)),
        windows_(std::make_unique<loop_window[]>(caches.size())),
        stop_(stop) {
    const std::uint64_t positions = (n - 1) / unit_ + 1;
    const unsigned workers = caches.back().first_worker + caches.back().workers;
    const auto cut = [&](std::uint64_t worker) {  // rounded down, without a product that is too large
      return positions / workers * worker + positions % workers * worker / workers;
    };
    for (std::size_t g = 0; g < caches.size(); ++g) {
      const loop_cache& c = caches[g];
      windows_[g].open(cut(c.first_worker), cut(c.first_worker + c.workers), std::max<std::uint64_t>(length / unit_, 1),
                       std::min<std::uint64_t>(c.workers, seats), slides);
    }
  }

  // Not noexcept: what an iteration throws goes through the loop over seats.
  void operator()(result&, std::size_t low, std::size_t high) {
    for (; low != high; ++low) {
      try {
        sit(seats_[low]);
      } catch (...) {
        stop_all();
        throw;
      }
    }
  }
  static result combine(result, result) noexcept { return {}; }
  static result nothing() noexcept { return {}; }

 private:
  // Of a seat's word. A longer loop is counted in several iterations a position.
  static constexpr std::size_t most_positions = 0xffffffff;
  static constexpr std::uint64_t spin_nanoseconds = 1000;  // about what suspending and resuming cost together

  void sit(window_seat& mine) {
    window_pace pace;
    std::uint64_t low = 0, high = 0;
    for (;;) {
      while (mine.take_front(pace.length(), low, high)) {
        run(low, high);
        pace.passed(high - low);
        window_at(low).end(low, high);
        if (stopped()) return stop_all();
      }
      if (stopped() || !find(mine, pace)) return stopped() ? stop_all() : void();
      pace.start();
    }
  }

  // [window:4] Gives the seat something to run: of the window of the cache that its worker has, then of others. Waits
  // while that window has something that may not begin yet. False: there is nothing left, or the loop is stopped.
  bool find(window_seat& mine, const window_pace& pace) noexcept {
    const unsigned worker = loop_worker();
    std::size_t home = 0;
    while (home + 1 < caches_.size() && worker >= caches_[home + 1].first_worker) ++home;
    for (std::size_t k = 0; k < caches_.size(); ++k) {
      loop_window& w = windows_[(home + k) % caches_.size()];
      for (;;) {
        const bool all_out = w.is_handed_out();
        if (take(w, mine, pace)) return true;
        if (all_out) break;
        wait(w, pace);
        if (stopped()) return false;
      }
    }
    return false;
  }

  bool take(loop_window& w, window_seat& mine, const window_pace& pace) noexcept {
    std::uint64_t low = 0, high = 0;
    if (!w.take(low, high)) {
      for (;;) {
        std::uint64_t seen = 0;
        window_seat* const from = victim(w, pace, seen);
        if (from == nullptr) return false;
        if (from->take_back(seen, low, high)) break;
      }
    }
    mine.put(low, high);
    return true;
  }

  // Of the seats that have enough to be worth dividing: the one with the foremost positions, which hold up a window
  // that slides; the one with the most, where all have to end.
  window_seat* victim(const loop_window& w, const window_pace& pace, std::uint64_t& seen) const noexcept {
    window_seat* found = nullptr;
    for (std::size_t k = 0; k < seat_count_; ++k) {
      const std::uint64_t word = seats_[k].seen(), low = window_seat::low_of(word), high = window_seat::high_of(word);
      if (low == high || 2 * (high - low) < pace.length() || !w.has(low)) continue;
      const std::uint64_t best_low = window_seat::low_of(seen), best = window_seat::high_of(seen) - best_low;
      if (found != nullptr && (w.slides() ? low > best_low : high - low <= best)) continue;
      found = &seats_[k];
      seen = word;
    }
    return found;
  }

  // [window:5] Until something may begin, all is handed out, or the loop is stopped. May return early.
  void wait(loop_window& w, const window_pace& pace) noexcept {
    const auto is_over = [&] {
      std::uint64_t seen = 0;
      return w.may_take() || w.is_handed_out() || stopped() || victim(w, pace, seen) != nullptr;
    };
    const std::uint64_t begin = loop_cycles(), most = loop_site::ticks_in(spin_nanoseconds);
    do {
      this_thread::pause();
      if (is_over()) return;
    } while (loop_cycles() - begin < most);
    const event_count::key key = w.moved().prepare_wait();
    if (is_over()) w.moved().cancel_wait();
    else w.moved().commit_wait(key);
  }

  loop_window& window_at(std::uint64_t position) noexcept {
    loop_window* w = windows_.get();
    while (!w->has(position)) ++w;
    return *w;
  }

  [[gnu::noinline]] void run(std::uint64_t low, std::uint64_t high) {  // one copy of the body
    typename Work::result nothing{};
    work_(nothing, low * unit_, std::min(high * unit_, n_));
  }
  bool stopped() const noexcept { return stopped_.load() || stop_.stop_requested(); }
  void stop_all() noexcept {
    if (stopped_.exchange(true)) return;
    for (std::size_t g = 0; g < caches_.size(); ++g) windows_[g].moved().notify_all();
  }

  Work& work_;
  const std::size_t n_;
  const std::size_t unit_;  // iterations of a position
  const std::size_t seat_count_;
  const std::vector<loop_cache>& caches_;
  const std::unique_ptr<window_seat[]> seats_;
  const std::unique_ptr<loop_window[]> windows_;
  std::atomic<bool> stopped_{false};
  const std::stop_token& stop_;
};

}  // namespace heddle::detail
