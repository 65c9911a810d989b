// Arenas: their options, and their ends.
#include <heddle/arena.hpp>

#include <algorithm>
#include <mutex>
#include <stdexcept>

#include "worker/preemption/section.hpp"
#include "worker/runtime.hpp"

namespace heddle {

namespace {

worker::arena_plan plan_of(worker::runtime& outer, const arena_options& given) {
  const auto fail = [&](const std::string& what) {
    throw std::invalid_argument("heddle: arena" + (given.name.empty() ? "" : " " + given.name) + ": " + what);
  };
  worker::arena_plan plan;
  plan.outer = &outer;
  plan.level = static_cast<int>(given.priority);
  if (plan.level < static_cast<int>(priority::lowest) || plan.level > static_cast<int>(priority::highest))
    fail("priority " + std::to_string(plan.level) + " does not exist");
  unsigned may = outer.workers();
  if (given.workers.has_value()) {
    if (given.workers->empty()) fail("no workers: expected at least one rank");
    auto allowed = std::make_shared<std::vector<bool>>(outer.workers());
    for (const unsigned rank : *given.workers) {
      if (rank >= outer.workers())
        fail("worker " + std::to_string(rank) + ": expected 0 to " + std::to_string(outer.workers() - 1));
      if ((*allowed)[rank]) fail("worker " + std::to_string(rank) + " is named twice");
      (*allowed)[rank] = true;
    }
    may = static_cast<unsigned>(given.workers->size());
    plan.allowed = std::move(allowed);
  }
  plan.places = given.max_concurrency.value_or(may);
  if (plan.places == 0 || plan.places > may)
    fail("max_concurrency=" + std::to_string(plan.places) + ": expected 1 to " + std::to_string(may));
  return plan;
}

worker::settings settings_of(const worker::arena_plan& plan) {
  worker::settings s = plan.outer->options();
  std::vector<int> units;
  const machine::view all = s.machine->view();
  for (unsigned rank = 0; rank < plan.outer->workers() && units.size() < plan.places; ++rank) {
    if (plan.allowed == nullptr || (*plan.allowed)[rank]) units.push_back(all.unit_of(rank).number);
  }
  s.machine = std::make_shared<const machine::topology>(s.machine->for_workers(units));
  s.units.assign(plan.places, -1);
  s.crowded = plan.outer->crowded();
  s.policy = "random_ws";
  s.spin = 2;  // microseconds: the outer runtime's worker goes on searching
  s.watchdog = 0;
  s.dump_signal = "off";
  s.trace_file.clear();
  s.trace_records = 0;
  s.threads = {};
  s.storage = tls::carrier;
  s.allowed = nullptr;
  s.arena = plan;
  return s;
}

}  // namespace

runtime::runtime(const worker::arena_plan& plan) {
  worker::settings s = settings_of(plan);
  s.handle = this;
  core_ = std::make_unique<worker::runtime>(std::move(s));
}

arena::arena(const arena_options& options) : name_(options.name) {
  worker::runtime& outer = options.where != nullptr ? options.where->core() : worker::here();
  inside_.reset(new runtime(plan_of(outer, options)));
}

arena::~arena() = default;

void arena::failed(std::exception_ptr error) noexcept {
  const worker::section inside;
  std::lock_guard hold(lock_);
  if (error_ == nullptr) error_.swap(error);
}

void arena::wait() {
  if (is_current()) throw std::logic_error("heddle: arena::wait inside the arena");
  inside_->core().arena()->wait_for_jobs();
  std::exception_ptr error;
  {
    const worker::section inside;
    std::lock_guard hold(lock_);
    error_.swap(error);
  }
  if (error != nullptr) std::rethrow_exception(std::move(error));
}

}  // namespace heddle
