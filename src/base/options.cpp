#include "base/options.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdio>
#include <iterator>
#include <stdexcept>

#include "base/nearest.hpp"

extern "C" char** environ;  // NOLINT: POSIX

namespace heddle::base {

namespace {

constexpr std::string_view prefix = "HEDDLE_";

std::string capitals(std::string_view key) {
  std::string text(key);
  for (char& c : text) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return text;
}

std::vector<std::string> split(std::string_view words) {
  std::vector<std::string> parts;
  for (std::size_t from = 0; from <= words.size();) {
    const std::size_t to = std::min(words.find('|', from), words.size());
    parts.emplace_back(words.substr(from, to - from));
    from = to + 1;
  }
  return parts;
}

[[noreturn]] void refuse(const std::string& name, std::string_view text, const std::string& expected) {
  throw std::invalid_argument(name + "=" + std::string(text) + ": expected " + expected);
}

// --- the kinds: reading, writing, describing -----------------------------------------------------------------------

bool read_integer(std::string_view text, std::uint64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

bool read_size(std::string_view text, std::uint64_t& value) {
  unsigned shift = 0;
  if (!text.empty()) {
    const std::size_t which = std::string_view("kKmMgG").find(text.back());
    if (which != std::string_view::npos) {
      shift = 10 * (static_cast<unsigned>(which) / 2 + 1);
      text.remove_suffix(1);
    }
  }
  std::uint64_t units = 0;
  if (!read_integer(text, units) || units > (~std::uint64_t{0} >> shift)) return false;
  value = units << shift;
  return true;
}

std::string size_text(std::uint64_t value) {
  for (unsigned power = 3; power > 0 && value != 0; --power) {
    if (value % (std::uint64_t{1} << (10 * power)) == 0) return std::to_string(value >> (10 * power)) + " KMG"[power];
  }
  return std::to_string(value);
}

struct time_unit {
  std::string_view suffix;
  std::uint64_t nanoseconds;
};
constexpr time_unit time_units[] = {{"ns", 1}, {"us", 1'000}, {"ms", 1'000'000}, {"s", 1'000'000'000}};

bool read_time(std::string_view text, std::uint64_t& value) {
  for (const time_unit& unit : time_units) {
    std::uint64_t units = 0;
    if (!text.ends_with(unit.suffix) || !read_integer(text.substr(0, text.size() - unit.suffix.size()), units))
      continue;
    if (units > ~std::uint64_t{0} / unit.nanoseconds) return false;
    value = units * unit.nanoseconds;
    return true;
  }
  return false;
}

std::string time_text(std::uint64_t value) {
  for (std::size_t i = std::size(time_units); i-- > 0;) {
    if (value % time_units[i].nanoseconds == 0)
      return std::to_string(value / time_units[i].nanoseconds) + std::string(time_units[i].suffix);
  }
  return {};
}

std::string count_values(std::uint64_t least, std::uint64_t most) {
  return "an integer from " + std::to_string(least) + " to " + std::to_string(most);
}

std::string size_values(std::uint64_t least, std::uint64_t most) {
  return "a size from " + size_text(least) + " to " + size_text(most) + " (suffixes K, M, G)";
}

std::string time_values(std::uint64_t least, std::uint64_t most) {
  return "a time from " + time_text(least) + " to " + time_text(most) + " (suffixes ns, us, ms, s)";
}

void set_time(std::uint64_t& value, std::string_view text, const std::string& name, std::uint64_t least,
              std::uint64_t most) {
  std::uint64_t given = 0;
  if (!read_time(text, given) || given < least || given > most) refuse(name, text, time_values(least, most));
  value = given;
}

void set_count(std::uint64_t& value, std::string_view text, const std::string& name, std::uint64_t least,
               std::uint64_t most) {
  std::uint64_t given = 0;
  if (!read_integer(text, given) || given < least || given > most) refuse(name, text, count_values(least, most));
  value = given;
}

void set_size(std::uint64_t& value, std::string_view text, const std::string& name, std::uint64_t least,
              std::uint64_t most) {
  std::uint64_t given = 0;
  if (!read_size(text, given) || given < least || given > most) refuse(name, text, size_values(least, most));
  value = given;
}

void set_switch(bool& value, std::string_view text, const std::string& name) {
  static const std::vector<std::string> words = {"on", "off", "1", "0", "yes", "no", "true", "false"};
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (edit_distance(text, words[i]) == 0) {
      value = i % 2 == 0;
      return;
    }
  }
  refuse(name, text, "on or off" + did_you_mean(text, words));
}

void set_choice(std::string& value, std::string_view text, const std::string& name, std::string_view values) {
  const std::vector<std::string> words = split(values);
  for (const std::string& word : words) {
    if (edit_distance(text, word) == 0) {
      value = word;
      return;
    }
  }
  refuse(name, text, alternatives(words) + did_you_mean(text, words));
}

const std::vector<std::string>& foreign_variables() {
  static const std::vector<std::string> names = {
#define HEDDLE_COUNT(key, preset, least, most, unit, text)
#define HEDDLE_SIZE(key, preset, least, most, unit, text)
#define HEDDLE_TIME(key, preset, least, most, text)
#define HEDDLE_SWITCH(key, preset, text)
#define HEDDLE_CHOICE(key, preset, values, text)
#define HEDDLE_TEXT(key, preset, values, text)
#define HEDDLE_FOREIGN(name) "HEDDLE_" #name,
#include "base/options.def"
  };
  return names;
}

std::vector<std::string> names_of(std::string option::* name) {
  std::vector<std::string> names;
  for (const option& o : options()) names.push_back(o.*name);
  return names;
}

}  // namespace

const std::vector<option>& options() {
  static const std::vector<option> table = {
#define HEDDLE_COUNT(key, preset, least, most, unit, text)                                                  \
  {#key,                                                                                                    \
   capitals("HEDDLE_" #key),                                                                                \
   std::to_string(std::uint64_t{preset}),                                                                   \
   unit,                                                                                                    \
   count_values(least, most),                                                                               \
   text,                                                                                                    \
   [](option_values& v, std::string_view s, const std::string& n) { set_count(v.key, s, n, least, most); }, \
   [](const option_values& v) { return std::to_string(v.key); }},
#define HEDDLE_SIZE(key, preset, least, most, unit, text)                                                  \
  {#key,                                                                                                   \
   capitals("HEDDLE_" #key),                                                                               \
   size_text(preset),                                                                                      \
   unit,                                                                                                   \
   size_values(least, most),                                                                               \
   text,                                                                                                   \
   [](option_values& v, std::string_view s, const std::string& n) { set_size(v.key, s, n, least, most); }, \
   [](const option_values& v) { return size_text(v.key); }},
#define HEDDLE_TIME(key, preset, least, most, text)                                                        \
  {#key,                                                                                                   \
   capitals("HEDDLE_" #key),                                                                               \
   time_text(preset),                                                                                      \
   "",                                                                                                     \
   time_values(least, most),                                                                               \
   text,                                                                                                   \
   [](option_values& v, std::string_view s, const std::string& n) { set_time(v.key, s, n, least, most); }, \
   [](const option_values& v) { return time_text(v.key); }},
#define HEDDLE_SWITCH(key, preset, text)                                                        \
  {#key,                                                                                        \
   capitals("HEDDLE_" #key),                                                                    \
   preset ? "on" : "off",                                                                       \
   "",                                                                                          \
   "on or off",                                                                                 \
   text,                                                                                        \
   [](option_values& v, std::string_view s, const std::string& n) { set_switch(v.key, s, n); }, \
   [](const option_values& v) { return std::string(v.key ? "on" : "off"); }},
#define HEDDLE_CHOICE(key, preset, values, text)                                                        \
  {#key,                                                                                                \
   capitals("HEDDLE_" #key),                                                                            \
   preset,                                                                                              \
   "",                                                                                                  \
   alternatives(split(values)),                                                                         \
   text,                                                                                                \
   [](option_values& v, std::string_view s, const std::string& n) { set_choice(v.key, s, n, values); }, \
   [](const option_values& v) { return v.key; }},
#define HEDDLE_TEXT(key, preset, values, text)                                               \
  {#key,                                                                                     \
   capitals("HEDDLE_" #key),                                                                 \
   preset,                                                                                   \
   "",                                                                                       \
   values,                                                                                   \
   text,                                                                                     \
   [](option_values& v, std::string_view s, const std::string&) { v.key = std::string(s); }, \
   [](const option_values& v) { return v.key; }},
#define HEDDLE_FOREIGN(name)
#include "base/options.def"
  };
  return table;
}

void set_option(option_values& values, std::string_view key, std::string_view text, std::string_view name) {
  for (const option& o : options()) {
    if (o.key == key) return o.set(values, text, name.empty() ? o.variable : std::string(name));
  }
  throw std::invalid_argument("no option is called '" + std::string(key) + "'" +
                              did_you_mean(key, names_of(&option::key)));
}

void check_options(const option_values& values) {
  option_values copy;
  for (const option& o : options()) o.set(copy, o.get(values), o.key);
}

option_values options_from(std::span<const char* const> environment, std::vector<std::string>* warnings) {
  option_values values;
  for (const char* entry : environment) {
    const std::string_view line(entry);
    if (!line.starts_with(prefix)) continue;
    const std::size_t equals = std::min(line.find('='), line.size());
    const std::string_view name = line.substr(0, equals);
    const std::string_view text = equals < line.size() ? line.substr(equals + 1) : std::string_view();
    const auto known =
        std::find_if(options().begin(), options().end(), [&](const option& o) { return o.variable == name; });
    if (known != options().end()) {
      if (!text.empty()) known->set(values, text, known->variable);
    } else if (warnings != nullptr &&
               std::find(foreign_variables().begin(), foreign_variables().end(), name) == foreign_variables().end()) {
      // Compared without the prefix, because the prefix would make every name near to every other.
      std::vector<std::string> guesses = nearest_all(name.substr(prefix.size()), names_of(&option::key));
      for (std::string& guess : guesses) guess = std::string(prefix) + capitals(guess);
      warnings->push_back(
          std::string(name) + " is no option of heddle; " +
          (guesses.empty() ? "`heddle help options` lists them" : "did you mean " + alternatives(guesses) + "?"));
    }
  }
  return values;
}

option_values options_from_environment() {
  static std::atomic<bool> warned{false};
  std::size_t count = 0;
  while (environ != nullptr && environ[count] != nullptr) ++count;
  std::vector<std::string> warnings;
  option_values values = options_from({environ, count}, &warnings);
  if (!warnings.empty() && !warned.exchange(true)) {
    for (const std::string& warning : warnings) std::fprintf(stderr, "heddle: warning: %s\n", warning.c_str());
  }
  return values;
}

}  // namespace heddle::base
