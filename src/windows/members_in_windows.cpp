#include "windows/members_in_windows.hpp"

#include <heddle/detail/loop_runtime.hpp>
#include <heddle/event_count.hpp>
#include <heddle/pause.hpp>

namespace heddle::detail {

members_in_windows::members_in_windows(loop_chunks work, std::size_t n, std::size_t length, bool slides,
                                       std::size_t members, const std::vector<loop_cache>& caches,
                                       const std::stop_token& stop)
    : work_(work),
      n_(n),
      unit_(n / open_range::most_positions + 1),
      member_count_(members),
      caches_(caches),
      members_(std::make_unique<window_member[]>(members)),
      windows_(std::make_unique<loop_window[]>(caches.size())),
      stop_(stop) {
  const std::uint64_t positions = (n - 1) / unit_ + 1;
  const unsigned workers = caches.back().first_worker + caches.back().workers;
  const auto cut = [&](std::uint64_t worker) {  // rounded down, computed without a product that is too large
    return positions / workers * worker + positions % workers * worker / workers;
  };
  for (std::size_t g = 0; g < caches.size(); ++g) {
    const loop_cache& c = caches[g];
    windows_[g].open(cut(c.first_worker), cut(c.first_worker + c.workers), std::max<std::uint64_t>(length / unit_, 1),
                     std::min<std::uint64_t>(c.workers, members), slides);
  }
}

void members_in_windows::operator()(result&, std::size_t low, std::size_t high) {
  for (; low != high; ++low) {
    try {
      run(members_[low]);
    } catch (...) {
      stop_all();
      throw;
    }
  }
}

void members_in_windows::run(window_member& mine) {
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

bool members_in_windows::find(window_member& mine, const window_pace& pace) noexcept {
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

bool members_in_windows::take(loop_window& w, window_member& mine, const window_pace& pace) noexcept {
  std::uint64_t low = 0, high = 0;
  if (!w.take(low, high)) {
    for (;;) {
      std::uint64_t seen = 0;
      window_member* const from = victim(w, pace, seen);
      if (from == nullptr) return false;
      if (from->take_back(seen, low, high)) break;
    }
  }
  mine.put(low, high);
  return true;
}

window_member* members_in_windows::victim(const loop_window& w, const window_pace& pace,
                                          std::uint64_t& seen) const noexcept {
  window_member* found = nullptr;
  for (std::size_t k = 0; k < member_count_; ++k) {
    const std::uint64_t word = members_[k].seen(), low = window_member::low_of(word),
                        high = window_member::high_of(word);
    if (low == high || 2 * (high - low) < pace.length() || !w.has(low)) continue;
    const std::uint64_t best_low = window_member::low_of(seen), best = window_member::high_of(seen) - best_low;
    if (found != nullptr && (w.slides() ? low > best_low : high - low <= best)) continue;
    found = &members_[k];
    seen = word;
  }
  return found;
}

void members_in_windows::wait(loop_window& w, const window_pace& pace) noexcept {
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

loop_window& members_in_windows::window_at(std::uint64_t position) noexcept {
  loop_window* w = windows_.get();
  while (!w->has(position)) ++w;
  return *w;
}

void members_in_windows::stop_all() noexcept {
  if (stopped_.exchange(true)) return;
  for (std::size_t g = 0; g < caches_.size(); ++g) windows_[g].moved().notify_all();
}

}  // namespace heddle::detail
