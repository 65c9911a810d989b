// A line of progress for long runs: drawn on stderr, and only if that is a terminal.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

namespace heddle::cli {

// One kernel thread uses it. The destructor erases the line, so that later output stands alone. It draws at most ten
// times a second, so advance() may be called as often as needed.
class progress {
 public:
  // `total` is the number of all steps. 0 means unknown, and then only a count is shown.
  progress(std::string_view label, std::size_t total);
  // For tests and other streams: draws on `descriptor` if `draw` is true.
  progress(std::string_view label, std::size_t total, int descriptor, bool draw);
  ~progress();
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;

  // `what` is shown behind the bar: the name of the step that begins.
  void advance(std::size_t steps = 1, std::string_view what = {});

  // Removes the line until the next advance, so that something else can be printed.
  void clear();

 private:
  void draw();

  std::string label_;
  std::string what_;
  std::size_t total_;
  std::size_t done_{0};
  int descriptor_;
  bool draws_;
  bool drawn_{false};
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point last_{};
};

}  // namespace heddle::cli
