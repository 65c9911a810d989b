#include "cli/paper/build.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>
#include <vector>

#include "cli/paper/process.hpp"
#include "cli/sim/process.hpp"
#include "process/beside.hpp"
#include "process/run.hpp"

namespace heddle::cli::paper {
namespace {

// FNV-1a, 64 bits.
std::uint64_t of_file(const std::string& file) {
  static std::map<std::string, std::uint64_t> known;  // used by one kernel thread
  const auto [entry, fresh] = known.try_emplace(file, 0xcbf29ce484222325u);
  if (!fresh) return entry->second;
  std::ifstream stream(file, std::ios::binary);
  for (char block[1 << 16]; stream.read(block, sizeof block) || stream.gcount() > 0;) {
    for (std::streamsize i = 0; i < stream.gcount(); ++i)
      entry->second = (entry->second ^ static_cast<unsigned char>(block[i])) * 0x100000001b3u;
  }
  return entry->second;
}

// Returns the programs that `heddle bench` and `heddle demo` start for heddle, or the program itself.
std::vector<std::string> programs_of(const std::string& command) {
  const std::vector<std::string> words = words_of(command);
  const std::string name = words.empty() ? "" : words.front();
  if (name == "bench") return {"bench-heddle", "bench-heddle-shared"};
  if (name == "demo") return {"tree-heddle", "tree-heddle-shared"};
  return {name};
}

std::string asked_of_git() {
  const std::string folder = std::filesystem::path(process::own_program()).parent_path().string();
  try {
    const process::ended told =
        process::run({"git", "-C", folder, "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"},
                     {.searched = true, .output = process::stream::kept, .errors = process::stream::dropped});
    if (told.status != 0) return {};
    return told.output.substr(0, told.output.find('\n'));
  } catch (const std::exception&) {
    return {};
  }
}

}  // namespace

const std::string& commit() {
  static const std::string is = asked_of_git();
  return is;
}

std::string digest_of(const std::string& command, bool simulated) {
  std::vector<std::string> files;
  for (const std::string& name : programs_of(command)) {
    if (const auto file = process::find_program(process::folders_beside(), "heddle-" + name)) files.push_back(*file);
  }
  try {
    if (simulated) files.push_back(simulator_library(false).string());
  } catch (const std::runtime_error&) {
    // the run will report it
  }
  std::uint64_t all = 0;
  for (const std::string& file : files) all = all * 31 + of_file(file);
  return fmt::format("{:016x}", all);
}

}  // namespace heddle::cli::paper
