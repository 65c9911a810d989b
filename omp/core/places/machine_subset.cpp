#include "omp/core/places/machine_subset.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>

namespace heddle::omp {

namespace {

using layer = machine_subset::layer;
constexpr layer all_layers[] = {layer::socket, layer::numa, layer::core, layer::thread};
constexpr char letters[] = {'s', 'n', 'c', 't'};

std::optional<layer> layer_named(std::string_view word) noexcept {
  if (!word.empty() && word.size() > 1 && word.back() == 's') word.remove_suffix(1);
  if (word == "s" || word == "socket" || word == "package") return layer::socket;
  if (word == "n" || word == "numa" || word == "numa_domain") return layer::numa;
  if (word == "c" || word == "core") return layer::core;
  if (word == "t" || word == "thread") return layer::thread;
  return std::nullopt;
}

// Takes a number from the front. Returns false if there is none.
bool take_number(std::string_view& text, int& into) noexcept {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), into);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return into >= 0;
}

bool parse_part(std::string_view text, machine_subset::part& into) {
  into.count = into.offset = 0;
  if (!text.empty() && text.front() == '*') text.remove_prefix(1);
  else if (take_number(text, into.count) && into.count == 0) return false;
  const std::size_t at = text.find('@');
  const std::optional<layer> what = layer_named(text.substr(0, at));
  if (!what) return false;
  into.what = *what;
  if (at == std::string_view::npos) return true;
  text.remove_prefix(at + 1);
  return take_number(text, into.offset) && text.empty();
}

unsigned number_in(const machine_unit& u, layer of) noexcept {
  switch (of) {
    case layer::socket: return u.package;
    case layer::numa: return static_cast<unsigned>(u.numa);
    case layer::core: return u.core;
    case layer::thread: break;
  }
  return static_cast<unsigned>(u.number);
}

}  // namespace

bool parse_subset(std::string_view given, machine_subset& into) {
  std::string text;
  for (const char c : given)
    if (std::isspace(static_cast<unsigned char>(c)) == 0)
      text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  std::string_view rest = text;
  machine_subset read;
  read.absolute = rest.starts_with(':');
  if (read.absolute) rest.remove_prefix(1);
  for (;;) {
    const std::size_t end = rest.find(',');
    machine_subset::part p{};
    if (!parse_part(rest.substr(0, end), p)) return false;
    for (const machine_subset::part& other : read.parts)
      if (other.what == p.what) return false;
    read.parts.push_back(p);
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 1);
  }
  std::sort(read.parts.begin(), read.parts.end(), [](const auto& a, const auto& b) { return a.what < b.what; });
  into = std::move(read);
  return true;
}

std::string text_of(const machine_subset& of) {
  std::string text = of.absolute ? ":" : "";
  for (const machine_subset::part& p : of.parts) {
    if (text.size() > (of.absolute ? 1u : 0u)) text += ',';
    text += p.count > 0 ? std::to_string(p.count) : "*";
    text += letters[static_cast<std::size_t>(p.what)];
    if (p.offset > 0) text += '@' + std::to_string(p.offset);
  }
  return text;
}

machine_units units_in(const machine_subset& subset, const machine_units& machine) {
  if (subset.parts.empty()) return machine;
  // The layers that are counted; all units of a layer that was not named.
  std::vector<machine_subset::part> layers;
  for (const layer l : all_layers) {
    const auto named =
        std::find_if(subset.parts.begin(), subset.parts.end(), [l](const auto& p) { return p.what == l; });
    if (named != subset.parts.end()) layers.push_back(*named);
    else if (!subset.absolute && l != layer::numa) layers.push_back({l, 0, 0});
  }
  machine_units left = machine;
  for (std::size_t depth = 0; depth < layers.size(); ++depth) {
    const machine_subset::part& p = layers[depth];
    machine_units kept;
    // the group that encloses a unit, and the parts of this layer in each group
    std::vector<std::vector<unsigned>> groups, seen;
    for (const machine_unit& u : left) {
      std::vector<unsigned> group;
      for (std::size_t outer = 0; outer < depth; ++outer) group.push_back(number_in(u, layers[outer].what));
      const auto at = static_cast<std::size_t>(std::find(groups.begin(), groups.end(), group) - groups.begin());
      if (at == groups.size()) {
        groups.push_back(group);
        seen.emplace_back();
      }
      const unsigned own = number_in(u, p.what);
      const auto ordinal = static_cast<int>(std::find(seen[at].begin(), seen[at].end(), own) - seen[at].begin());
      if (static_cast<std::size_t>(ordinal) == seen[at].size()) seen[at].push_back(own);
      if (ordinal >= p.offset && (p.count == 0 || ordinal < p.offset + p.count)) kept.push_back(u);
    }
    const std::size_t least = static_cast<std::size_t>(p.offset) + static_cast<std::size_t>(std::max(p.count, 1));
    if (std::none_of(seen.begin(), seen.end(), [&](const auto& s) { return s.size() >= least; })) return {};
    left = std::move(kept);
  }
  return left;
}

}  // namespace heddle::omp
