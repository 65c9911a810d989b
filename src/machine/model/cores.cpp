// The kinds of core, and the units of each kind.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "machine/model/assembler.hpp"

namespace heddle::machine {

void assembler::read_cores() {
  const auto kinds = top_.tables("core");
  if (kinds.empty()) {
    // These come from hwloc, which numbers kinds from the least efficient.
    made_.kinds.resize(made_.tree.kinds_of_core());
    for (std::size_t i = 0; i < made_.kinds.size(); ++i)
      made_.kinds[i].name = made_.kinds.size() == 1 ? "core" : fmt::format("kind {}", i);
    for (const processing_unit& u : made_.tree.units()) made_.kinds[u.kind].speed = u.speed;
    return;
  }
  std::vector<described_kind> entries;
  double best = 0;
  for (const file_node* table : kinds) {
    file_table core(*table, "core", assumed_);
    described_kind e;
    e.rest = !core.has("units");
    e.at = table;
    e.kind.name = core.text("name").value_or(fmt::format("kind {}", entries.size()));
    e.kind.speed = core.number("speed", range::positive).value_or(1);
    if (e.kind.speed > 1)
      refuse(core.place("speed"), "core.speed",
             fmt::format("is {}; speeds are relative to the fastest kind, 1 at most", e.kind.speed));
    if (!e.rest) e.units = units_in(core);
    best = std::max(best, e.kind.speed);
    core.finish();
    entries.push_back(std::move(e));
  }
  if (best != 1)
    refuse(*kinds.front(), "core.speed", fmt::format("the fastest kind has speed {}; divide all speeds by it", best));
  if (std::count_if(entries.begin(), entries.end(), [](const described_kind& e) { return e.rest; }) > 1) {
    refuse(*entries.back().at, "core.units",
           "only one kind can be without `units`, which makes it the kind of all other units");
  }
  std::sort(entries.begin(), entries.end(), [](const described_kind& a, const described_kind& b) {
    return a.kind.speed != b.kind.speed ? a.kind.speed < b.kind.speed : a.at->line < b.at->line;
  });
  place_kinds(entries);
}

void assembler::place_kinds(const std::vector<described_kind>& entries) {
  std::vector<unsigned> kind_of;
  std::vector<double> speeds;
  for (const described_kind& e : entries) {
    made_.kinds.push_back(e.kind);
    speeds.push_back(e.kind.speed);
  }
  for (const processing_unit& u : made_.tree.units()) {
    int found = -1, rest = -1;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (entries[i].rest) rest = static_cast<int>(i);
      if (!entries[i].units.contains(u.number)) continue;
      if (found >= 0) refuse(*entries[i].at, "core.units", fmt::format("unit {} belongs to two kinds", u.number));
      found = static_cast<int>(i);
    }
    if (found < 0) found = rest;
    if (found < 0)
      refuse(*entries.front().at, "core.units",
             fmt::format("unit {} belongs to no kind; leave `units` out of one", u.number));
    kind_of.push_back(static_cast<unsigned>(found));
  }
  made_.tree = made_.tree.with_kinds(kind_of, speeds);
}

// Reads a list of units like "0-3,8".
std::set<int> assembler::units_in(file_table& core) {
  const std::string text = *core.text("units");
  std::set<int> units;
  const auto wrong = [&](std::string_view why) {
    refuse(core.place("units"), "core.units", fmt::format("\"{}\": {}", text, why));
  };
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string part = text.substr(at, end - at);
    int first = -1, last = -1, length = 0;
    if (std::sscanf(part.c_str(), "%d-%d%n", &first, &last, &length) < 2 ||
        static_cast<std::size_t>(length) != part.size()) {
      length = 0;
      if (std::sscanf(part.c_str(), "%d%n", &first, &length) < 1 || static_cast<std::size_t>(length) != part.size())
        wrong("expected a list like \"0-3,8\"");
      last = first;
    }
    if (first < 0 || last < first) wrong("expected a list like \"0-3,8\"");
    for (int number = first; number <= last; ++number) {
      if (made_.tree.unit(number) == nullptr) wrong(fmt::format("the machine has no unit {}", number));
      units.insert(number);
    }
    at = end + 1;
  }
  return units;
}

}  // namespace heddle::machine
