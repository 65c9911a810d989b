#include "machine/model/file_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

#include "base/nearest.hpp"

namespace heddle::machine {

namespace {

using type = file_node::type;

std::string shown(const file_node& value) {
  switch (value.is) {
    case type::boolean: return value.truth ? "true" : "false";
    case type::integer: return fmt::format("{}", value.whole);
    case type::real: return fmt::format("{}", value.number);
    case type::text: return fmt::format("\"{}\"", value.text);
    case type::list: return "a list";
    case type::table: return "a table";
  }
  return "";
}

[[noreturn]] void refuse_value(const file_node& value, const std::string& key, std::string_view expected) {
  refuse(value, key, fmt::format("is {}; expected {}", shown(value), expected));
}

std::optional<std::uint64_t> parsed_bytes(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  std::string unit;
  for (const char c : text.substr(static_cast<std::size_t>(end - text.data()))) {
    if (c != ' ') unit += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  constexpr std::string_view units[] = {"b", "kib", "mib", "gib", "tib"};
  const auto found = std::find(std::begin(units), std::end(units), unit.empty() ? "b" : unit);
  if (found == std::end(units)) return std::nullopt;
  const auto shift = 10 * (found - std::begin(units));
  return number > (~std::uint64_t{0} >> shift) ? std::nullopt : std::optional(number << shift);
}

}  // namespace

file_table::file_table(const file_node& table, std::string path, std::set<std::string>& assumed)
    : table_(table), path_(std::move(path)), assumed_(assumed) {
  if (table.is != type::table) refuse_value(table, path_, fmt::format("a table, [{}]", path_));
}

std::string file_table::path_of(std::string_view key) const {
  return path_.empty() ? std::string(key) : path_ + "." + std::string(key);
}

const file_node& file_table::place(std::string_view key) const {
  const file_node* value = table_.find(key);
  return value != nullptr ? *value : table_;
}

const file_node* file_table::find(std::string_view key) {
  if (std::find(known_.begin(), known_.end(), key) == known_.end()) known_.emplace_back(key);
  return table_.find(key);
}

bool file_table::given(std::string_view key) {
  const file_node* value = find(key);
  return value != nullptr && !value->assumed;
}

const file_node* file_table::noted(std::string_view key) {
  const file_node* value = find(key);
  if (value != nullptr && value->assumed) assumed_.insert(path_of(key));
  return value;
}

std::optional<double> file_table::number(std::string_view key, range allowed) {
  const file_node* value = noted(key);
  if (value == nullptr) return std::nullopt;
  const char* expected = allowed == range::positive ? "a number above 0" : "a number, 0 or above";
  if (value->is != type::integer && value->is != type::real) refuse_value(*value, path_of(key), expected);
  const bool inside = allowed == range::positive ? value->number > 0 : value->number >= 0;
  if (!std::isfinite(value->number) || !inside) refuse_value(*value, path_of(key), expected);
  // Beyond these bounds no simulation would end, or its time would not be exact. They hold for ns, GHz, GB/s and
  // shares.
  constexpr double least = 1e-6, most = 1e12;
  if (value->number != 0 && (value->number < least || value->number > most))
    refuse_value(*value, path_of(key), "a number from 0.000001 to 1,000,000,000,000");
  return value->number;
}

std::optional<std::uint64_t> file_table::whole(std::string_view key, std::uint64_t least, std::uint64_t most) {
  const file_node* value = noted(key);
  if (value == nullptr) return std::nullopt;
  if (value->is != type::integer || value->whole < 0 || static_cast<std::uint64_t>(value->whole) < least ||
      static_cast<std::uint64_t>(value->whole) > most) {
    refuse_value(*value, path_of(key), fmt::format("an integer from {} to {}", least, most));
  }
  return static_cast<std::uint64_t>(value->whole);
}

std::optional<std::uint64_t> file_table::bytes(std::string_view key) {
  const file_node* value = noted(key);
  if (value == nullptr) return std::nullopt;
  std::optional<std::uint64_t> number;
  if (value->is == type::integer && value->whole > 0) number = static_cast<std::uint64_t>(value->whole);
  if (value->is == type::text) number = parsed_bytes(value->text);
  if (!number || *number == 0)
    refuse_value(*value, path_of(key), "bytes above 0, a number or text like \"32 KiB\" (B, KiB, MiB, GiB, TiB)");
  return number;
}

std::optional<std::string> file_table::text(std::string_view key) {
  const file_node* value = noted(key);
  if (value == nullptr) return std::nullopt;
  if (value->is != type::text || value->text.empty()) refuse_value(*value, path_of(key), "text in quotation marks");
  return value->text;
}

std::optional<bool> file_table::truth(std::string_view key) {
  const file_node* value = noted(key);
  if (value == nullptr) return std::nullopt;
  if (value->is != type::boolean) refuse_value(*value, path_of(key), "true or false");
  return value->truth;
}

std::vector<std::string> file_table::texts(std::string_view key) {
  const file_node* value = find(key);
  if (value == nullptr) return {};
  std::vector<std::string> all;
  if (value->is != type::list) refuse_value(*value, path_of(key), "a list of texts, [\"...\", \"...\"]");
  for (const file_node& item : value->items) {
    if (item.is != type::text) refuse_value(item, path_of(key), "a list of texts, [\"...\", \"...\"]");
    all.push_back(item.text);
  }
  return all;
}

std::vector<const file_node*> file_table::tables(std::string_view key) {
  const file_node* value = find(key);
  if (value == nullptr) return {};
  std::vector<const file_node*> all;
  if (value->is != type::list)
    refuse_value(*value, path_of(key), fmt::format("tables, each headed [[{}]]", path_of(key)));
  for (const file_node& item : value->items) {
    if (item.is != type::table)
      refuse_value(item, path_of(key), fmt::format("tables, each headed [[{}]]", path_of(key)));
    all.push_back(&item);
  }
  return all;
}

const file_node* file_table::table(std::string_view key) {
  const file_node* value = find(key);
  if (value != nullptr && value->is != type::table)
    refuse_value(*value, path_of(key), fmt::format("a table, [{}]", path_of(key)));
  return value;
}

void file_table::finish() const {
  for (const auto& [key, value] : table_.fields) {
    if (std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
    std::string hint = base::did_you_mean(key, known_);
    if (hint.empty()) hint = "; known here: " + base::alternatives(known_);
    refuse(value, path_of(key), "unknown key" + hint);
  }
}

}  // namespace heddle::machine
