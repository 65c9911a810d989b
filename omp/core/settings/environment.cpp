// Reads the environment by the table, and computes what follows from it.
#include "omp/core/settings/environment.hpp"

#include <algorithm>
#include <cctype>

#include "omp/core/settings/forms.hpp"

namespace heddle::omp {

namespace {

constexpr std::int64_t usual_spin = 300'000;  // nanoseconds
// The approximate time of a turn of a loop with a pause instruction, which GOMP_SPINCOUNT counts.
constexpr std::int64_t turn = 10;

#define HEDDLE_STANDARD(name, member, form, values, text)                                                   \
  {#name,                                                                                                   \
   values,                                                                                                  \
   text,                                                                                                    \
   false,                                                                                                   \
   [](environment_values& into, std::string_view given) { return forms::read_##form(given, into.member); }, \
   [](const environment_values& from) { return forms::write_##form(from.member); }},
#define HEDDLE_VENDOR HEDDLE_STANDARD
#define HEDDLE_IGNORED(name, text)                             \
  {#name,                                                      \
   "anything",                                                 \
   text,                                                       \
   true,                                                       \
   [](environment_values&, std::string_view) { return true; }, \
   [](const environment_values&) { return std::string(); }},
constexpr variable table[] = {
#include "omp/core/settings/environment.def"
};

std::string_view value_in(std::span<const char* const> texts, std::string_view name) noexcept {
  std::string_view value;
  for (const char* const text : texts) {
    const std::string_view one(text);
    if (one.size() > name.size() && one.starts_with(name) && one[name.size()] == '=')
      value = one.substr(name.size() + 1);
  }
  return value;
}

std::int64_t product(std::int64_t turns) noexcept {
  return turns > unlimited_spin / turn ? unlimited_spin : turns * turn;
}

}  // namespace

// Takes the wait policy's value, unless a variable gives a more precise time.
void settle_spin(environment& e) noexcept {
  e.spin = usual_spin;
  e.spin_is_said = true;
  if (e.blocktime) e.spin = *e.blocktime;
  else if (e.spin_count) e.spin = product(*e.spin_count);
  else if (e.waiting == wait_policy::active || e.library == library_kind::turnaround) e.spin = unlimited_spin;
  else if (e.waiting == wait_policy::passive) e.spin = 0;
  else e.spin_is_said = false;
}

std::chrono::nanoseconds spin_time() noexcept {
  const std::chrono::nanoseconds said(process_environment().spin);
  return std::min<std::chrono::nanoseconds>(said, std::chrono::hours(24));  // can be added to a time of day
}
std::size_t stack_size() noexcept { return process_environment().stack_size; }
bool may_cancel() noexcept { return process_environment().cancellation; }
preempt_members preempting() noexcept { return process_environment().preempt; }

std::span<const variable> variables() noexcept { return table; }

namespace {

// Says what is wrong with a value that cannot be read; "" if a number is wanted and the value is none.
std::string_view fault_of(const variable& v, std::string_view given) noexcept {
  if (!std::string_view(v.values).starts_with("a number")) return "";
  while (!given.empty() && std::isspace(static_cast<unsigned char>(given.front())) != 0) given.remove_prefix(1);
  while (!given.empty() && std::isspace(static_cast<unsigned char>(given.back())) != 0) given.remove_suffix(1);
  const bool minus = given.starts_with('-');
  if (minus || given.starts_with('+')) given.remove_prefix(1);
  const auto is_digit = [](unsigned char c) { return std::isdigit(c) != 0; };
  if (given.empty() || !std::all_of(given.begin(), given.end(), is_digit)) return "";
  const bool zero = given.find_first_not_of('0') == std::string_view::npos;
  return minus || zero ? ", this is too small" : ", this is too large";
}

void read_values(environment_values& values, std::span<const char* const> texts, std::vector<std::string>* complaints,
                 const environment_values& presets) {
  for (const variable& v : table) {
    const std::string_view given = value_in(texts, v.name);
    const bool blank = std::all_of(given.begin(), given.end(), [](unsigned char c) { return std::isspace(c) != 0; });
    if (blank || v.read(values, given)) continue;
    // An earlier value is discarded, too.
    if (v.name == std::string_view("OMP_PLACES")) v.read(values, places_instead_of(given));
    else v.read(values, v.write(presets));
    if (complaints == nullptr) continue;
    const std::string before = v.write(values);
    complaints->push_back(std::string(v.name) + '=' + std::string(given) + ": expected " + v.values +
                          std::string(fault_of(v, given)) +
                          (before.empty() ? "; taken as if it were not set" : "; taken as " + before));
  }
}

}  // namespace

environment_values values_from(std::span<const char* const> texts, std::vector<std::string>* complaints,
                               environment_values presets) {
  environment_values values = presets;
  read_values(values, texts, complaints, presets);
  return values;
}

namespace {

// The variables with which initial threads begin, by the values and the places.
void settle_variables(environment& e) noexcept {
  control_variables& v = e.initial;
  if (!e.threads.empty()) v.threads = e.threads.front();
  if (e.library == library_kind::serial) v.threads = 1;
  v.thread_limit = e.thread_limit;
  v.dynamic = e.dynamic;
  v.teams = e.teams;
  v.teams_thread_limit = e.teams_thread_limit;
  v.default_device = e.default_device;
  v.run_schedule = e.run_schedule;
  v.teams_are = e.teams_are;
  v.allocator = e.allocator;
  v.bind = e.bind.empty() || e.all_places.empty() ? bind_kind::no : e.bind.front();
  const int any = std::numeric_limits<int>::max();
  if (e.max_active_levels) v.max_active_levels = *e.max_active_levels;
  else if (e.nested) v.max_active_levels = *e.nested ? any : 1;
  else if (e.threads.size() > 1 || e.bind.size() > 1) v.max_active_levels = any;
  if (!e.all_places.empty()) {  // the initial thread is at the first place
    const bind_kind bind = v.bind == bind_kind::no ? bind_kind::no : bind_kind::primary;
    v.places = {0, static_cast<int>(e.all_places.size()), 0, bind};
  }
}

}  // namespace

void read_into(environment& e, const std::vector<std::string>& lines) {
  std::vector<const char*> texts;
  for (const std::string& line : lines) texts.push_back(line.c_str());
  std::vector<std::string> complaints;
  read_values(e, texts, &complaints, environment_values());
  settle_spin(e);
  settle_variables(e);
  for (const std::string& complaint : complaints) say_of_variable(complaint);
}

environment environment_from(environment_values values, const machine_units& whole, unsigned workers,
                             std::vector<std::string>* complaints) {
  environment e;
  static_cast<environment_values&>(e) = std::move(values);
  machine_units machine = units_in(e.hw_subset, whole);
  if (machine.empty()) {
    if (complaints != nullptr && !whole.empty())
      complaints->push_back("KMP_HW_SUBSET=" + text_of(e.hw_subset) +
                            ": the machine has less; taken as if it were not set");
    e.hw_subset = {};
    machine = whole;
  }
  e.processors = static_cast<int>(std::max<std::size_t>(machine.size(), 1));
  for (const machine_unit& u : machine) e.usable.push_back(u.number);
  settle_spin(e);
  if (e.places.verbose) e.display_affinity = true;
  if (e.bind.empty() && e.places.kind != place_kind::none) e.bind = {e.places.bind};
  const bool bound = !e.bind.empty() && e.bind.front() != bind_kind::no;
  // the standard leaves this to the runtime
  if (bound && e.places.kind == place_kind::none) e.places.kind = place_kind::cores;
  e.all_places = places_on(machine, e.places, complaints);

  e.workers = e.initial.threads = static_cast<int>(workers);
  if (!e.hw_subset.parts.empty()) e.initial.threads = std::min(e.workers, e.processors);
  settle_variables(e);
  return e;
}

}  // namespace heddle::omp
