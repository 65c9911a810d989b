// The public runtime: options, machine and limits turned into settings; the global runtime; fork().
#include <heddle/runtime.hpp>

#include <heddle/detail/crowd.hpp>
#include <heddle/detail/residents.hpp>
#include <heddle/worker_local.hpp>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <random>
#include <stdexcept>
#include <vector>

#include "base/options.hpp"
#include "fiber/sanitizer.hpp"
#include "machine/facts.hpp"
#include "machine/plan.hpp"
#include "platform/platform.hpp"
#include "policy/registry.hpp"
#include "sync/mutex.hpp"
#include "trace/file.hpp"
#include "worker/order/inheritance.hpp"
#include "worker/preemption/klt_means.hpp"
#include "worker/preemption/section.hpp"
#include "worker/runtime.hpp"

namespace heddle {

namespace {

constexpr const char* technique_names[] = {"none", "signal_yield", "klt_switching"};

template <class Enum, std::size_t N>
Enum named(const char* const (&names)[N], const std::string& name) {
  return static_cast<Enum>(std::find(names, names + N, name) - names);
}

base::option_values values_of(const runtime_options& o) {
  base::option_values v = base::options_from_environment();
  if (o.workers) v.workers = *o.workers;
  if (o.policy) v.policy = *o.policy;
  if (o.policy_plugin) v.policy_plugin = *o.policy_plugin;
  if (o.bind) v.bind = *o.bind;
  if (o.stack_size) v.stack_size = *o.stack_size;
  if (o.stack_cache) v.stack_cache = *o.stack_cache;
  if (o.stack_keep) v.stack_keep = *o.stack_keep;
  if (o.spin) v.spin = *o.spin;
  if (o.seed) v.seed = *o.seed;
  if (o.trace) v.trace = *o.trace;
  if (o.trace_buffer) v.trace_buffer = *o.trace_buffer;
  if (o.smt) v.smt = *o.smt;
  if (o.watchdog) v.watchdog = *o.watchdog;
  if (o.signal_stacks) v.signal_stacks = *o.signal_stacks;
  if (o.machine) v.machine = *o.machine;
  if (o.preempt && *o.preempt != preemption::as_runtime) v.preempt = technique_names[static_cast<unsigned>(*o.preempt)];
  if (o.preempt_tls == tls::caller) throw std::invalid_argument("heddle: preempt_tls=caller: expected own or carrier");
  if (o.preempt_tls && *o.preempt_tls != tls::as_runtime)
    v.preempt_tls = *o.preempt_tls == tls::own ? "own" : "carrier";
  if (o.preempt_interval)
    v.preempt_interval =
        static_cast<std::uint64_t>(std::max<std::chrono::nanoseconds::rep>(o.preempt_interval->count(), 0));
  if (o.preempt_timer) v.preempt_timer = *o.preempt_timer;
  if (o.preempt_klt) v.preempt_klt = *o.preempt_klt;
  if (o.priority_mode) v.priority_mode = *o.priority_mode == priority_mode::strict ? "strict" : "aging";
  if (o.priority_aging) v.priority_aging = *o.priority_aging;
  if (o.packing) v.packing = *o.packing;
  if (o.gang_workers) v.gang_workers = *o.gang_workers;
  if (o.service_bound)
    v.service_bound = static_cast<std::uint64_t>(std::max<std::chrono::nanoseconds::rep>(o.service_bound->count(), 0));
  if (o.blocked_bound)
    v.blocked_bound = static_cast<std::uint64_t>(std::max<std::chrono::nanoseconds::rep>(o.blocked_bound->count(), 0));
  if (o.blocking_limit) v.blocking_limit = *o.blocking_limit;
  base::check_options(v);
  return v;
}

// Throws std::invalid_argument for an option's value. The message begins with the origin of the value (code or
// variable), which is known here, and ends with `why`, which comes from the code that reads the value.
[[noreturn]] void name_option(const char* key, bool by_code, const std::string& value, const std::string& why) {
  for (const base::option& o : base::options()) {
    if (o.key == key) throw std::invalid_argument((by_code ? o.key : o.variable) + "=" + value + ": " + why);
  }
  throw std::invalid_argument(why);
}

worker::tick_plan ticks_of(const runtime_options& given, const base::option_values& v) try {
  worker::tick_plan plan = worker::tick_plan_from(v.preempt_timer, v.preempt_interval);
  plan.shortens = !given.preempt_interval && v.preempt_interval == base::option_values{}.preempt_interval;
  if (plan.timers == nullptr) return plan;
  if (const char* why = plan.timers->why_not(); why != nullptr) throw std::invalid_argument(why);
  return plan;
} catch (const std::invalid_argument& e) {
  name_option("preempt_timer", given.preempt_timer.has_value(), v.preempt_timer, e.what());
}

worker::klt_means klt_of(const runtime_options& given, const base::option_values& v) try {
  return worker::klt_means_named(v.preempt_klt);
} catch (const std::invalid_argument& e) {
  name_option("preempt_klt", given.preempt_klt.has_value(), v.preempt_klt, e.what());
}

loop_schedule loop_named(const std::string& text) {
  const std::size_t comma = std::min(text.find(','), text.size());
  const std::string name = text.substr(0, comma), number = text.substr(std::min(comma + 1, text.size()));
  std::size_t chunk = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), chunk);
  const bool is_window = name == "window" || name == "window_barrier" || name == "sliding_window";
  const bool is_counted = is_window || name == "static" || name == "dynamic" || name == "guided";
  const bool is_right = (comma == text.size() && !is_window) ||
                        (is_counted && error == std::errc() && end == number.data() + number.size() && chunk != 0);
  if (is_right && name == "adaptive") return schedule::adaptive;
  if (is_right && name == "affinity") return schedule::affinity;
  if (is_right && name == "static") return schedule::fixed(chunk);
  if (is_right && name == "dynamic") return schedule::dynamic(chunk);
  if (is_right && name == "guided") return schedule::guided(chunk);
  if (is_right && name == "window") return schedule::window(chunk);
  if (is_right && name == "window_barrier") return schedule::window(chunk, schedule::window_sharing::barrier);
  if (is_right && name == "sliding_window") return schedule::sliding_window(chunk);
  if (is_right && name == "window_automatic") return schedule::window_automatic;
  name_option(
      "loop", false, text,
      "expected adaptive, affinity, window_automatic; static, dynamic, guided, perhaps with a number of iterations: "
      "dynamic,16; or window, window_barrier, sliding_window with one: window,64");
}

machine::topology other_machine(const runtime_options& given, const base::option_values& v) try {
  return machine::topology::from_name(v.machine);
} catch (const std::invalid_argument& e) {
  name_option("machine", given.machine.has_value(), v.machine, e.what());
}

worker::settings settings_from(const runtime_options& given, const base::option_values& v) {
  if (!v.trace.empty() && !trace::is_trace_name(v.trace)) {
    name_option("trace", given.trace.has_value(), v.trace,
                "expected NAME.heddle (for heddle report) or NAME.json (for Perfetto)");
  }
  const machine::topology& here = machine::topology::here();
  const bool other = !v.machine.empty() && here.is_this_machine();  // a simulated machine stays as it is
  const machine::topology on = other ? other_machine(given, v) : here;
  const machine::worker_plan plan =
      machine::plan(on, on.is_this_machine() ? machine::read_limits() : machine::limits(), v);
  worker::settings s;
  s.machine = std::make_shared<const machine::topology>(on.for_workers(plan.units));
  s.units = plan.units;
  if (!plan.bind || other) s.units.assign(plan.units.size(), -1);
  s.crowded = plan.crowded || (other && plan.units.size() > here.workers());
  s.policy = v.policy;
  s.stack_size = v.stack_size;
  s.stack_cache = v.stack_cache * plan.units.size();
  s.stack_keep = v.stack_keep;
  s.spin = static_cast<unsigned>(v.spin);
  // so that simulated runs can be repeated
  s.seed = v.seed != 0 || platform::simulated ? v.seed : std::random_device{}();
  s.watchdog = static_cast<unsigned>(v.watchdog);
  s.dump_signal = v.signal_stacks;
  s.program = platform::program_name();
  s.trace_file = v.trace;
  s.trace_records = v.trace_buffer;
  s.trace_forks = v.trace_forks;
  s.threads.technique = named<preemption>(technique_names, v.preempt);
  s.storage = v.preempt_tls == "own" ? tls::own : tls::carrier;
  s.threads.storage = s.threads.preemptive() ? s.storage : tls::carrier;
  s.plan = ticks_of(given, v);
  s.aging = v.priority_mode == "strict" ? 0 : static_cast<unsigned>(v.priority_aging);
  s.service_bound = v.service_bound;
  s.blocked_bound = v.blocked_bound;
  s.gangs_by_load = v.gang_workers == "load";
  s.klt = klt_of(given, v);
  s.loop = given.loop ? *given.loop : loop_named(v.loop);
  s.blocking_limit = static_cast<unsigned>(v.blocking_limit);
  if (v.packing == "auto" && on.is_this_machine()) {
    s.allowed = [v] {
      base::option_values any = v;
      any.workers = 0;
      return static_cast<unsigned>(machine::plan(machine::topology::here(), machine::read_limits(), any).units.size());
    };
  }
  return s;
}

// `making_global` is held while the global runtime is made, and `making` while any runtime is made or the facts about
// the machine are read; they are taken in this order. fork() takes both. So a child never finds either locked by a
// kernel thread that it does not have, and never finds a computation half done that happens once in a process (the
// machine's topology).
sync::slow_mutex making_global;
sync::slow_mutex making;

void unlock_after_fork() noexcept {
  worker::tracing::unlock_after_fork();
  making.unlock();
  making_global.unlock();
}

[[maybe_unused]] const bool forks_between = [] {
  platform::around_fork(
      [] {
        making_global.lock();
        making.lock();
        worker::tracing::lock_for_fork();
      },
      unlock_after_fork,
      [] {
        unlock_after_fork();
        worker::forget_inheritance();
      });
  return true;
}();

}  // namespace

detail::machine_facts detail::facts_of_machine() {
  const std::lock_guard hold(making);  // a child must not find the topology half read
  return machine::facts_here();
}

runtime::runtime(const runtime_options& options) {
  if (fiber::unknown_to_thread_sanitizer()) {
    throw std::runtime_error(
        "this program is compiled with ThreadSanitizer and libheddle is not, so that neither knows the other's stacks: "
        "build heddle with "
        "-DHEDDLE_SANITIZE=thread (preset tsan-gcc or tsan-clang), install that, and link it");
  }
  std::lock_guard hold(making);
  const base::option_values values = values_of(options);
  worker::settings s = settings_from(options, values);
  s.handle = this;
  try {
    policy::load_plugins(values.policy_plugin);
  } catch (const std::invalid_argument& e) {
    name_option("policy_plugin", options.policy_plugin.has_value(), values.policy_plugin, e.what());
  }
  try {
    core_ = std::make_unique<worker::runtime>(std::move(s));
  } catch (const std::invalid_argument& e) {  // from the policy
    name_option("policy", options.policy.has_value(), values.policy, e.what());
  }
}

runtime::~runtime() = default;

runtime& runtime::global() {
  // The runtime is not destroyed, because threads may run until the process ends. In a forked child the workers do not
  // exist, so the child makes its own runtime.
  static std::atomic<runtime*> instance{nullptr};
  static std::atomic<std::uint64_t> made_in{0};
  runtime* existing = instance.load();
  if (existing != nullptr && made_in.load() == platform::fork_count()) return *existing;
  std::lock_guard hold(making_global);
  existing = instance.load();
  if (existing == nullptr || made_in.load() != platform::fork_count()) {
    // In a forked child the parent's runtime is unusable. Keeping it here prevents a leak report.
    static auto& abandoned = *new std::vector<runtime*>;
    if (existing != nullptr) abandoned.push_back(existing);
    try {
      existing = new runtime();
    } catch (const std::invalid_argument& e) {
      // The value comes from the user that started the program, and callers of this function do not expect an
      // exception.
      std::fflush(nullptr);
      std::fprintf(stderr, "heddle: %s\n", e.what());
      std::_Exit(2);
    }
    made_in.store(platform::fork_count());
    instance.store(existing);
    // Once a process; a forked child has inherited it. In the child of a process that made the runtime it does nothing.
    static const bool ends_with_process =
        platform::simulated || std::atexit([] {
                                 if (runtime* const last = instance.load(); made_in.load() == platform::fork_count()) {
                                   last->core().carriers().end_with_process();
                                   last->core().substitutes().end_with_process();
                                 }
                               }) == 0;
    static_cast<void>(ends_with_process);
  }
  return *existing;
}

runtime& runtime::current() {
  {
    const worker::section inside;
    worker::worker* w = worker::worker::current_or_null();
    if (w != nullptr) return *static_cast<runtime*>(w->home.options().handle);
  }
  return global();
}

unsigned runtime::workers() const noexcept { return core_->workers(); }

void runtime::set_active_workers(unsigned n) {
  if (n == 0 || n > workers()) {
    throw std::invalid_argument("heddle: set_active_workers(" + std::to_string(n) + "): expected 1 to " +
                                std::to_string(workers()));
  }
  if (core_->arena() != nullptr) throw std::invalid_argument("heddle: an arena's places cannot be switched off");
  if (!core_->capacity().can_change())
    throw std::invalid_argument("heddle: policy " + policy() + " counts on all its workers; none can be switched off");
  const worker::section inside;
  core_->capacity().set_active(n);
}

unsigned runtime::active_workers() const noexcept { return core_->capacity().active(); }

int runtime::worker_rank() const noexcept {
  const worker::section inside;
  worker::worker* w = worker::worker::current_or_null();
  return w != nullptr && &w->home == core_.get() ? static_cast<int>(w->rank) : -1;
}

std::size_t detail::rank_hint() noexcept {
  const worker::section inside;
  worker::worker* w = worker::worker::current_or_null();
  return w != nullptr ? w->rank : 0;
}

void detail::crowd(runtime& home) noexcept { home.core().be_crowded(); }

void detail::count_resident(runtime& home) noexcept { home.core().census().count_resident(); }
void detail::count_out_resident(runtime& home) noexcept { home.core().census().count_out_resident(); }
void detail::end_residents_by(void (*end)(runtime& home) noexcept) noexcept {
  worker::runtime::end_residents.store(end);
}

bool runtime::is_current() const noexcept {
  const worker::section inside;
  worker::worker* w = worker::worker::current_or_null();
  return w != nullptr && &w->home == core_.get();
}

std::string runtime::policy() const { return core_->options().policy; }

machine::view runtime::machine() const noexcept { return core_->options().machine->view(); }

runtime_statistics runtime::statistics() const noexcept {
  runtime_statistics sum{};
  for (unsigned rank = 0; rank < core_->workers(); ++rank) {
    const auto& counts = core_->at(rank).counts;
    sum.steals += counts.steals.load(std::memory_order_relaxed);  // relaxed: statistics, all of them
    sum.forced += counts.forced.load(std::memory_order_relaxed);
    sum.parks += counts.parks.load(std::memory_order_relaxed);
    sum.preemptions += counts.preemptions.load(std::memory_order_relaxed);
    sum.ticks += counts.ticks.load(std::memory_order_relaxed);
  }
  sum.live_threads = core_->stacks().live();
  return sum;
}

worker::runtime& worker::here() {
  runtime* const home = caller::now().home();
  return home != nullptr ? *home : heddle::runtime::global().core();
}

}  // namespace heddle
