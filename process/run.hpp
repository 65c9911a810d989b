// Runs a program to its end, with the choice of its streams and a time limit, and reports how it ended.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "process/child.hpp"

namespace heddle::process {

enum class stream : std::uint8_t {
  shared,   // those of this process
  dropped,  // nowhere
  kept      // in ended::output
};

struct setting {
  std::string file{};    // the file to execute if it is not the first word
  bool searched{false};  // true if the file is looked for in PATH, as a shell does
  stream output{stream::shared};
  stream errors{stream::shared};
  std::chrono::seconds limit{0};  // the time after which it is killed; 0 means never
  // Called in the child before it becomes the program, for its environment.
  std::function<void()> before{};
};

struct ended {
  int status{0};       // the exit status, or 128 + the signal's number if it died of one
  int signal{0};       // that signal; 0 if it died of none
  bool late{false};    // true if it was killed at the limit
  std::string output;  // the text of the streams that are kept, in the order in which it was written
};

namespace detail {

class pipe_ends {
 public:
  pipe_ends() {
    if (::pipe2(ends_.data(), O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  }
  ~pipe_ends() {
    close_write();
    ::close(ends_[0]);
  }
  pipe_ends(const pipe_ends&) = delete;
  pipe_ends& operator=(const pipe_ends&) = delete;

  [[nodiscard]] int read_end() const noexcept { return ends_[0]; }
  [[nodiscard]] int write_end() const noexcept { return ends_[1]; }
  void close_write() noexcept {
    if (const int end = std::exchange(ends_[1], -1); end >= 0) ::close(end);
  }

 private:
  std::array<int, 2> ends_{};
};

inline void lead(int from, stream where, int kept) {
  if (where == stream::kept) ::dup2(kept, from);
  if (where != stream::dropped) return;
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  ::dup2(nowhere, from);
}

using moment = std::chrono::steady_clock::time_point;

// Reads all that is written before the other end is closed everywhere. Returns false if the time is over.
inline bool read_all(int descriptor, const std::optional<moment>& end, std::string& into) {
  std::array<char, 4096> block;
  for (;;) {
    int wait_ms = -1;
    if (end) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(*end - std::chrono::steady_clock::now());
      if (left.count() <= 0) return false;
      wait_ms = static_cast<int>(left.count());
    }
    pollfd readable{descriptor, POLLIN, 0};
    const int ready = ::poll(&readable, 1, wait_ms);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return false;
    const ssize_t got = ::read(descriptor, block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return true;
    into.append(block.data(), static_cast<std::size_t>(got));
  }
}

// Does the same for the end of the program.
inline bool wait_until(child& of, moment end, int& status) {
  for (std::chrono::microseconds pause{200}; !of.ended(status);
       pause = std::min(2 * pause, std::chrono::microseconds(20'000))) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(pause);
  }
  return true;
}

}  // namespace detail

// `words` are the program's name and its arguments. Its streams that are kept are read until they are closed, also by
// all processes that it has started. If this process is told to end, it ends the program first and throws interrupted.
// Throws std::system_error with the name of a program that cannot be run.
inline ended run(const std::vector<std::string>& words, const setting& how = {}) {
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const std::string& file = how.file.empty() ? words.front() : how.file;
  const bool keeps = how.output == stream::kept || how.errors == stream::kept;
  std::optional<detail::pipe_ends> ends;
  if (keeps) ends.emplace();
  // So the text that was written here comes before the text that the program writes.
  std::fflush(nullptr);
  child started(file, [&] {
    const int kept = keeps ? ends->write_end() : -1;
    detail::lead(STDOUT_FILENO, how.output, kept);
    detail::lead(STDERR_FILENO, how.errors, kept);
    if (how.before) how.before();
    if (how.searched) ::execvp(file.c_str(), argv.data());
    else ::execv(file.c_str(), argv.data());
  });
  std::optional<detail::moment> end;
  if (how.limit.count() != 0) end = std::chrono::steady_clock::now() + how.limit;
  ended result;
  int status = 0;
  bool over = false;
  if (keeps) {
    ends->close_write();
    result.late = !detail::read_all(ends->read_end(), end, result.output);
  } else if (end) {
    over = detail::wait_until(started, *end, status);
    result.late = !over;
  }
  if (result.late) started.kill();
  ends.reset();
  if (!over) status = started.wait();
  result.status = exit_status(status);
  result.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  return result;
}

}  // namespace heddle::process
