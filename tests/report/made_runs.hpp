// Recordings of a made-up heat equation on a grid of tiles. The report page is tested with them. They are exact,
// reproducible and of any size.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "trace/recording.hpp"

namespace heddle::trace::test {

struct made_run {
  unsigned workers = 16;
  unsigned side = 16;  // tiles of the grid in each direction, a power of two
  unsigned iterations = 20;
  unsigned strays = 3;     // of a hundred chunks, those that run on another worker than the iteration before
  bool tree = false;       // chunks tell nodes of a quadtree, too
  bool scattered = false;  // chunks go to workers at random, as random stealing has it
  std::string policy = "adws";
  std::string clock = "virtual";
  std::uint64_t seed = 1;
};

class maker {
 public:
  explicit maker(const made_run& how) : how_(how), random_(how.seed * 2 + 1), ends_(how.workers) {
    out_.program = "heat2d --n 2048";
    out_.machine = "4 x 4 cores, 22 MiB L3 each";
    out_.policy = how.policy;
    out_.attributes = {{"clock", how.clock}, {"event_ns", "0"}, {"forks", "all"}, {"seed", std::to_string(how.seed)}};
    out_.texts = {"heat", "quadtree", "residual"};
    out_.symbols = {
        {0xf00, "heddle::detail::fork_frame<heat::sweep(heat::tile)::{lambda()#2}>::execute(heddle::detail::job*)"},
        {0xf10, "heat::boundary(heat::tile)"},
        {0xf20, "main"}};
    for (unsigned w = 0; w < how.workers; ++w) {
      worker_log log;
      log.worker = static_cast<std::uint16_t>(w);
      log.place = "pu:" + std::to_string(w);
      out_.workers.push_back(std::move(log));
      put(w, 0, event::worker_start, 0, 1000 + w, 0);
      if (w != 0) put(w, 10, event::idle_begin);
    }
    put(0, 10, event::thread_switch_in, 0, 1, 0);
    put(0, 10, event::task_begin, 1, 1, 0xf20);
  }

  recording make() {
    const unsigned tiles = how_.side * how_.side;
    const unsigned chunk = std::max(1u, tiles / (how_.workers * 4));
    std::vector<unsigned> owner(tiles / chunk + 1);
    std::vector<unsigned> last(owner.size());
    std::uint64_t now = 100;
    for (unsigned step = 0; step < how_.iterations; ++step) {
      const unsigned chunks = tiles / chunk;
      for (unsigned c = 0; c < chunks; ++c) {
        owner[c] = how_.scattered || below(100) < how_.strays ? below(how_.workers) : c * how_.workers / chunks;
      }
      owner[0] = 0;
      const std::uint64_t begin = now;
      std::vector<std::uint64_t> free(how_.workers, begin + 200);
      // The forks, on worker 0, which then runs its own chunks.
      for (unsigned c = 0; c < chunks; ++c) {
        put(0, begin + c, event::fork, 0, frame(c), 0xf00);
      }
      free[0] = begin + chunks + 1;
      for (unsigned c = 0; c < chunks; ++c)
        run_chunk(c, chunk, owner[c], free[owner[c]], step > 0 && last[c] != owner[c]);
      for (unsigned w = 0; w < how_.workers; ++w) now = std::max(now, free[w]);
      // Worker 0 waits for the last one, who wakes it.
      unsigned slowest = 0;
      for (unsigned w = 1; w < how_.workers; ++w) {
        if (free[w] > free[slowest]) slowest = w;
      }
      if (slowest != 0) {
        put(0, free[0], event::thread_park, 0, 1, 0);
        put(0, free[0] + 20, event::idle_begin);
        put(slowest, ends_[slowest] - 1, event::thread_wake, 0, 1, 0);
        put(0, now + 80, event::idle_end);
        put(0, now + 100, event::thread_switch_in, 0, 1, 0);
      }
      now += 100;
      for (unsigned c = 0; c < chunks; ++c) {
        put(0, now, event::join, 0, frame(c), 0);
      }
      put(0, now, event::region_begin, 2);
      now += 2500;
      put(0, now, event::region_end);
      now += 100;
      last = owner;
    }
    put(0, now, event::task_end, 0, 1, 0);
    put(0, now, event::thread_park, static_cast<std::uint32_t>(park_reason::ended), 1, 0);
    for (unsigned w = 0; w < how_.workers; ++w) {
      if (w != 0) put(w, now, event::idle_end);
      put(w, now, event::worker_stop);
    }
    out_.end_ns = now;
    for (worker_log& log : out_.workers) {
      by_time(log.records);
      log.written = log.records.size();
    }
    return std::move(out_);
  }

 private:
  void run_chunk(unsigned c, unsigned chunk, unsigned w, std::uint64_t& now, bool moved) {
    const bool away = w != 0;
    if (!away) put(w, now, event::second_half, 0, frame(c), 0);
    if (away) {
      const unsigned victim = how_.scattered ? (w + 1 + below(how_.workers - 1)) % how_.workers : w - 1;
      if (how_.scattered) {
        put(w, now, event::steal_attempt, (victim + 1) % how_.workers);
        now += 120 + below(400);
        put(w, now, event::steal_fail, (victim + 1) % how_.workers);
      }
      put(w, now, event::steal_attempt, victim);
      now += 150 + below(200);
      put(w, now, event::steal_success, victim, w / 4 == victim / 4 ? 1 : 2, frame(c));
      put(w, now, event::idle_end);
      put(w, now + 20, event::thread_switch_in, 0, 100 + w, 0);
      now += 60;
      put(w, now, event::task_begin, 0, frame(c), 0xf00);
    }
    if (how_.tree) {
      unsigned depth = 1;
      while (1u << (2 * depth) < how_.side * how_.side / chunk) ++depth;
      const std::uint64_t low = (std::uint64_t{0xffffffff} * c) / (how_.side * how_.side / chunk);
      const std::uint64_t high = (std::uint64_t{0xffffffff} * (c + 1)) / (how_.side * how_.side / chunk);
      for (unsigned d = 0; d <= depth; ++d) {
        // A node is told by whoever runs its first leaf.
        const unsigned leaves = 1u << (2 * (depth - d));
        if (c % leaves == 0) put(w, now, event::tree_piece, 1, low << 32 | (low + (high - low) * leaves), d);
      }
    }
    for (unsigned t = c * chunk; t < (c + 1) * chunk; ++t) {
      unsigned x = 0, y = 0;
      for (unsigned bit = 0; 1u << bit < how_.side; ++bit) {
        x |= (t >> (2 * bit) & 1) << bit;
        y |= (t >> (2 * bit + 1) & 1) << bit;
      }
      const std::uint64_t low = std::uint64_t{x * 128} << 32 | (y * 128),
                          high = std::uint64_t{(x + 1) * 128} << 32 | ((y + 1) * 128);
      put(w, now, event::piece, 0, low, high);
      if (x == 0 || y == 0) {
        put(w, now, event::task_begin, 1, 0x9000000 + t, 0xf10);
        now += 900 + below(300);
        put(w, now, event::task_end, 0, 0x9000000 + t, 0);
        put(w, now, event::piece, 0, low, high);
        out_.workers[w].records.pop_back();
      }
      now += (moved ? 9000 : 4200) + below(900);
    }
    if (!away) return;
    ends_[w] = now;
    put(w, now, event::task_end, 0, frame(c), 0);
    put(w, now, event::thread_park, static_cast<std::uint32_t>(park_reason::ended), 100 + w, 0);
    now += 40;
    put(w, now, event::idle_begin);
  }

  // Stable: std::stable_sort of libstdc++ 12 uses what clang calls deprecated.
  static void by_time(std::vector<record>& records) {
    std::vector<std::pair<std::uint64_t, std::size_t>> order;
    for (const record& r : records) order.emplace_back(r.ns, order.size());
    std::sort(order.begin(), order.end());
    std::vector<record> sorted;
    for (const auto& [ns, at] : order) sorted.push_back(records[at]);
    records = std::move(sorted);
  }

  static std::uint64_t frame(unsigned chunk) { return 0x10000 + std::uint64_t{chunk} * 64; }

  void put(unsigned w, std::uint64_t ns, event e, std::uint32_t arg = 0, std::uint64_t a = 0, std::uint64_t b = 0) {
    out_.workers[w].records.push_back({ns, e, static_cast<std::uint16_t>(w), arg, a, b});
  }

  // xorshift: the same on every machine.
  unsigned below(unsigned n) {
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    random_ ^= random_ << 17;
    return static_cast<unsigned>(random_ >> 33) % n;
  }

  const made_run how_;
  std::uint64_t random_;
  std::vector<std::uint64_t> ends_;  // of each worker's last task
  recording out_;
};

inline recording make(const made_run& how) { return maker(how).make(); }

}  // namespace heddle::trace::test
