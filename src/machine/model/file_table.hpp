// Typed, checked access to one table of a machine file. This header is for src/machine/model only.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "machine/model/node.hpp"

namespace heddle::machine {

enum class range : std::uint8_t { positive, not_negative };

// Every function throws std::invalid_argument (file, line, key, why) for a value of the wrong type or out of range. The
// keys that were asked for are the known ones; finish() refuses all others. A value from the defaults is noted in
// `assumed` when it is read.
class file_table {
 public:
  file_table(const file_node& table, std::string path, std::set<std::string>& assumed);

  const file_node* find(std::string_view key);
  // Declares the key and returns true if it is there.
  bool has(std::string_view key) { return find(key) != nullptr; }
  bool given(std::string_view key);  // there, and not from the defaults

  std::optional<double> number(std::string_view key, range allowed);
  std::optional<std::uint64_t> whole(std::string_view key, std::uint64_t least, std::uint64_t most);
  std::optional<std::uint64_t> bytes(std::string_view key);  // 32768 or "32 KiB"
  std::optional<std::string> text(std::string_view key);
  std::optional<bool> truth(std::string_view key);
  std::vector<std::string> texts(std::string_view key);
  // Returns the items of a list of tables, [[key]] in TOML.
  std::vector<const file_node*> tables(std::string_view key);
  const file_node* table(std::string_view key);

  std::string path_of(std::string_view key) const;
  // Returns the place of the key, or of the table if the key is not there.
  const file_node& place(std::string_view key) const;
  void finish() const;

 private:
  const file_node* noted(std::string_view key);

  const file_node& table_;
  const std::string path_;
  std::set<std::string>& assumed_;
  std::vector<std::string> known_;
};

}  // namespace heddle::machine
