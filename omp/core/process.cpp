// The environment of this process.
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <mutex>

#include <heddle/mutex.hpp>

#include "omp/core/locks/kept.hpp"
#include "omp/core/settings/environment.hpp"
#include "omp/core/standard_error.hpp"
#include "omp/seam.hpp"

namespace heddle::omp {

namespace {

// That of the program's first thread, as a pthread would have it.
std::size_t usual_stack() noexcept {
  rlimit limit{};
  const bool said = getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  return said && limit.rlim_cur >= (1u << 20) ? limit.rlim_cur : environment_values().stack_size;
}

environment* read_process_environment() {
  std::vector<std::string> complaints;
  std::size_t count = 0;
  while (environ != nullptr && environ[count] != nullptr) ++count;
  environment_values presets;
  presets.stack_size = usual_stack();
  environment_values values =
      values_from({const_cast<const char* const*>(environ), count}, &complaints, std::move(presets));
  const detail::machine_facts facts = detail::facts_of_machine();
  machine_units units;
  for (const detail::unit_facts& u : facts.units) units.push_back({u.number, u.core, u.package, u.last_cache, u.numa});
  auto* const e = new environment(environment_from(std::move(values), units, facts.workers, &complaints));
  set_warnings(e->warnings);
  for (const std::string& line : complaints) say_of_variable(line);
  if (e->display_env != display::no) write_text(environment_text(*e, e->display_env == display::verbose));
  if (e->settings) write_text(settings_text(*e));
  return e;
}

// The newest one. None is ever destroyed: programs ask in destructors of static objects, too, and initial threads go on
// with the variables of the one they began with. release pairs with process_environment: what it points to.
std::atomic<const environment*> newest{nullptr};

// Libraries print when they are loaded, not at their first use.
[[gnu::constructor]] void display_at_load() noexcept {
  for (const char* const name : {"OMP_DISPLAY_ENV", "KMP_SETTINGS"}) {
    if (std::getenv(name) != nullptr) process_environment();
  }
}

// Suspends a user-level thread that comes second, which a guard of the compiler's would not.
constinit kept<heddle::mutex> changing;

// `newest` needs no care in a child, because it is one pointer.
[[maybe_unused]] const bool told_of_forks = forget_in_children<changing>();

const environment& under_lock() {
  const environment* e = newest.load(std::memory_order_relaxed);  // written under the lock
  if (e == nullptr) {
    e = read_process_environment();
    newest.store(e, std::memory_order_release);  // pairs with process_environment
  }
  return *e;
}

}  // namespace

const environment& process_environment() noexcept {
  const environment* const e = newest.load(std::memory_order_acquire);  // pairs with under_lock, change_environment
  if (e != nullptr) [[likely]]
    return *e;
  const std::lock_guard held(changing.object);
  return under_lock();
}

void change_environment(void (*change)(environment& copy, const void* argument), const void* argument) {
  const std::lock_guard held(changing.object);
  const environment& old = under_lock();
  environment copy = old;
  change(copy, argument);
  if (copy == old) return;
  static auto* const outdated = new std::vector<const environment*>;
  outdated->push_back(&old);
  newest.store(new environment(std::move(copy)), std::memory_order_release);  // pairs with process_environment
}

const control_variables& initial_variables() noexcept { return process_environment().initial; }

}  // namespace heddle::omp
