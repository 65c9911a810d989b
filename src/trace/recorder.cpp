#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <utility>

#include "trace/trace.hpp"

namespace heddle::trace {
namespace {

// Nanoseconds that one event costs, by the recorder's own clock: what an analysis of short tasks has to subtract. Zero for a
// virtual clock, which stands still.
std::uint64_t cost_of_event(clock_function now) {
  constexpr unsigned rounds = 3, events = 1024;
  std::uint64_t least = ~std::uint64_t{0};
  for (unsigned i = 0; i < rounds; ++i) {
    ring fresh(events, 0, now);  // its pages are touched for the first time, as those of the recorder's own will be
    const std::uint64_t start = now();
    for (unsigned k = 0; k < events; ++k) fresh.write(event::fork, 0, k, 0);
    least = std::min(least, (now() - start) / events);
  }
  return least;
}

std::atomic<std::uint64_t> recorders{0};  // made so far; orders nothing

}  // namespace

recorder::recorder(unsigned workers, recorder_options options)
    : serial_(++recorders), options_(std::move(options)), places_(workers) {
  if (options_.now == nullptr) throw std::invalid_argument("trace::recorder: a clock is required");
  if (workers >= foreign_worker)
    throw std::invalid_argument("trace::recorder: at most 65,534 workers");
  options_.attributes.try_emplace("clock", "real");
  if (!options_.attributes.contains("event_ns")) options_.attributes["event_ns"] = std::to_string(cost_of_event(options_.now));
  rings_.reserve(workers + std::size_t{1});
  for (unsigned i = 0; i < workers; ++i) {
    rings_.push_back(
        std::make_unique<ring>(options_.records, static_cast<std::uint16_t>(i), options_.now));
  }
  rings_.push_back(std::make_unique<ring>(options_.records, foreign_worker, options_.now));
}

ring* recorder::of(unsigned worker) noexcept {
  return worker + std::size_t{1} < rings_.size() ? rings_[worker].get() : nullptr;
}

void recorder::place(unsigned worker, std::string where) {
  const std::lock_guard guard(mutex_);
  if (worker < places_.size()) places_[worker] = std::move(where);
}

std::uint32_t recorder::text(std::string_view words) {
  const std::lock_guard guard(mutex_);
  const auto found = std::find(texts_.begin(), texts_.end(), words);
  if (found != texts_.end()) return static_cast<std::uint32_t>(found - texts_.begin());
  texts_.emplace_back(words);
  return static_cast<std::uint32_t>(texts_.size() - 1);
}

recording recorder::collect() const {
  recording result;
  result.program = options_.program;
  result.machine = options_.machine;
  result.policy = options_.policy;
  result.attributes = options_.attributes;
  for (const std::unique_ptr<ring>& source : rings_) {
    ring_snapshot taken = source->snapshot();
    if (source->worker() == foreign_worker && taken.written == 0) continue;
    worker_log log;
    log.worker = source->worker();
    log.written = taken.written;
    log.lost = taken.lost;
    log.records = std::move(taken.records);
    result.workers.push_back(std::move(log));
  }
  result.end_ns = options_.now();
  for (const worker_log& log : result.workers) {
    if (!log.records.empty()) result.end_ns = std::max(result.end_ns, log.records.back().ns);
    if (options_.symbol == nullptr) continue;
    for (const record& r : log.records) {
      const event_info& e = info(r.event);
      const std::uint64_t words[3] = {r.arg, r.a, r.b};
      for (std::size_t i = 0; i < 3; ++i) {
        if (e.fields[i].kind == unit::address && words[i] != 0)
          result.symbols.try_emplace(words[i]);
      }
    }
  }
  for (auto it = result.symbols.begin(); it != result.symbols.end();) {
    it->second = options_.symbol(it->first);
    it = it->second.empty() ? result.symbols.erase(it) : std::next(it);
  }
  const std::lock_guard guard(mutex_);
  for (worker_log& log : result.workers) {
    if (log.worker != foreign_worker) log.place = places_[log.worker];
  }
  result.texts = texts_;
  return result;
}

}  // namespace heddle::trace
