// The public runtime: options, machine and limits turned into settings; the global runtime; fork().
#include <heddle/runtime.hpp>

#include <unistd.h>

#include <mutex>
#include <thread>

#include "platform/platform.hpp"
#include "worker/runtime.hpp"

namespace heddle {

namespace {

worker::settings settings_from(const runtime_options& o) {
  worker::settings s;
  const unsigned workers = o.workers.value_or(0);
  const unsigned units = std::thread::hardware_concurrency();
  s.units.assign(workers == 0 ? units : workers, -1);
  s.crowded = s.units.size() > units;
  if (o.policy) s.policy = *o.policy;
  if (o.stack_size) s.stack_size = *o.stack_size;
  if (o.stack_cache) s.stack_cache = *o.stack_cache;
  if (o.spin) s.spin = *o.spin;
  if (o.seed) s.seed = *o.seed;
  return s;
}

}  // namespace

runtime::runtime(const runtime_options& options) {
  worker::settings s = settings_from(options);
  s.handle = this;
  core_ = std::make_unique<worker::runtime>(std::move(s));
}

runtime::~runtime() = default;

runtime& runtime::global() {
  // Not destroyed: threads may run until the process ends. In a forked child the workers do not exist; it makes its own.
  static std::mutex mutex;
  static std::atomic<runtime*> instance{nullptr};
  static std::atomic<std::uint64_t> made_in{0};
  runtime* existing = instance.load();
  if (existing != nullptr && made_in.load() == platform::fork_count()) return *existing;
  std::lock_guard hold(mutex);
  existing = instance.load();
  if (existing == nullptr || made_in.load() != platform::fork_count()) {
    existing = new runtime();
    made_in.store(platform::fork_count());
    instance.store(existing);
  }
  return *existing;
}

runtime& runtime::current() {
  worker::worker* w = worker::worker::current();
  return w != nullptr ? *static_cast<runtime*>(w->home.options().handle) : global();
}

unsigned runtime::workers() const noexcept { return core_->workers(); }

int runtime::worker_rank() const noexcept {
  worker::worker* w = worker::worker::current();
  return w != nullptr && &w->home == core_.get() ? static_cast<int>(w->rank) : -1;
}

bool runtime::is_current() const noexcept {
  worker::worker* w = worker::worker::current();
  return w != nullptr && &w->home == core_.get();
}

std::string runtime::policy() const { return core_->options().policy; }

runtime_statistics runtime::statistics() const noexcept {
  runtime_statistics sum{};
  for (unsigned rank = 0; rank < core_->workers(); ++rank) {
    const auto& counts = core_->at(rank).counts;
    sum.steals += counts.steals.load(std::memory_order_relaxed);  // statistics, all three
    sum.forced += counts.forced.load(std::memory_order_relaxed);
    sum.parks += counts.parks.load(std::memory_order_relaxed);
  }
  sum.live_threads = core_->stacks().live();
  return sum;
}

worker::runtime& worker::here() {
  worker* w = worker::current();
  return w != nullptr ? w->home : heddle::runtime::global().core();
}

}  // namespace heddle
