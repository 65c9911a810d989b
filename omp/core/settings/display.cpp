// The output of OMP_DISPLAY_ENV and KMP_SETTINGS, the table of the guide, and the runtime's messages on standard error.
#include <atomic>
#include <mutex>
#include <set>
#include <string>

#include <heddle/mutex.hpp>

#include "omp/core/locks/kept.hpp"
#include "omp/core/settings/environment.hpp"
#include "omp/core/standard_error.hpp"

namespace heddle::omp {

namespace {

// All accesses are relaxed: it publishes nothing.
std::atomic<bool> warnings_on{true};

bool is_standard(const variable& v) noexcept { return std::string_view(v.name).starts_with("OMP_"); }

std::string quoted_line(const variable& v, std::string value) {
  return std::string("  [host] ") + v.name + " = '" + std::move(value) + "'\n";
}

// The values that the variables leave to the runtime.
std::string value_of(const environment& e, const variable& v) {
  const std::string_view name(v.name);
  if (name == "OMP_NUM_THREADS" && e.threads.empty()) return std::to_string(e.initial.threads);
  if (name == "OMP_MAX_ACTIVE_LEVELS") return std::to_string(e.initial.max_active_levels);
  if (name == "OMP_NESTED") return e.initial.max_active_levels > 1 ? "TRUE" : "FALSE";
  if (name == "OMP_PLACES") return text_of(e.all_places);
  if (name == "OMP_PROC_BIND" && e.bind.empty()) return "FALSE";
  if (name == "OMP_WAIT_POLICY" && e.waiting == wait_policy::unsaid)
    return e.spin == unlimited_spin ? "ACTIVE" : "PASSIVE";
  if (name == "OMP_NUM_TEAMS" || name == "OMP_TEAMS_THREAD_LIMIT") {
    const std::string written = v.write(e);
    return written.empty() ? "0" : written;
  }
  return v.write(e);
}

}  // namespace

std::string environment_text(const environment& e, bool verbose) {
  std::string text = "\nOPENMP DISPLAY ENVIRONMENT BEGIN\n  _OPENMP = '202011'\n";
  for (const variable& v : variables()) {
    if (!v.is_ignored && is_standard(v)) text += quoted_line(v, value_of(e, v));
  }
  if (verbose) {
    for (const variable& v : variables()) {
      if (!v.is_ignored && !is_standard(v)) text += quoted_line(v, value_of(e, v));
    }
  }
  return text + "OPENMP DISPLAY ENVIRONMENT END\n";
}

std::string settings_text(const environment& e) {
  std::string text = "\nEffective settings:\n";
  for (const variable& v : variables()) {
    if (v.is_ignored) continue;
    const std::string given = v.write(e);
    text += std::string("  ") + v.name + "='" + (given.empty() ? value_of(e, v) : given) + "'\n";
  }
  return text;
}

std::string environment_markdown() {
  const environment_values presets;
  std::string text = "| variable | values | default | meaning |\n| --- | --- | --- | --- |\n";
  const auto cell = [](std::string_view of) {  // a bar would end the cell
    std::string escaped;
    for (const char c : of) {
      if (c == '|') escaped += '\\';
      escaped += c;
    }
    return escaped;
  };
  for (const variable& v : variables()) {
    if (v.is_ignored) continue;
    const std::string preset = v.write(presets);
    text += "| `" + std::string(v.name) + "` | " + cell(v.values) + " | " + (preset.empty() ? "" : '`' + preset + '`') +
            " | " + cell(v.text) + " |\n";
  }
  text += "\n| accepted without a meaning here | what it is elsewhere, or what to use |\n| --- | --- |\n";
  for (const variable& v : variables()) {
    if (v.is_ignored) text += "| `" + std::string(v.name) + "` | " + cell(v.text) + " |\n";
  }
  return text;
}

// relaxed: a switch that publishes nothing
void set_warnings(bool on) noexcept { warnings_on.store(on, std::memory_order_relaxed); }

void say(const std::string& line) noexcept {
  if (warnings_on.load(std::memory_order_relaxed)) write_line("heddle: " + line);
}

void say_of_variable(const std::string& complaint) noexcept {
  // The number is that of messages about values which cannot be read.
  if (warnings_on.load(std::memory_order_relaxed)) write_line("OMP: Warning #42: heddle: " + complaint);
}

namespace {

struct said_lines {
  heddle::mutex lock;
  std::set<std::string>* lines{nullptr};  // null until there is one
};
constinit kept<said_lines> said;
[[maybe_unused]] const bool lines_told_of_forks = forget_in_children<said>();

}  // namespace

void say_once(const std::string& line) noexcept {
  {
    auto& [lock, lines] = said.object;
    const std::lock_guard held(lock);
    if (lines == nullptr) lines = new std::set<std::string>;
    if (!lines->insert(line).second) return;
  }
  say(line);
}

}  // namespace heddle::omp
