#include "cli/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

namespace heddle::cli {

namespace {

constexpr std::chrono::milliseconds least_gap{100};
constexpr std::size_t bar_width = 24;

std::size_t columns(int descriptor) {
  winsize size{};
  return ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col - 1u : 79u;
}

void write_all(int descriptor, const std::string& text) {
  // A progress line that cannot be written is not worth an error.
  if (::write(descriptor, text.data(), text.size()) < 0) return;
}

}  // namespace

progress::progress(std::string_view label, std::size_t total)
    : progress(label, total, STDERR_FILENO, isatty(STDERR_FILENO) != 0) {}

progress::progress(std::string_view label, std::size_t total, int descriptor, bool draw)
    : label_(label), total_(total), descriptor_(descriptor), draws_(draw), start_(std::chrono::steady_clock::now()) {}

progress::~progress() { clear(); }

void progress::advance(std::size_t steps, std::string_view what) {
  done_ = total_ == 0 ? done_ + steps : std::min(total_, done_ + steps);
  if (!draws_) return;
  const bool renamed = !what.empty() && what != what_;
  if (!what.empty()) what_ = what;
  const auto now = std::chrono::steady_clock::now();
  // A new step is shown at once, because it may be the one that takes long.
  if (!renamed && drawn_ && now - last_ < least_gap) return;
  last_ = now;
  draw();
}

void progress::clear() {
  if (!drawn_) return;
  write_all(descriptor_, "\r\033[K");
  drawn_ = false;
}

void progress::draw() {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(last_ - start_).count();
  std::string line = label_;
  if (total_ == 0) {
    line += fmt::format(" {}", done_);
  } else {
    const std::size_t filled = bar_width * done_ / total_;
    line += fmt::format(" [{}{}] {}/{}", std::string(filled, '#'), std::string(bar_width - filled, '.'), done_, total_);
  }
  line += fmt::format(" {}:{:02}", seconds / 60, seconds % 60);
  if (!what_.empty()) line += " " + what_;
  // A line that wraps could not be erased.
  line.resize(std::min(line.size(), columns(descriptor_)));
  write_all(descriptor_, "\r" + line + "\033[K");
  drawn_ = true;
}

}  // namespace heddle::cli
