// The origin of each figure of a machine, from the table [origin] of its file.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "machine/model/assembler.hpp"

namespace heddle::machine {

namespace {

// Returns the value at a path like "cache.l3.latency". In a list of tables it is the value of the first table that has
// it.
const file_node* value_at(const file_node& from, std::string_view path) {
  if (from.is == file_node::type::list) {
    for (const file_node& item : from.items) {
      if (const file_node* found = value_at(item, path)) return found;
    }
    return nullptr;
  }
  const std::size_t dot = std::min(path.find('.'), path.size());
  const file_node* at = from.is == file_node::type::table ? from.find(path.substr(0, dot)) : nullptr;
  return at == nullptr || dot == path.size() ? at : value_at(*at, path.substr(dot + 1));
}

bool is_number(const file_node& value) {
  return value.is == file_node::type::integer || value.is == file_node::type::real;
}

// Reads "WORD: WHY" or "assumed LEAST to MOST: WHY".
void read_origin(const file_node& text, const std::string& key, figure& made) {
  const auto wrong = [&](std::string_view why) {
    refuse(text, key,
           fmt::format("{}; expected \"measured: HOW\", \"cited: WHERE\", \"assumed: WHY\", or \"assumed LEAST to "
                       "MOST: WHY\"",
                       why));
  };
  if (text.is != file_node::type::text) wrong("is no text");
  const std::string_view all = text.text;
  const std::size_t colon = all.find(':');
  if (colon == std::string_view::npos) wrong(fmt::format("\"{}\"", all));
  std::string head(all.substr(0, colon));
  made.why = all.substr(std::min(all.find_first_not_of(' ', colon + 1), all.size()));
  if (made.why.empty()) wrong("says no reason");
  if (head == "measured") {
    made.from = figure::origin::measured;
  } else if (head == "cited") {
    made.from = figure::origin::cited;
  } else if (head.starts_with("assumed")) {
    made.from = figure::origin::assumed;
    const char* at = head.c_str() + std::string_view("assumed").size();
    if (*at == '\0') return;
    char* end = nullptr;
    made.least = std::strtod(at, &end);
    if (end == at || std::string_view(end).substr(0, 4) != " to ") wrong(fmt::format("\"{}\"", head));
    at = end + 4;
    made.most = std::strtod(at, &end);
    if (end == at || *end != '\0') wrong(fmt::format("\"{}\"", head));
    if (made.least > made.value || made.value > made.most)
      wrong(fmt::format("{} does not lie between {} and {}", made.value, made.least, made.most));
  } else {
    wrong(fmt::format("\"{}\"", head));
  }
}

}  // namespace

std::vector<std::string> assembler::keys_of_figures() const {
  std::vector<std::string> keys = {"frequency", "overlap", "window", "time_slice", "core.speed"};
  const auto all_of = [&](const std::string& table, std::initializer_list<const char*> names) {
    for (const char* key : names) keys.push_back(table + "." + key);
  };
  for (const cache_level& level : made_.caches)
    all_of(fmt::format("cache.{}", name(level.kind)), {"latency", "transfer", "upgrade"});
  for (const char* table : {"memory", "node"}) all_of(table, {"latency", "bandwidth", "transfer", "upgrade"});
  if (made_.nodes.size() > 1) {
    for (const char* table : {"links", "link"}) all_of(table, {"latency", "bandwidth", "transfer", "upgrade"});
  }
  for (const cost_key& cost : cost_keys()) keys.push_back(fmt::format("costs.{}", cost.name));
  return keys;
}

// An origin in one file does not hold for a figure in another file, unless that file is below it.
void assembler::tell_figures() {
  const file_node* origins = top_.table("origin");
  for (const std::string& key : keys_of_figures()) {
    const file_node* value = value_at(file_, key);
    if (value == nullptr || !is_number(*value)) continue;
    figure made{.key = key, .value = value->number, .why = {}};
    const file_node* said = origins == nullptr ? nullptr : value_at(*origins, key);
    const bool below = said != nullptr && (said->inherited || said->assumed);
    if (said != nullptr && (said->file == value->file || !below)) {
      read_origin(*said, "origin." + key, made);
      if (made.from == figure::origin::assumed && !said->assumed) {
        made_.assumed.push_back(made.least == made.most
                                    ? fmt::format("{}: {}", key, made.why)
                                    : fmt::format("{}: {}; {} to {}", key, made.why, made.least, made.most));
      }
    }
    made_.figures.push_back(std::move(made));
  }
  made_.figures.insert(made_.figures.end(), derived_figures_.begin(), derived_figures_.end());
  std::sort(made_.figures.begin(), made_.figures.end(), [](const figure& a, const figure& b) { return a.key < b.key; });
  if (origins != nullptr) check_origins(*origins, "");
}

void assembler::check_origins(const file_node& table, const std::string& path) const {
  for (const auto& [key, value] : table.fields) {
    const std::string full = path.empty() ? key : path + "." + key;
    if (value.is == file_node::type::table) {
      check_origins(value, full);
    } else if (!value.inherited && !value.assumed &&
               std::none_of(made_.figures.begin(), made_.figures.end(),
                            [&](const figure& f) { return f.key == full; })) {
      refuse(value, "origin." + full, "the file has no such figure");
    }
  }
}

}  // namespace heddle::machine
