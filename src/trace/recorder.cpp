#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <utility>

#include "trace/trace.hpp"

namespace heddle::trace {
namespace {

// Returns the nanoseconds that one event costs, by the recorder's own clock. An analysis of short tasks subtracts them.
// It is zero for a virtual clock, which stands still.
std::uint64_t cost_of_event(clock_function now) {
  constexpr unsigned rounds = 3, events = 1024;
  std::uint64_t least = ~std::uint64_t{0};
  for (unsigned i = 0; i < rounds; ++i) {
    // Its pages are touched for the first time, like those of the recorder's own rings.
    ring fresh(events, 0, now);
    const std::uint64_t start = now();
    for (unsigned k = 0; k < events; ++k) fresh.write(event::fork, 0, k, 0);
    least = std::min(least, (now() - start) / events);
  }
  return least;
}

std::atomic<std::uint64_t> recorders{0};  // made so far; orders nothing

}  // namespace

recorder::recorder(unsigned workers, recorder_options options)
    : serial_(++recorders),
      options_(std::move(options)),
      places_(workers),
      texts_(most_texts),
      room_(new char[text_room]) {
  if (options_.now == nullptr) throw std::invalid_argument("trace::recorder: a clock is required");
  if (workers >= foreign_worker) throw std::invalid_argument("trace::recorder: at most 65,534 workers");
  options_.attributes.try_emplace("clock", "real");
  if (!options_.attributes.contains("event_ns"))
    options_.attributes["event_ns"] = std::to_string(cost_of_event(options_.now));
  rings_.reserve(workers + std::size_t{1});
  for (unsigned i = 0; i < workers; ++i) {
    rings_.push_back(
        std::make_unique<ring>(options_.records, static_cast<std::uint16_t>(i), options_.now, options_.use));
  }
  rings_.push_back(std::make_unique<ring>(options_.records, foreign_worker, options_.now));
}

ring* recorder::of(unsigned worker) noexcept {
  return worker + std::size_t{1} < rings_.size() ? rings_[worker].get() : nullptr;
}

ring* recorder::add_lane() noexcept try {
  const std::lock_guard guard(places_mutex_);
  if (lanes_.size() == most_lanes || places_.size() + most_lanes >= foreign_worker) return nullptr;
  const auto number = static_cast<std::uint16_t>(places_.size() + lanes_.size());
  lanes_.push_back(std::make_unique<ring>(options_.records, number, options_.now, options_.use));
  return lanes_.back().get();
} catch (const std::bad_alloc&) {
  return nullptr;
}

void recorder::place(unsigned worker, std::string where) {
  const std::lock_guard guard(places_mutex_);
  if (worker < places_.size()) places_[worker] = std::move(where);
}

std::uint32_t recorder::text(std::string_view words) {
  const std::lock_guard guard(texts_mutex_);
  const std::size_t count = text_count_.load(std::memory_order_relaxed);  // relaxed: under texts_mutex_
  const bool fits = count + 1 < most_texts && words.size() <= text_room - room_used_;
  const auto end = texts_.begin() + static_cast<std::ptrdiff_t>(count);
  auto found = std::find(texts_.begin(), end, words);
  if (found == end && !fits) found = std::find(texts_.begin(), end, words = "(further texts)");
  if (found != end) return static_cast<std::uint32_t>(found - texts_.begin());
  if (fits) {
    char* const copy = room_.get() + room_used_;
    words.copy(copy, words.size());
    room_used_ += words.size();
    words = {copy, words.size()};
  }
  texts_[count] = words;
  text_count_.store(count + 1, std::memory_order_release);  // pairs with collect: the text
  return static_cast<std::uint32_t>(count);
}

recording recorder::collect() const {
  recording result;
  result.program = options_.program;
  result.machine = options_.machine;
  result.policy = options_.policy;
  result.attributes = options_.attributes;
  const auto add = [&](const ring& source) {
    ring_snapshot taken = source.snapshot();
    if (source.worker() == foreign_worker && taken.written == 0) return;
    worker_log log;
    log.worker = source.worker();
    log.written = taken.written;
    log.lost = taken.lost;
    log.records = std::move(taken.records);
    result.workers.push_back(std::move(log));
  };
  std::vector<const ring*> lanes;
  {
    const std::lock_guard guard(places_mutex_);
    for (const std::unique_ptr<ring>& lane : lanes_) lanes.push_back(lane.get());
  }
  for (const std::unique_ptr<ring>& source : rings_) {
    if (source->worker() == foreign_worker)
      for (const ring* lane : lanes) add(*lane);
    add(*source);
  }
  result.end_ns = options_.now();
  for (const worker_log& log : result.workers) {
    if (!log.records.empty()) result.end_ns = std::max(result.end_ns, log.records.back().ns);
    if (options_.symbol == nullptr) continue;
    for (const record& r : log.records) {
      const event_info& e = info(r.event);
      const std::uint64_t words[3] = {r.arg, r.a, r.b};
      for (std::size_t i = 0; i < 3; ++i) {
        if (e.fields[i].kind == unit::address && words[i] != 0) result.symbols.try_emplace(words[i]);
      }
    }
  }
  for (const auto& [address, name] : result.symbols) {
    if (options_.place == nullptr) break;
    if (code_place at = options_.place(address); !at.module.empty()) result.places[address] = std::move(at);
  }
  for (auto it = result.symbols.begin(); it != result.symbols.end();) {
    it->second = options_.symbol(it->first);
    it = it->second.empty() ? result.symbols.erase(it) : std::next(it);
  }
  const std::lock_guard guard(places_mutex_);
  for (worker_log& log : result.workers) {
    if (log.worker < places_.size()) log.place = places_[log.worker];
    else if (log.worker != foreign_worker) log.place = "beside the workers";
  }
  // pairs with text: the texts that are counted are there
  const std::size_t texts = text_count_.load(std::memory_order_acquire);
  result.texts.assign(texts_.begin(), texts_.begin() + static_cast<std::ptrdiff_t>(texts));
  return result;
}

}  // namespace heddle::trace
