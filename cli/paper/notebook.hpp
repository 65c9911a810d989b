// What was run already, one line of JSON a run in a file: whoever was killed goes on where he was.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>

namespace heddle::cli::paper {

class notebook {
 public:
  // `file`: "": nothing is kept beyond this object. What the file has is read; a line that was being written when its
  // writer was killed is taken out. Throws std::runtime_error: it cannot be read or is no notebook.
  explicit notebook(std::string file);

  // nullptr: never run.
  [[nodiscard]] const nlohmann::json* find(const std::string& key) const;
  // Written at once. Throws std::runtime_error.
  void add(const std::string& key, nlohmann::json entry);

 private:
  std::string file_;
  std::map<std::string, nlohmann::json> entries_;
};

}  // namespace heddle::cli::paper
