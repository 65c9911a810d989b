#include "cli/paper/notebook.hpp"

#include <fstream>
#include <stdexcept>

#include "base/replace_file.hpp"

namespace heddle::cli::paper {

using nlohmann::json;

notebook::notebook(std::string file) : file_(std::move(file)) {
  std::ifstream stream(file_);
  if (file_.empty() || !stream) return;
  const std::string text((std::istreambuf_iterator<char>(stream)), {});
  std::size_t whole = 0;
  for (std::size_t end; (end = text.find('\n', whole)) != std::string::npos; whole = end + 1) {
    json entry = json::parse(text.begin() + static_cast<std::ptrdiff_t>(whole),
                             text.begin() + static_cast<std::ptrdiff_t>(end), nullptr, false);
    if (!entry.is_object() || !entry.contains("key")) throw std::runtime_error(file_ + ": not a notebook of runs");
    const std::string key = entry.at("key");  // copied before the entry is moved from
    entries_[key] = std::move(entry);
  }
  if (whole != text.size()) base::replace_file(file_, text.substr(0, whole));
}

const json* notebook::find(const std::string& key) const {
  const auto found = entries_.find(key);
  return found == entries_.end() ? nullptr : &found->second;
}

void notebook::add(const std::string& key, json entry) {
  entry["key"] = key;
  if (!file_.empty()) {
    std::ofstream stream(file_, std::ios::app);
    stream << entry.dump() + "\n" << std::flush;
    if (!stream) throw std::runtime_error(file_ + ": cannot be written");
  }
  entries_[key] = std::move(entry);
}

}  // namespace heddle::cli::paper
