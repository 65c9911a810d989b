// The benchmark executables: their places, their kernels, and their output.
#pragma once

#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <vector>

#include "process/beside.hpp"
#include "process/run.hpp"

namespace heddle::bench {

// Runs a program to its end with its standard output kept. Throws std::system_error if it cannot be started.
inline process::ended run_program(const std::string& path, const std::vector<std::string>& arguments,
                                  std::chrono::seconds limit) {
  std::vector<std::string> words{path};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return process::run(words, {.output = process::stream::kept, .limit = limit});
}

struct kernel_size {
  std::size_t n = 0;
  std::size_t most = 0;

  // Returns the size that this runtime is run with when `asked` is requested (0 if no size is requested).
  [[nodiscard]] std::size_t chosen(std::size_t asked) const {
    return asked == 0 ? n : most != 0 && asked > most ? most : asked;
  }
};

struct program {
  std::string runtime;
  std::string path;
  std::string compiler;
  std::string flags;
  std::map<std::string, kernel_size> kernels;
};

struct metric_line {
  std::string metric;
  std::string unit;
  std::vector<double> samples;
  std::string checksum;
};

inline std::vector<nlohmann::json> json_lines(const std::string& text) {
  std::vector<nlohmann::json> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (end > at) lines.push_back(nlohmann::json::parse(text.substr(at, end - at)));
    at = end + 1;
  }
  return lines;
}

// Throws nlohmann::json::exception for a line that is not of the protocol.
inline std::vector<metric_line> parse_metrics(const std::string& output) {
  std::vector<metric_line> metrics;
  for (const auto& line : json_lines(output)) {
    if (line.contains("refused")) continue;
    metrics.push_back(
        {line.at("metric"), line.at("unit"), line.at("samples").get<std::vector<double>>(), line.at("checksum")});
  }
  return metrics;
}

// Returns a kernel's message about an argument that it does not have, or "" if there is none: exit status `refused`. (3
// means that the runtime lacks the kernel, and 4 a simulated run that stalls.)
inline constexpr int refused = 5;
inline std::string parse_refusal(const std::string& output) {
  for (const auto& line : json_lines(output)) {
    if (line.contains("refused")) return line.at("refused");
  }
  return "";
}

// Parses the output of `--list`.
inline program parse_list(const std::string& path, const std::string& output) {
  program p;
  p.path = path;
  for (const auto& line : json_lines(output)) {
    if (line.contains("runtime")) {
      p.runtime = line.at("runtime");
      p.compiler = line.at("compiler");
      p.flags = line.at("flags");
    } else {
      p.kernels[line.at("kernel")] = {line.at("n"), line.at("most")};
    }
  }
  return p;
}

// Returns HEDDLE_BENCH_DIR and the folders beside the command.
inline std::vector<std::filesystem::path> program_folders() {
  std::vector<std::filesystem::path> folders = process::folders_beside();
  if (const char* const chosen = std::getenv("HEDDLE_BENCH_DIR")) folders.emplace(folders.begin(), chosen);
  return folders;
}

// Returns all heddle-bench-* of the first folder that has any, by runtime. A program that does not answer --list is
// left out. heddle's own program exists twice: linked statically, to be measured, and over the shared library, to be
// simulated.
inline std::map<std::string, program> find_programs(const std::vector<std::filesystem::path>& folders,
                                                    bool simulated = false) {
  std::map<std::string, program> found;
  for (const auto& folder : folders) {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
      const auto name = entry.path().filename().string();
      if (!name.starts_with("heddle-bench-") || !entry.is_regular_file(error) ||
          access(entry.path().c_str(), X_OK) != 0)
        continue;
      if (name == (simulated ? "heddle-bench-heddle" : "heddle-bench-heddle-shared")) continue;
      try {
        const process::ended listed = run_program(entry.path().string(), {"--list"}, std::chrono::seconds(20));
        if (listed.status != 0) continue;
        program p = parse_list(entry.path().string(), listed.output);
        if (!p.runtime.empty()) found[p.runtime] = std::move(p);
      } catch (const std::exception&) {
        continue;
      }
    }
    if (!found.empty()) break;
  }
  return found;
}

}  // namespace heddle::bench
