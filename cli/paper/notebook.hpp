// The runs that were made already, one line of JSON for each in a file, so that a command that was killed can go on.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>

namespace heddle::cli::paper {

class notebook {
 public:
  // With `file` "" nothing is kept beyond this object. The contents of the file are read; a line that was being written
  // when its writer was killed is removed. Throws std::runtime_error if the file cannot be read or is no notebook.
  explicit notebook(std::string file);

  // Returns nullptr if it was never run.
  [[nodiscard]] const nlohmann::json* find(const std::string& key) const;
  // Writes the entry at once. Throws std::runtime_error.
  void add(const std::string& key, nlohmann::json entry);

 private:
  std::string file_;
  std::map<std::string, nlohmann::json> entries_;
};

}  // namespace heddle::cli::paper
