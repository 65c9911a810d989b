// This is the only file that uses toml++. The library is header-only, so nothing links it.
#include "machine/model/node.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>
#include <utility>

#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>

namespace heddle::machine {

namespace {

file_node convert(const toml::node& from, const std::string& file) {
  file_node made;
  made.file = file;
  made.line = from.source().begin.line;
  using type = file_node::type;
  if (const toml::table* table = from.as_table()) {
    made.is = type::table;
    for (const auto& [key, value] : *table) made.fields.push_back({std::string(key.str()), convert(value, file)});
  } else if (const toml::array* list = from.as_array()) {
    made.is = type::list;
    for (const toml::node& item : *list) made.items.push_back(convert(item, file));
  } else if (const auto* text = from.as_string()) {
    made.is = type::text;
    made.text = text->get();
  } else if (const auto* whole = from.as_integer()) {
    made.is = type::integer;
    made.whole = whole->get();
    made.number = static_cast<double>(made.whole);
  } else if (const auto* real = from.as_floating_point()) {
    made.is = type::real;
    made.number = real->get();
  } else if (const auto* truth = from.as_boolean()) {
    made.is = type::boolean;
    made.truth = truth->get();
  } else {
    made.is = type::text;  // a date or a time, which no key expects
    std::ostringstream out;
    out << toml::node_view<const toml::node>(from);
    made.text = out.str();
  }
  return made;
}

void mark_inherited(file_node& all) {
  all.inherited = true;
  for (auto& [key, field] : all.fields) mark_inherited(field);
  for (file_node& item : all.items) mark_inherited(item);
}

file_node merged(file_node base, file_node over) {
  if (base.is != file_node::type::table || over.is != file_node::type::table) return over;
  for (auto& [key, field] : base.fields) {
    if (file_node* own = over.find(key)) *own = merged(std::move(field), std::move(*own));
    else over.fields.push_back({key, std::move(field)});
  }
  return over;
}

}  // namespace

const file_node* file_node::find(std::string_view key) const {
  const auto found = std::find_if(fields.begin(), fields.end(), [&](const auto& field) { return field.key == key; });
  return found == fields.end() ? nullptr : &found->value;
}

file_node* file_node::find(std::string_view key) { return const_cast<file_node*>(std::as_const(*this).find(key)); }

void refuse(const file_node& at, std::string_view key, std::string_view why) {
  std::ostringstream text;
  text << at.file << ':' << at.line << ": ";
  if (!key.empty()) text << key << ": ";
  text << why;
  throw std::invalid_argument(text.str());
}

file_node parse_toml(std::string_view text, const std::string& file) {
  try {
    return convert(toml::parse(text, file), file);
  } catch (const toml::parse_error& error) {
    file_node at;
    at.file = file;
    at.line = error.source().begin.line;
    std::string why(error.description());
    std::replace(why.begin(), why.end(), '\n', ' ');
    refuse(at, "", "not TOML: " + why);
  }
}

file_node overlay(file_node base, file_node over) {
  mark_inherited(base);
  return merged(std::move(base), std::move(over));
}

void mark_assumed(file_node& all) {
  all.assumed = true;
  for (auto& [key, field] : all.fields) mark_assumed(field);
  for (file_node& item : all.items) mark_assumed(item);
}

}  // namespace heddle::machine
