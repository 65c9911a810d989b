#include <heddle/detail/loop_named.hpp>

#include <heddle/detail/cost_model.hpp>

#include <algorithm>

#include "windows/caches.hpp"

namespace heddle::detail {

namespace {

constexpr std::uint32_t loops_of_a_sample = 64;
constexpr float changed = 1.5f;        // a time longer or shorter by this factor counts as changed
constexpr std::uint32_t believed = 2;  // surprises in a row

bool is_like(std::size_t a, std::size_t b) noexcept { return std::max(a, b) - std::min(a, b) <= std::max(a, b) / 4; }

}  // namespace

loop_cache window_choice::tightest(const std::vector<loop_cache>& caches) noexcept {
  loop_cache found{0, 0, 0, 0};
  for (const loop_cache& c : caches) {
    if (c.bytes == 0) continue;
    if (found.bytes == 0 || c.bytes < found.bytes) found.bytes = c.bytes, found.line_bytes = c.line_bytes;
    found.workers = std::max(found.workers, c.workers);
  }
  return found;
}

// The window has an eighth of the cache. Of the data that the serial loop finds there again, it loses the part that has
// been out of use for seven eighths of the cache. On most machines an eighth is as many bytes as the caches inside a
// core have, or fewer.
std::size_t window_choice::by_size(std::size_t n, std::size_t bytes, const loop_cache& cache) noexcept {
  constexpr std::size_t part = 8, iterations_of_a_worker = 2;
  if (cache.bytes == 0 || bytes == 0) return 0;
  if (n <= cache.bytes / bytes) return 0;  // all of it stays in the cache
  const std::size_t length = cache.bytes / part / bytes, least = std::size_t{iterations_of_a_worker} * cache.workers;
  if (length >= least) return length;
  return least <= cache.bytes / 2 / bytes ? least : 0;
}

window_choice::plan window_choice::choose(std::size_t n, std::size_t bytes,
                                          const std::vector<loop_cache>& caches) noexcept {
  const loop_cache cache = tightest(caches);
  if (cache.bytes == 0) return {0, false};
  const bool is_decided =
      n_.load() != 0 && is_like(n, n_.load()) && is_like(bytes, bytes_.load()) && surprises_.load() < believed;
  if (is_decided && loops_.fetch_add(1) % loops_of_a_sample != loops_of_a_sample - 1) return {length_.load(), false};
  if (heddle_cost_is_declared() != 0) return {0, true};
  const std::size_t length = by_size(n, bytes, cache);
  keep(n, bytes, length);
  return {length, false};
}

void window_choice::sampled(std::size_t n, std::size_t bytes, std::size_t length) noexcept { keep(n, bytes, length); }

void window_choice::keep(std::size_t n, std::size_t bytes, std::size_t length) noexcept {
  length_.store(length);
  bytes_.store(bytes);
  n_.store(n);
  loops_.store(0);
  surprises_.store(0);
  cycles_.store(0);
}

void window_choice::ended(std::size_t n, std::uint64_t cycles) noexcept {
  const float now = static_cast<float>(cycles) / static_cast<float>(n), before = cycles_.load();
  if (before == 0) return cycles_.store(now);
  if (now > changed * before || before > changed * now) surprises_.fetch_add(1);
  else if (surprises_.load() != 0) surprises_.store(0);
}

}  // namespace heddle::detail
