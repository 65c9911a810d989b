// The figures that a simulated process prints at its end.
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <utility>

#include "platform/platform.hpp"
#include "platform/sim/cpu_watch.hpp"
#include "sim/session.hpp"

namespace heddle::sim {

namespace {

[[gnu::format(printf, 2, 3)]] void add(std::string& text, const char* format, ...) {
  char part[512];
  va_list values;
  va_start(values, format);
  std::vsnprintf(part, sizeof part, format, values);
  va_end(values);
  text += part;
}

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') (result += '\\') += c;
    else if (static_cast<unsigned char>(c) < 0x20) add(result, "\\u%04x", static_cast<unsigned>(c));
    else result += c;
  }
  return result + '"';
}

// The words of the command line, with the program's path cut to its name.
std::string command_line() {
  std::ifstream file("/proc/self/cmdline");
  std::string all((std::istreambuf_iterator<char>(file)), {});
  std::string line = platform::program_name();
  for (std::size_t at = std::min(all.find('\0'), all.size()); at + 1 < all.size();) {
    const std::size_t end = std::min(all.find('\0', at + 1), all.size());
    line += ' ' + all.substr(at + 1, end - at - 1);
    at = end;
  }
  return line;
}

double seconds(picoseconds t) { return static_cast<double>(t) / 1e12; }

using ull = unsigned long long;

}  // namespace

std::string session::figures() {
  const picoseconds end = engine_->now();
  double worker_time = 0;
  const runtime_note* largest = nullptr;
  for (const runtime_note& r : engine_->runtimes()) {
    worker_time += seconds(std::min(r.end, end) - r.start) * r.workers;
    if (largest == nullptr || r.workers > largest->workers) largest = &r;
  }
  double busy = 0, overhead = 0, told = 0;
  for (const auto& s : engine_->strands()) {
    told += seconds(s->spent[static_cast<unsigned>(activity::program)]);
    if (std::strcmp(s->name, "heddle") != 0) continue;  // not a carrier
    busy += seconds(s->spent[static_cast<unsigned>(activity::program)]);
    overhead += seconds(s->spent[static_cast<unsigned>(activity::scheduler)]);
  }
  const double whole = std::max(worker_time, 1e-12);
  const engine_counts& n = engine_->counts();
  timespec t{};
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
  const std::uint64_t real_end =
      static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(t.tv_nsec);

  std::string text = "{\"program\": " + quoted(command_line()) + ", \"machine\": " + quoted(model_.name);
  text += ", \"policy\": " + quoted(largest == nullptr ? "" : largest->policy);
  add(text, ", \"workers\": %u, \"virtual_seconds\": %.12f", largest == nullptr ? 0 : largest->workers,
      seconds(end - engine::origin));
  text += ", \"levels\": [";
  const char* comma = "";
  for (const level_count& l : memory_.levels()) {
    add(text, "%s{\"level\": \"%s\", \"accesses\": %llu, \"misses\": %llu, \"invalidations\": %llu}",
        std::exchange(comma, ", "), machine::name(l.kind), static_cast<ull>(l.accesses), static_cast<ull>(l.misses),
        static_cast<ull>(l.invalidations));
  }
  text += "], \"nodes\": [";
  comma = "";
  for (const node_traffic& node : memory_.nodes()) {
    add(text, "%s{\"node\": %d, \"local_bytes\": %llu, \"remote_bytes\": %llu, \"pages\": %llu}",
        std::exchange(comma, ", "), node.numa, static_cast<ull>(node.local_bytes), static_cast<ull>(node.remote_bytes),
        static_cast<ull>(node.pages));
  }
  add(text, "], \"steals\": %llu, \"failed_steals\": %llu, \"migrations\": %llu, \"forks\": %llu, \"wakes\": %llu",
      static_cast<ull>(n.steals), static_cast<ull>(n.failed_steals), static_cast<ull>(n.migrations),
      static_cast<ull>(n.forks), static_cast<ull>(n.wakes));
  add(text, ", \"busy\": %.6f, \"idle\": %.6f, \"overhead\": %.6f", busy / whole,
      std::max(0.0, 1 - (busy + overhead) / whole), overhead / whole);
  const auto cpu = [](std::uint64_t beats) { return static_cast<double>(beats) / watch_beats_a_second; };
  add(text, ", \"program_seconds\": %.12f, \"program_cpu_seconds\": %.2f, \"untold_cpu_seconds\": %.2f", told,
      cpu(engine_->progress().program_beats()), cpu(engine_->progress().untold_beats()));
  if (reuse_ != nullptr) text += ", \"reuse\": " + reuse_->json();
  add(text, ", \"charged\": \"%s\", \"events\": %llu, \"real_seconds\": %.6f}\n",
      engine_->costs().are_measured() ? "measured" : "annotations", static_cast<ull>(n.events),
      static_cast<double>(real_end - real_start_) / 1e9);
  return text;
}

// Uses one write, so that lines of several processes do not mix.
void session::append(const std::string& line) noexcept {
  if (options_.statistics.empty()) return;
  const int file = ::open(options_.statistics.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  const bool written = file >= 0 && ::write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  if (!written) std::fprintf(stderr, "heddle: sim: %s: %s\n", options_.statistics.c_str(), std::strerror(errno));
  if (file >= 0) ::close(file);
}

void session::save() noexcept {
  if (options_.statistics.empty() || engine_->runtimes().empty()) return;
  try {
    append(figures());
  } catch (const std::exception& e) {
    std::fprintf(stderr, "heddle: sim: no figures: %s\n", e.what());
  }
}

}  // namespace heddle::sim
