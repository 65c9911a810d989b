// The words for values of environment variables, and their meanings. They are taken in any case; blanks around them do
// not count.
#pragma once

#include <cctype>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "omp/core/settings/environment.hpp"

namespace heddle::omp::forms {

inline std::string_view trimmed(std::string_view text) noexcept {
  const auto blank = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

inline std::string lower(std::string_view text) {
  std::string result(trimmed(text));
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

template <class T>
struct word_for {
  std::string_view word;
  T value;
};

// The first word for a value is the one that is written.
template <class T, std::size_t Count>
bool read_word(std::string_view text, const word_for<T> (&words)[Count], T& into) {
  const std::string given = lower(text);
  for (const word_for<T>& w : words) {
    if (w.word != given) continue;
    into = w.value;
    return true;
  }
  return false;
}
template <class T, std::size_t Count>
std::string write_word(T value, const word_for<T> (&words)[Count]) {
  for (const word_for<T>& w : words) {
    if (w.value == value) return std::string(w.word);
  }
  return "";
}

inline constexpr word_for<bool> booleans[] = {
    {"true", true},   {"false", false},   {"1", true},       {"0", false},       {"yes", true}, {"no", false},
    {"on", true},     {"off", false},     {".t.", true},     {".f.", false},     {"t", true},   {"f", false},
    {".true.", true}, {".false.", false}, {"enabled", true}, {"disabled", false}};
inline constexpr word_for<bool> enabled[] = {{"enabled", true}, {"disabled", false}};
inline constexpr word_for<wait_policy> policies[] = {{"active", wait_policy::active},
                                                     {"passive", wait_policy::passive}};
inline constexpr word_for<offload> offloads[] = {
    {"default", offload::as_it_comes}, {"mandatory", offload::mandatory}, {"disabled", offload::disabled}};
inline constexpr word_for<display> displays[] = {
    {"true", display::yes}, {"false", display::no}, {"verbose", display::verbose},
    {"1", display::yes},    {"0", display::no},     {"yes", display::yes},
    {"no", display::no},    {"on", display::yes},   {"off", display::no}};
inline constexpr word_for<library_kind> libraries[] = {{"serial", library_kind::serial},
                                                       {"turnaround", library_kind::turnaround},
                                                       {"throughput", library_kind::throughput}};
inline constexpr word_for<preempt_members> preemptings[] = {
    {"auto", preempt_members::automatic}, {"on", preempt_members::on}, {"off", preempt_members::off}};
inline constexpr word_for<team_scheduling> team_schedulings[] = {
    {"auto", team_scheduling::automatic}, {"gang", team_scheduling::gang}, {"stealing", team_scheduling::stealing}};
inline constexpr word_for<policy::victim_rule> victim_rules[] = {{"random", policy::victim_rule::random},
                                                                 {"history", policy::victim_rule::history},
                                                                 {"hybrid", policy::victim_rule::hybrid}};
inline constexpr word_for<schedule_kind> schedules[] = {
    {"static", schedule_kind::of_static},        {"dynamic", schedule_kind::of_dynamic},
    {"guided", schedule_kind::of_guided},        {"auto", schedule_kind::automatic},
    {"trapezoidal", schedule_kind::trapezoidal}, {"static_steal", schedule_kind::of_dynamic}};
inline constexpr word_for<bind_kind> binds[] = {{"false", bind_kind::no},        {"true", bind_kind::yes},
                                                {"primary", bind_kind::primary}, {"master", bind_kind::primary},
                                                {"close", bind_kind::close},     {"spread", bind_kind::spread}};

// The parts between commas, each trimmed; also empty ones.
inline std::vector<std::string_view> parts_of(std::string_view text, char separator = ',') {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(trimmed(text.substr(0, end)));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

}  // namespace heddle::omp::forms
