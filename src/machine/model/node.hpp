// A machine file as read: a tree of values with their places in the text. This header is for src/machine/model only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::machine {

struct file_field;

struct file_node {
  enum class type : std::uint8_t { boolean, integer, real, text, list, table };

  type is{type::table};
  std::string file;
  unsigned line{0};
  bool inherited{false};  // true if from the file that `base` names
  bool assumed{false};    // true if from defaults.toml

  bool truth{false};
  double number{0};  // also for an integer
  std::int64_t whole{0};
  std::string text;
  std::vector<file_node> items;
  std::vector<file_field> fields;

  const file_node* find(std::string_view key) const;
  file_node* find(std::string_view key);
};

struct file_field {
  std::string key;
  file_node value;
};

// Throws "FILE:LINE: KEY: WHY" as std::invalid_argument.
[[noreturn]] void refuse(const file_node& at, std::string_view key, std::string_view why);

// Throws std::invalid_argument with file and line if `text` is not TOML.
file_node parse_toml(std::string_view text, const std::string& file);

// Lays `over` on `base`: tables key by key, and anything else replaces the base's value. Remaining values of the base
// are marked as inherited.
file_node overlay(file_node base, file_node over);

void mark_assumed(file_node& all);

}  // namespace heddle::machine
