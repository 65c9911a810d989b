#include "cli/paper/process.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <sstream>

namespace heddle::cli::paper {

std::vector<std::string> words_of(std::string_view command) {
  std::istringstream stream{std::string(command)};
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(std::move(word));
  return words;
}

process::ended run_here(const std::vector<std::string>& words, const std::string& trace) {
  const auto before = [&trace] {
    if (trace.empty()) ::unsetenv("HEDDLE_TRACE");
    else ::setenv("HEDDLE_TRACE", trace.c_str(), 1);
  };
  return process::run(words, {.output = process::stream::dropped, .errors = process::stream::kept, .before = before});
}

std::string last_line(const std::string& errors, int status) {
  const std::size_t end = errors.find_last_not_of("\n ");
  if (end == std::string::npos) return fmt::format("the program ended with status {}", status);
  const std::size_t newline = errors.find_last_of('\n', end);
  const std::size_t begin = newline == std::string::npos ? 0 : newline + 1;
  std::string line = errors.substr(begin, end - begin + 1);
  for (const char* said : {"heddle bench: ", "heddle demo: "}) {
    if (line.starts_with(said)) return line.substr(std::string_view(said).size());
  }
  return line;
}

}  // namespace heddle::cli::paper
