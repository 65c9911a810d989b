#include "worker/runtime.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/contracts.hpp"
#include "machine/topology.hpp"
#include "platform/explored.hpp"
#include "worker/diagnosis/faults.hpp"
#include "worker/new_thread.hpp"
#include "worker/preemption/section.hpp"
#include "worker/searching/sources.hpp"
#include "worker/stack_in_use.hpp"

namespace heddle::worker {

namespace {

std::string symbol_name(std::uint64_t address) {
  const platform::symbol found = platform::symbol_at(reinterpret_cast<void*>(address));
  if (found.name == nullptr) return {};
  int status = 0;
  char* plain = abi::__cxa_demangle(found.name, nullptr, nullptr, &status);
  std::string name = status == 0 ? plain : found.name;
  std::free(plain);
  return name;
}

trace::code_place place_in_file(std::uint64_t address) {
  const platform::symbol found = platform::symbol_at(reinterpret_cast<void*>(address));
  if (found.module == nullptr) return {};
  // The program's own name may be relative to a folder that it has left.
  std::error_code none;
  const std::string module =
      found.module[0] == '/' ? found.module : std::filesystem::read_symlink("/proc/self/exe", none).string();
  return {module, found.offset};
}

// Checks [conserving:1] at a moment when no worker is on the way to anything: looks once more for the work that
// [sleep:5] looks for. Returns true if a worker sleeps beside such work.
[[maybe_unused]] bool sleeps_beside_work(runtime& home) noexcept {
  for (unsigned r = 0; r < home.workers(); ++r) {
    worker& w = home.at(r);
    if (w.parker.look() != parker::state::asleep || !home.sleepers().idle().is_asleep(r)) continue;
    if (sources::any<sources::rest>(w) || sources::any_to_rob_for(w)) return true;
  }
  return false;
}

#if !defined(HEDDLE_SIM)
trace::usage used_so_far() noexcept {
  const platform::usage used = platform::used_so_far();
  return {used.cpu, used.sleeps, static_cast<std::uint64_t>(platform::kernel_thread_id())};
}
#endif

}  // namespace

runtime::runtime(settings s)
    : settings_(std::move(s)),
      stacks_(
          new fiber::stack_pool(settings_.stack_size, settings_.stack_cache,
                                // Without a service clock no kernel thread gives them back.
                                platform::simulated || settings_.arena.outer != nullptr ? 0 : settings_.stack_keep)),
      host_(settings_.policy, workers_, sleepers_, census_),
      sleepers_(workers_, host_.scheduler_policy(), host_.wants().limits,
                static_cast<unsigned>(std::max<std::size_t>(settings_.units.size(), 1))),
      drivers_(static_cast<unsigned>(std::max<std::size_t>(settings_.units.size(), 1))),
      priorities_(static_cast<unsigned>(std::max<std::size_t>(settings_.units.size(), 1))),
      capacity_(workers_, sleepers_, inbox_, host_.wants(), settings_.allowed,
                static_cast<unsigned>(std::max<std::size_t>(settings_.units.size(), 1))),
      caller_runs_(*this, workers_,
                   platform::foreign_threads_run_calls() && !settings_.threads.preemptive() && !host_.wants().roots &&
                       !host_.wants().limits && !settings_.allowed && settings_.arena.outer == nullptr),
      pollers_(*this, static_cast<unsigned>(std::max<std::size_t>(settings_.units.size(), 1))),
      blocking_calls_(settings_.blocking_limit),
      ticks_(settings_.plan, static_cast<unsigned>(std::max<std::size_t>(settings_.units.size(), 1))),
      gangs_(workers_, static_cast<unsigned>(std::max<std::size_t>(settings_.units.size(), 1)),
             settings_.gangs_by_load),
      arena_(settings_.arena.outer == nullptr ? nullptr : new class arena(*this, settings_.arena)) {
  if (settings_.units.empty()) settings_.units.push_back(-1);
  if (settings_.units.size() > host_.scheduler_policy().most_workers())
    settings_.units.resize(host_.scheduler_policy().most_workers());
  const auto count = static_cast<unsigned>(settings_.units.size());
  platform::explain_faults(explain_fault);
  platform::know_stacks_by(find_stack_in_use);
  static_cast<void>(kind_of(*this, preemption::as_runtime, tls::as_runtime));
  if (!settings_.trace_file.empty()) {
    trace::recorder_options options;
    options.records = settings_.trace_records;
    options.now = platform::now;
    options.policy = settings_.policy;
    options.program = settings_.program;
    options.machine = settings_.machine != nullptr ? settings_.machine->name() : std::string();
    options.symbol = symbol_name;
    options.place = place_in_file;
#if !defined(HEDDLE_SIM)
    options.use = used_so_far;
#endif
    options.attributes["forks"] = settings_.trace_forks ? "all" : "slow path";
    options.attributes["seed"] = std::to_string(settings_.seed);
    options.attributes["clock"] = platform::simulated ? "virtual" : "real";
    if (platform::simulated) options.attributes["event_ns"] = "0";
    if (settings_.trace_forks) options.attributes["fork_ns"] = std::to_string(tracing::cost_of_traced_fork());
    recorder_ = std::make_unique<trace::recorder>(count, options);
    traced_.emplace(*this);
  }
  for (unsigned rank = 0; rank < count; ++rank) {
    workers_.push_back(std::make_unique<worker>(*this, rank, settings_.units[rank], settings_.seed + rank));
    if (recorder_ != nullptr) workers_.back()->ring = recorder_->of(rank);
  }
  capacity_.begin();
  host_.start(settings_.machine, recorder_.get(), settings_.trace_forks);
  watchdog_ = std::make_unique<watchdog>(*this, settings_.watchdog, settings_.dump_signal);
  try {
    if (arena_ != nullptr) arena_->begin();
    else start_kernel_threads();
  } catch (...) {  // the kernel threads that run use what this constructor has made
    creator_.end();
    stop();
    throw;
  }
  platform::runtime_started(this, settings_.policy.c_str(), count,
                            [](const void* home) { dump_threads(*static_cast<runtime*>(const_cast<void*>(home))); });
  if (host_.wants().work_conserving) {
    platform::promise_work_conservation(
        this, [](const void* home) { return sleeps_beside_work(*static_cast<runtime*>(const_cast<void*>(home))); });
  }
}

void runtime::start_kernel_threads() {
  for (unsigned rank = 0; rank < workers(); ++rank) {
    carrier* c = carriers_.make(settings_.units[rank]);
    if (c == nullptr) {
      const int error = carriers_.start_error();
      throw std::system_error(std::error_code(error, std::generic_category()),
                              "heddle: kernel thread " + std::to_string(rank + 1) + " of " + std::to_string(workers()) +
                                  " could not be started (" + platform::why_not_started(error).text +
                                  "); set HEDDLE_WORKERS lower, or raise the limit");
    }
    workers_[rank]->by = c;
    c->assigned = workers_[rank].get();
    c->signal.store(1);
    platform::wake_one(c->signal);
  }
  if (capacity_.has_limits() && capacity_.can_change()) {
    capacity_.begin_to_follow();
    creator_.start();
  }
  if (const int error = platform::has_service_clock ? service_clock_.start() : 0; error != 0) {
    throw std::system_error(
        std::error_code(error, std::generic_category()),
        std::string("heddle: no kernel thread that looks for what waits: ") + platform::why_not_started(error).text);
  }
  if (const int error = beat_.start(); error != 0) {
    throw std::system_error(std::error_code(error, std::generic_category()),
                            std::string("heddle: no kernel thread for what the policy wants to hear by the clock: ") +
                                platform::why_not_started(error).text);
  }
}

constinit std::atomic<runtime::end_residents_function> runtime::end_residents{nullptr};

runtime::~runtime() {
  HEDDLE_CHECK(arenas_.load() == 0, "a runtime ends before its arenas");
  watchdog_.reset();
  {
    const section inside;
    const worker* const here = worker::current_or_null();
    HEDDLE_CHECK(here == nullptr || &here->home != this, "a runtime is destroyed by one of its own workers");
  }
  wait_until_drained();
  pollers_.end();
  census_.wait_for_calls();  // some threads are still in submit or place, past their push
  // A foreign kernel thread gives the worker back, because its call is over.
  for (const auto& w : workers_) {
    while (w->parker.is_with_caller()) platform::yield_processor();
  }
  if (arena_ != nullptr) {  // it has no kernel threads
    arena_->await_rest();
    platform::runtime_ended(this);
    return;
  }
  beat_.end();
  creator_.end();  // the process's limits are not followed any more
  stop();
  platform::runtime_ended(this);
  if (traced_) traced_->finish();
}

// Residents are ended when nothing else is left that could use them.
void runtime::wait_until_drained() noexcept {
  const auto look_again = [this] { sleepers_.unpark_all(); };
  census_.wait_until_drained(look_again);
  if (!census_.has_residents()) return;
  if (const end_residents_function end = end_residents.load(); end != nullptr)
    end(*static_cast<heddle::runtime*>(settings_.handle));
  census_.wait_until_drained(look_again);
}

// Ends all workers, and all carriers with them.
void runtime::stop() noexcept {
  service_clock_.end();
  substitutes_.end();
  capacity_.end();
  stopping_.store(true);
  carriers_.end_spares();
  sleepers_.unpark_all();
  carriers_.join_all();
}

// --- threads from outside ----------------------------------------------------------------------------------------

unsigned runtime::worker_beside_caller(unsigned first) const noexcept {
  if (workers_[first]->processing_unit < 0) return workers();  // none is bound
  const int unit = platform::current_unit();
  for (unsigned i = 0; i < workers(); ++i) {
    const unsigned rank = (first + i) % workers();
    if (workers_[rank]->processing_unit == unit) return rank;
  }
  return workers();
}

void runtime::wake_for_submitted() noexcept {
  if (!sleepers_.idle().anyone_asleep()) {  // [wake:1]
    if (!sleepers_.idle().anyone_searching()) service_clock_.sent_in();
    return;
  }
  const unsigned beside = worker_beside_caller(0);
  if (beside < workers()) sleepers_.wake_one_away_from(beside);
  else sleepers_.wake_one_for(0);
}

void runtime::submit(thread& t) noexcept {
  // Until the push the thread keeps the runtime alive; from then on only this count does.
  census_.begin_call();
  if (t.ties.belongs.is_pinned()) [[unlikely]] {
    make_pinned_ready(t, false);
    return census_.end_call();
  }
  const unsigned raised = precedence_.raised();
  const int level = t.level.load();
  if (level == 0 || !priorities_.push(t, static_cast<unsigned>(t.id % workers()), position::on_top)) [[likely]] {
    inbox_.push(t);
    // Perhaps this thread was raised: the workers have looked for it before it was there.
    if (precedence_.raised() != raised) [[unlikely]]
      precedence_.look_again();
    sources::inbox_threads::announce_from_outside(*this);
  } else {
    sources::level_threads::announce_from_outside(*this);
  }
  if (precedence_.is_used()) [[unlikely]]
    precedence_.evict_for(level);
  census_.end_call();
}

void runtime::submit(heddle::job& work) noexcept {
  census_.begin_call();  // as above
  jobs_.push(work);
  sources::submitted_jobs::announce_from_outside(*this);
  census_.end_call();
}

// From the push on the arena, and the driver with it, may be gone.
void runtime::carry(driver& of) noexcept {
  const std::shared_ptr<const std::vector<bool>> allowed = of.of.plan().allowed;
  drivers_.push(of);
  if (allowed == nullptr) sources::arena_drivers::announce_from_outside(*this);
  else sources::arena_drivers::announce_to(*this, *allowed);
}

}  // namespace heddle::worker
