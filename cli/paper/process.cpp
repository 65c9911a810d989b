#include "cli/paper/process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <system_error>

#include "cli/child.hpp"

namespace heddle::cli::paper {

std::string own_command() {
  // Once: a build that replaces the file meanwhile would make it "... (deleted)".
  static const std::string path = std::filesystem::read_symlink("/proc/self/exe").string();
  return path;
}

std::vector<std::string> words_of(std::string_view command) {
  std::istringstream stream{std::string(command)};
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(std::move(word));
  return words;
}

ended run_here(const std::vector<std::string>& words, const std::string& trace) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  std::fflush(nullptr);
  std::optional<child_process> child;
  try {
    child.emplace(words[0], [&] {
      if (trace.empty()) ::unsetenv("HEDDLE_TRACE");
      else ::setenv("HEDDLE_TRACE", trace.c_str(), 1);
      const int nowhere = ::open("/dev/null", O_WRONLY);
      ::dup2(nowhere, STDOUT_FILENO);
      ::close(nowhere);
      ::dup2(ends[1], STDERR_FILENO);
      ::execv(argv[0], argv.data());
    });
  } catch (...) {
    ::close(ends[0]);
    ::close(ends[1]);
    throw;
  }
  ::close(ends[1]);
  ended result;
  std::array<char, 4096> block;
  for (ssize_t got = 0; (got = ::read(ends[0], block.data(), block.size())) > 0 || (got < 0 && errno == EINTR);) {
    if (got > 0) result.errors.append(block.data(), static_cast<std::size_t>(got));
  }
  ::close(ends[0]);
  result.status = exit_status(child->wait());
  return result;
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
