#include "sim/session.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <stdexcept>

#include "base/contracts.hpp"
#include "platform/platform.hpp"
#include "platform/sim/cost_hooks.hpp"
#include "platform/sim/cpu_watch.hpp"
#include "worker/preemption/section.hpp"

namespace heddle::sim {

namespace {

// Reads the system's clock, not the one that the simulator puts in its place.
std::uint64_t real_now() noexcept {
  timespec t{};
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(t.tv_nsec);
}

picoseconds from_nanoseconds(double ns) { return static_cast<picoseconds>(std::llround(ns * 1000)); }

operation_times times_of(const machine::model& m, bool all_free) {
  operation_times t;
  const machine::operation_costs& c = m.costs;
  // A turn of a waiting loop and a look at the clock belong to the program, and must cost something. Otherwise a loop
  // that waits for a time would never reach it, nor would any other strand.
  t.clock = std::max(from_nanoseconds(c.clock), nanosecond);
  if (all_free) return t;
  t.fork = from_nanoseconds(c.fork);
  t.join = from_nanoseconds(c.join);
  t.spawn = from_nanoseconds(c.spawn);
  t.thread_switch = from_nanoseconds(c.thread_switch);
  t.steal = from_nanoseconds(c.steal);
  t.steal_per_level = from_nanoseconds(c.steal_per_level);
  t.failed_steal = from_nanoseconds(c.failed_steal);
  t.wake = from_nanoseconds(c.wake);
  t.wake_latency = from_nanoseconds(c.wake_latency);
  t.sleep = from_nanoseconds(c.sleep);
  t.heavy_fence = from_nanoseconds(c.heavy_fence);
  t.signal = from_nanoseconds(c.signal);
  t.signal_lock = from_nanoseconds(c.signal_lock);
  t.signal_send = from_nanoseconds(c.signal_send);
  t.kernel_switch = from_nanoseconds(c.kernel_switch);
  t.link_messages = m.link_messages;
  return t;
}

[[noreturn]] void memory_failed(const std::exception& e) noexcept {
  std::fprintf(stderr, "heddle: sim: memory model: %s\n", e.what());
  std::fflush(nullptr);
  std::_Exit(1);
}

picoseconds access(void* context, unsigned unit, std::uint64_t address, std::uint64_t bytes, bool write, continued how,
                   picoseconds at) {
  try {
    session& of = *static_cast<session*>(context);
    if (of.reuse() != nullptr) [[unlikely]]
      of.reuse()->access(address, bytes);
    return from_nanoseconds(of.memory().access(unit, address, bytes, write, static_cast<double>(at) / 1000,
                                               static_cast<memory_model::goes_on>(how)));
  } catch (const std::exception& e) {
    memory_failed(e);
  }
}

picoseconds access_rows(void* context, unsigned unit, const rows* sets, std::size_t set_count, std::uint64_t count,
                        picoseconds at) {
  try {
    memory_model::row_set same[most_row_sets];
    for (std::size_t i = 0; i < set_count; ++i)
      same[i] = {sets[i].address, sets[i].bytes, sets[i].stride, sets[i].write};
    session& of = *static_cast<session*>(context);
    if (of.reuse() != nullptr) [[unlikely]]
      of.reuse()->access_rows({same, set_count}, count);
    return from_nanoseconds(of.memory().access_rows(unit, {same, set_count}, count, static_cast<double>(at) / 1000));
  } catch (const std::exception& e) {
    memory_failed(e);
  }
}

void counts(void* context, unsigned unit, memory_counts& out) {
  const reach_count known = static_cast<session*>(context)->memory().reach_of(unit);
  out = {known.beyond_core, known.beyond_caches, known.local, known.remote, known.has_own, known.has_shared, true};
}

bool place(void* context, std::uint64_t address, std::uint64_t bytes, int policy, int node) {
  try {
    static_cast<session*>(context)->memory().place(address, bytes, static_cast<page_policy>(policy), node);
    return true;
  } catch (const std::invalid_argument&) {
    return false;  // no such node
  } catch (const std::exception& e) {
    memory_failed(e);
  }
}

void forget(void* context, std::uint64_t address, std::uint64_t bytes) {
  static_cast<session*>(context)->memory().forget(address, bytes);
}

configuration configuration_for(const session_options& o, const machine::model& m, session& of) {
  configuration c;
  c.units.clear();
  for (const machine::processing_unit& u : m.tree.units()) c.units.push_back({u.number, u.speed});
  c.times = times_of(m, o.free_scheduler);
  c.frequency = m.frequency / o.cycles_factor;
  c.window = from_nanoseconds(m.window / m.frequency);
  c.line_bits = of.memory().line_bits();
  c.quantum = std::max(from_nanoseconds(m.time_slice), nanosecond);
  c.charge = o.charge;
  c.fast = o.fast;
  c.access = access;
  c.access_rows = access_rows;
  c.counts = counts;
  c.place = place;
  c.forget = forget;
  c.memory = &of;
  return c;
}

// The program's own forks and joins are no points unless they take their slow paths.
explorer::plan plan_for_program(std::uint64_t seed) {
  explorer::plan p = explorer::plan_for(seed);
  p.fast_paths = false;
  return p;
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

}  // namespace

session_options session_options::from_environment() {
  session_options o;
  if (std::string name = variable("HEDDLE_SIM_MACHINE"); !name.empty()) o.machine = std::move(name);
  const std::string charge = variable("HEDDLE_SIM_CHARGE");
  if (charge == "annotations") o.charge = charging::annotations;
  else if (charge == "measured") o.charge = charging::measured;
  else if (!charge.empty() && charge != "auto")
    throw std::invalid_argument("HEDDLE_SIM_CHARGE=" + charge + ": expected auto, annotations or measured");
  o.fast = variable("HEDDLE_SIM_FAST") == "1";
  if (const std::string factor = variable("HEDDLE_SIM_CYCLES"); !factor.empty()) {
    o.cycles_factor = std::strtod(factor.c_str(), nullptr);
    if (!(o.cycles_factor > 0))
      throw std::invalid_argument("HEDDLE_SIM_CYCLES=" + factor + ": expected a number above 0");
  }
  o.free_scheduler = variable("HEDDLE_SIM_FREE") == "1";
  if (const std::string seed = variable("HEDDLE_SIM_EXPLORE"); !seed.empty())
    o.explore = std::strtoull(seed.c_str(), nullptr, 10);
  o.seed = std::strtoull(variable("HEDDLE_SEED").c_str(), nullptr, 10);
  o.statistics = variable("HEDDLE_SIM_STATISTICS");
  if (const std::string limit = variable("HEDDLE_SIM_STALL"); !limit.empty())
    o.stall_limit = static_cast<unsigned>(std::strtoul(limit.c_str(), nullptr, 10));
  if (const std::string question = variable("HEDDLE_SIM_REUSE"); !question.empty()) {
    o.reuse = reuse_question::of(question);
    if (!o.reuse)
      throw std::invalid_argument("HEDDLE_SIM_REUSE=" + question + ": expected what `heddle reuse` sets it to");
  }
  return o;
}

session::session(session_options o)
    : options_(std::move(o)),
      model_(machine::model::from_name(options_.machine)),
      memory_(model_, options_.seed),
      reuse_(options_.reuse ? std::make_unique<reuse_watch>(*options_.reuse) : nullptr),
      explorer_(options_.explore ? std::make_unique<explorer>(plan_for_program(*options_.explore)) : nullptr),
      engine_(nullptr),
      real_start_(0) {
  configuration c = configuration_for(options_, model_, *this);
  c.context = this;
  c.failed = [](void* self, const char* what) {
    static_cast<session*>(self)->append(std::string("{\"failed\": \"") + what + "\"}\n");
  };
  engine_ = std::make_unique<engine>(std::move(c), explorer_.get());
  real_start_ = real_now();
  machine::topology::pretend(model_.tree);
  active = engine_.get();
  worker::preemption_is_used.store(false);  // the simulated process has had no preemptive threads
  offer_cost_model(options_.charge != charging::measured, options_.fast);
}

void session::watch() noexcept {
  if (!options_.explore && !watch_cpu(options_.stall_limit))
    std::fputs("heddle: sim: no timer: stalls and untold code are not noticed\n", stderr);
}

session::~session() { offer_cost_model(false, false); }

}  // namespace heddle::sim
