// Latencies are measured by chasing pointers through growing rings of lines, bandwidth by reading, and the clock by a
// chain of dependent additions.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <memory>
#include <new>

#include "cli/calibrate/measure.hpp"
#include "cli/calibrate/ring.hpp"
#include "platform/platform.hpp"

namespace heddle::cli::calibrate {
namespace {

std::atomic<void*> sink;

// One round through the ring is read first, so that the lines that fit into a cache lie there; then runs go on around
// it.
double latency_of(char* memory, std::size_t bytes, std::size_t line, const effort& how) {
  void* at = chase(make_ring(memory, bytes, line), bytes / line);
  const auto step_of = [&](std::size_t steps) {
    const auto begin = platform::now();
    at = chase(at, steps);
    const auto end = platform::now();
    sink.store(at);
    return static_cast<double>(end - begin) / static_cast<double>(steps);
  };
  constexpr std::size_t first = 4096;
  const std::size_t steps =
      std::max(first, static_cast<std::size_t>(how.run_ns / std::max(0.1, step_of(first)))) / 16 * 16;
  return quiet_time(how.runs, [&] { return step_of(steps); });
}

double cycles_per_ns(const effort& how) {
  const auto additions = static_cast<std::uint64_t>(how.run_ns) / 16 * 16;
  return quiet_rate(how.runs, [&] {
    std::uint64_t sum = 1, one = 1;
    asm volatile("" : "+r"(one));
    const auto begin = platform::now();
    for (std::uint64_t i = 0; i < additions; i += 16) {
      for (int unrolled = 0; unrolled < 16; ++unrolled) {
#if defined(__x86_64__)
        asm volatile("addq %1, %0" : "+r"(sum) : "r"(one));
#else
        asm volatile("add %0, %0, %1" : "+r"(sum) : "r"(one));
#endif
      }
    }
    return static_cast<double>(additions) / static_cast<double>(platform::now() - begin);
  });
}

[[gnu::noinline]] std::uint64_t read_all(const char* memory, std::size_t bytes) {
  const auto* words = reinterpret_cast<const std::uint64_t*>(memory);
  std::uint64_t a = 0, b = 0, c = 0, d = 0;
  for (std::size_t i = 0; i + 4 <= bytes / 8; i += 4) {
    a += words[i];
    b += words[i + 1];
    c += words[i + 2];
    d += words[i + 3];
  }
  return a + b + c + d;
}

// Returns the bytes per ns that the units read together, each from memory that it touched first.
double bandwidth_of(const std::vector<int>& units, std::size_t bytes_each, const effort& how) {
  std::atomic<unsigned> ready{0};
  std::atomic<bool> go{false}, stop{false};
  std::atomic<std::uint64_t> total{0};
  std::atomic<bool> failed{false};
  const auto body = [&] {
    std::unique_ptr<buffer> own;
    try {
      own = std::make_unique<buffer>(bytes_each);
    } catch (const std::bad_alloc&) {
      failed = true;
    }
    if (own) std::fill_n(own->data(), bytes_each, 1);
    ++ready;
    while (!go.load()) platform::yield_processor();
    const std::size_t piece = std::size_t{1} << 20;
    std::uint64_t sum = 0;
    for (std::size_t at = 0; own && !stop.load(); at = at + 2 * piece > bytes_each ? 0 : at + piece) {
      sum += read_all(own->data() + at, piece);
      total += piece;
    }
    sink.store(reinterpret_cast<void*>(sum));
  };
  std::vector<std::unique_ptr<helper>> helpers;
  for (const int unit : units) helpers.push_back(std::make_unique<helper>(unit, body));
  while (ready.load() < units.size()) platform::yield_processor();
  go = true;
  const double result = quiet_rate(how.runs, [&] {
    const std::uint64_t before = total.load();
    const auto begin = platform::now();
    // It sleeps, because this kernel thread shares a processor with one that measures.
    std::atomic<std::uint32_t> nobody{0};
    const auto end = begin + static_cast<platform::nanoseconds>(10 * how.run_ns);
    while (platform::now() < end) platform::wait_on(nobody, 0, end);
    return static_cast<double>(total.load() - before) / static_cast<double>(platform::now() - begin);
  });
  stop = true;
  helpers.clear();
  if (failed) throw std::bad_alloc();
  return result;
}

}  // namespace

std::size_t usable_capacity(const latency_curve& curve, std::size_t inner, std::size_t told) {
  auto at = curve.lower_bound(inner + inner / 2);
  if (at == curve.end()) return told;
  const double own = at->second, memory = curve.rbegin()->second, left = std::sqrt(own * memory);
  std::size_t within = std::max(at->first, inner);
  if (own > memory / 1.5) return within;  // other virtual machines have all of it
  for (; at != curve.end() && at->first < told; ++at) {
    if (at->second > left) return within;
    within = at->first;
  }
  return told;
}

double clock_now(int unit, const effort& how) {
  double found = 0;
  const auto body = [&] { found = cycles_per_ns(how); };
  {
    const helper on_the_unit(unit, body);
  }
  return found;
}

std::size_t whole_sets(std::size_t bytes, std::size_t set) {
  constexpr std::size_t coarse = std::size_t{64} << 10;
  const std::size_t unit = set == 0 ? coarse : std::max<std::size_t>(1, coarse / set) * set;
  return std::max<std::size_t>(1, bytes / unit) * unit;
}

figures measure_memory(const machine::topology& here, const std::vector<int>& units, const effort& how,
                       latency_curve& curve) {
  figures made;
  std::size_t position = 0, line = 64, last_level = 0;
  for (std::size_t i = 0; i < here.units().size(); ++i) {
    if (here.units()[i].number == units.front()) position = i;
  }
  std::vector<machine::cache_info> caches;  // the caches of the unit, innermost first
  for (const machine::cache_info& c : here.caches()) {
    if (position < c.first_unit || position >= c.last_unit) continue;
    caches.push_back(c);
    if (c.line_size != 0) line = std::max<std::size_t>(line, c.line_size);
    last_level = std::max<std::size_t>(last_level, c.capacity);
  }
  std::size_t most = std::min(how.most_memory, std::max<std::size_t>(8 * last_level, std::size_t{128} << 20));
  if (here.memory_bytes() != 0) most = std::min<std::size_t>(most, here.memory_bytes() / 8);
  const auto body = [&] {
    made["frequency"] = cycles_per_ns(how);
    const buffer ring(most);
    std::fill_n(ring.data(), most, 0);
    const auto step = [&](std::size_t bytes) {
      bytes = bytes / line * line;
      if (!curve.contains(bytes)) curve[bytes] = latency_of(ring.data(), bytes, line, how);
      return curve[bytes];
    };
    for (std::size_t bytes = 4096; bytes < most; bytes *= 2) step(bytes);
    made["memory.latency"] = step(most);
    std::size_t inner = 0;
    for (const machine::cache_info& c : caches) {
      const std::size_t told = std::min<std::size_t>(c.capacity, most / 2);
      if (told <= inner) continue;
      const std::string key = fmt::format("cache.{}.", machine::name(c.kind));
      // The size lies well inside the level and well beyond the level before. For a cache that others share it is no
      // more than is needed to leave the level before, because others may be at work, also in other virtual machines.
      const bool shared = c.last_unit - c.first_unit > 1 && inner != 0;
      std::size_t bytes = shared ? std::min(inner + inner / 2, told) : told / 2;
      if (bytes < inner) bytes = (inner + told) / 2;
      made[key + "latency"] = step(bytes);
      if (shared) {
        for (std::size_t octave = inner; octave < told; octave *= 2) {
          for (std::size_t quarter = 4; quarter < 8; ++quarter) step(octave / 4 * quarter);
        }
        made[key + "size"] = static_cast<double>(usable_capacity(curve, inner, told));
      }
      inner = c.capacity;
    }
  };
  bool out_of_memory = false;
  const auto guarded = [&] {
    try {
      body();
    } catch (const std::bad_alloc&) {
      out_of_memory = true;
    }
  };
  {
    const helper on_the_unit(units.front(), guarded);
  }
  if (out_of_memory) throw std::bad_alloc();
  const std::size_t each = std::max(most / units.size(), std::size_t{16} << 20);
  const double one = bandwidth_of({units.front()}, most, how);
  made["overlap"] = made["memory.latency"] * one / static_cast<double>(line);
  made["memory.bandwidth"] = std::max(one, bandwidth_of(units, each, how));
  return made;
}

}  // namespace heddle::cli::calibrate
