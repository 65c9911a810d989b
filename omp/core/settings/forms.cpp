// Reading and writing values of environment variables.
#include "omp/core/settings/forms.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

#include "omp/core/memory/allocator.hpp"
#include "omp/core/settings/words.hpp"

namespace heddle::omp::forms {

namespace {

// Reads a whole number of at least `least` that fills the text.
template <class T>
bool read_number(std::string_view text, T least, T& into) {
  text = trimmed(text);
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least) return false;
  into = value;
  return true;
}

bool read_scaled(std::string_view text, std::size_t unit, std::size_t& into) {
  text = trimmed(text);
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value == 0) return false;
  std::string suffix = lower(text.substr(static_cast<std::size_t>(end - text.data())));
  if (suffix.size() == 2 && suffix[1] == 'b') suffix.pop_back();  // KB, MB
  if (suffix == "b") unit = 1;
  else if (suffix == "k") unit = std::size_t{1} << 10;
  else if (suffix == "m") unit = std::size_t{1} << 20;
  else if (suffix == "g") unit = std::size_t{1} << 30;
  else if (suffix == "t") unit = std::size_t{1} << 40;
  else if (!suffix.empty()) return false;
  if (value > (std::size_t{1} << 46) / unit) return false;  // the size of an address space
  into = value * unit;
  return true;
}

}  // namespace

bool read_boolean(std::string_view text, bool& into) { return read_word(text, booleans, into); }
bool read_boolean(std::string_view text, std::optional<bool>& into) {
  bool value = false;
  if (!read_boolean(text, value)) return false;
  into = value;
  return true;
}
bool read_enabled(std::string_view text, bool& into) { return read_word(text, enabled, into); }
bool read_whole(std::string_view text, int& into) { return read_number(text, 0, into); }
bool read_positive(std::string_view text, int& into) { return read_number(text, 1, into); }
bool read_optional_whole(std::string_view text, std::optional<int>& into) {
  int value = 0;
  if (!read_whole(text, value)) return false;
  into = value;
  return true;
}

bool read_buffers(std::string_view text, int& into) {
  int value = 0;
  if (!read_positive(text, value) || value > 4096) return false;
  into = value;
  return true;
}

bool read_list(std::string_view text, std::vector<int>& into) {
  std::vector<int> values;
  for (const std::string_view part : parts_of(text)) {
    if (!read_positive(part, values.emplace_back())) return false;
  }
  into = std::move(values);
  return true;
}

bool read_text(std::string_view text, std::string& into) {
  into = trimmed(text);
  return true;
}

bool read_size(std::string_view text, std::size_t& into) { return read_scaled(text, 1, into); }
bool read_size_in_k(std::string_view text, std::size_t& into) { return read_scaled(text, 1024, into); }

bool read_schedule(std::string_view text, schedule& into) {
  schedule read;
  if (const std::size_t colon = text.find(':'); colon != std::string_view::npos) {
    const std::string modifier = lower(text.substr(0, colon));
    if (modifier != "monotonic" && modifier != "nonmonotonic") return false;
    read.monotonic = modifier == "monotonic";
    text.remove_prefix(colon + 1);
  }
  const std::vector<std::string_view> parts = parts_of(text);
  if (parts.size() > 2 || !read_word(parts[0], schedules, read.kind)) return false;
  if (parts.size() == 2 && !read_positive(parts[1], read.chunk)) return false;
  if (read.kind == schedule_kind::automatic) read.chunk = 1;
  else if (read.kind != schedule_kind::of_static) read.chunk = std::max(read.chunk, 1);
  into = read;
  return true;
}

bool read_bind_list(std::string_view text, std::vector<bind_kind>& into) {
  std::vector<bind_kind> values;
  for (const std::string_view part : parts_of(text)) {
    if (!read_word(part, binds, values.emplace_back())) return false;
  }
  if (values.size() > 1) {  // true and false must stand alone
    for (const bind_kind b : values) {
      if (b == bind_kind::no || b == bind_kind::yes) return false;
    }
  }
  into = std::move(values);
  return true;
}

bool read_bind(std::string_view text, bind_kind& into) {
  bind_kind read = bind_kind::no;
  if (!read_word(text, binds, read) || read == bind_kind::no || read == bind_kind::yes) return false;
  into = read;
  return true;
}

bool read_subset(std::string_view text, machine_subset& into) { return parse_subset(text, into); }
bool read_places(std::string_view text, place_request& into) { return parse_places(text, into); }
bool read_cpu_affinity(std::string_view text, place_request& into) { return parse_cpu_affinity(text, into); }
bool read_kmp_affinity(std::string_view text, place_request& into) { return parse_kmp_affinity(lower(text), into); }
bool read_waiting(std::string_view text, wait_policy& into) { return read_word(text, policies, into); }
bool read_offload(std::string_view text, offload& into) { return read_word(text, offloads, into); }
bool read_display(std::string_view text, display& into) { return read_word(text, displays, into); }
bool read_library(std::string_view text, library_kind& into) { return read_word(text, libraries, into); }
bool read_preempt(std::string_view text, preempt_members& into) { return read_word(text, preemptings, into); }

bool read_team_scheduling(std::string_view text, team_scheduling& into) {
  return read_word(text, team_schedulings, into);
}

bool read_victims(std::string_view text, policy::victim_rule& into) { return read_word(text, victim_rules, into); }

bool read_gang_sched(std::string_view text, team_scheduling& into) {
  bool all = false;
  if (!read_boolean(text, all)) return false;
  into = all ? team_scheduling::gang : team_scheduling::automatic;
  return true;
}
bool read_allocator(std::string_view text, std::uintptr_t& into) { return allocators::from_text(lower(text), into); }

bool read_blocktime(std::string_view text, std::optional<std::int64_t>& into) {
  const std::string given = lower(text);
  if (given == "infinite" || given == "infinity") {
    into = unlimited_spin;
    return true;
  }
  std::int64_t value = 0, unit = 1'000'000;
  const auto [end, error] = std::from_chars(given.data(), given.data() + given.size(), value);
  if (error != std::errc() || value < 0) return false;
  const std::string_view suffix = trimmed(std::string_view(given).substr(static_cast<std::size_t>(end - given.data())));
  if (suffix == "us") unit = 1'000;
  else if (suffix == "s") unit = 1'000'000'000;
  else if (!suffix.empty() && suffix != "ms") return false;
  // More than a 32-bit number of milliseconds means for ever.
  const std::int64_t most = std::numeric_limits<std::int32_t>::max() * std::int64_t{1'000'000};
  into = value >= most / unit ? unlimited_spin : value * unit;
  return true;
}

bool read_spin_count(std::string_view text, std::optional<std::int64_t>& into) {
  const std::string given = lower(text);
  if (given == "infinite" || given == "infinity") {
    into = unlimited_spin;
    return true;
  }
  std::int64_t value = 0, unit = 1;
  const auto [end, error] = std::from_chars(given.data(), given.data() + given.size(), value);
  if (error != std::errc() || value < 0) return false;
  const std::string_view suffix = trimmed(std::string_view(given).substr(static_cast<std::size_t>(end - given.data())));
  if (suffix == "k") unit = 1'000;
  else if (suffix == "m") unit = 1'000'000;
  else if (suffix == "g") unit = 1'000'000'000;
  else if (suffix == "t") unit = 1'000'000'000'000;
  else if (!suffix.empty()) return false;
  into = value > unlimited_spin / unit ? unlimited_spin : value * unit;
  return true;
}

std::string write_boolean(bool value) { return value ? "TRUE" : "FALSE"; }
std::string write_boolean(std::optional<bool> value) { return value ? write_boolean(*value) : ""; }
std::string write_enabled(bool value) { return write_word(value, enabled); }
std::string write_whole(int value) { return std::to_string(value); }
std::string write_positive(int value) { return value == 0 ? "" : std::to_string(value); }
std::string write_optional_whole(std::optional<int> value) { return value ? std::to_string(*value) : ""; }
std::string write_buffers(int value) { return write_whole(value); }

std::string write_list(const std::vector<int>& value) {
  std::string text;
  for (const int v : value) {
    if (!text.empty()) text += ',';
    text += std::to_string(v);
  }
  return text;
}

std::string write_text(const std::string& value) { return value; }

std::string write_size(std::size_t value) {
  constexpr const char* suffixes[] = {"B", "K", "M", "G", "T"};
  unsigned power = 0;
  while (power < 4 && value != 0 && value % 1024 == 0) {
    value /= 1024;
    ++power;
  }
  return std::to_string(value) + suffixes[power];
}
std::string write_size_in_k(std::size_t value) { return write_size(value); }

std::string write_schedule(const schedule& value) {
  std::string text = value.monotonic ? "monotonic:" : "";
  text += write_word(value.kind, schedules);
  if (value.chunk > (value.kind == schedule_kind::of_static ? 0 : 1)) text += ',' + std::to_string(value.chunk);
  return text;
}

std::string write_bind_list(const std::vector<bind_kind>& value) {
  std::string text;
  for (const bind_kind b : value) {
    if (!text.empty()) text += ',';
    text += write_word(b, binds);
  }
  return text;
}

std::string write_bind(bind_kind value) { return write_word(value, binds); }

std::string write_subset(const machine_subset& value) { return text_of(value); }
std::string write_places(const place_request& value) { return text_of(value); }
std::string write_cpu_affinity(const place_request&) { return ""; }  // shown as OMP_PLACES
std::string write_kmp_affinity(const place_request&) { return ""; }
std::string write_waiting(wait_policy value) { return write_word(value, policies); }
std::string write_offload(offload value) { return write_word(value, offloads); }
std::string write_display(display value) { return write_word(value, displays); }
std::string write_library(library_kind value) { return write_word(value, libraries); }
std::string write_preempt(preempt_members value) { return write_word(value, preemptings); }

std::string write_team_scheduling(team_scheduling value) { return write_word(value, team_schedulings); }

std::string write_victims(policy::victim_rule value) { return write_word(value, victim_rules); }

std::string write_gang_sched(team_scheduling value) { return write_boolean(value == team_scheduling::gang); }
std::string write_allocator(std::uintptr_t value) { return allocators::to_text(value); }

std::string write_blocktime(std::optional<std::int64_t> value) {
  if (!value) return "";
  if (*value == unlimited_spin) return "infinite";
  return *value % 1'000'000 == 0 ? std::to_string(*value / 1'000'000) + "ms" : std::to_string(*value / 1'000) + "us";
}
std::string write_spin_count(std::optional<std::int64_t> value) {
  if (!value) return "";
  return *value == unlimited_spin ? "infinite" : std::to_string(*value);
}

}  // namespace heddle::omp::forms
