#include "cli/sim/process.hpp"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/personality.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <system_error>

#include "cli/run/openmp.hpp"
#include "process/beside.hpp"
#include "process/run.hpp"
#include "process/search.hpp"

extern char** environ;

namespace heddle::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* soname = "libheddle.so." HEDDLE_SOVERSION_STRING;

// Finds a program as a shell would; `heddle` without a path is this command.
fs::path find_program(const std::string& name) {
  if (const auto found = process::find_in_path(name)) return *found;
  if (name == "heddle") return process::own_program();
  throw std::runtime_error(fmt::format("program '{}' is not found in PATH", name));
}

// Returns true for a program without an interpreter: it has no dynamic linker that could load the simulator.
bool is_static(const fs::path& program) {
  std::ifstream file(program, std::ios::binary);
  Elf64_Ehdr header{};
  // it is a script
  if (!file.read(reinterpret_cast<char*>(&header), sizeof header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
    return false;
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr part{};
    file.seekg(static_cast<std::streamoff>(header.e_phoff + i * header.e_phentsize));
    if (!file.read(reinterpret_cast<char*>(&part), sizeof part)) return false;
    if (part.p_type == PT_INTERP) return false;
  }
  return true;
}

// A file that exists as long as the object.
class scratch_file {
 public:
  scratch_file() {
    std::string name = (fs::temp_directory_path() / "heddle-sim-XXXXXX").string();
    const int descriptor = ::mkstemp(name.data());
    if (descriptor < 0) throw std::system_error(errno, std::generic_category(), name);
    ::close(descriptor);
    path_ = name;
  }
  ~scratch_file() {
    std::error_code ignored;
    fs::remove(path_, ignored);
  }
  scratch_file(const scratch_file&) = delete;
  scratch_file& operator=(const scratch_file&) = delete;
  const fs::path& path() const { return path_; }
  std::string text() const {
    std::ifstream file(path_);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }

 private:
  fs::path path_;
};

class variables {
 public:
  variables() {
    for (char** entry = environ; *entry != nullptr; ++entry) all_.emplace_back(*entry);
  }
  void set(const std::string& name, const std::string& value) {
    remove(name);
    all_.push_back(name + "=" + value);
  }
  void remove(const std::string& name) {
    std::erase_if(all_, [&](const std::string& entry) { return entry.starts_with(name + "="); });
  }
  std::vector<char*> pointers() {
    std::vector<char*> list;
    for (std::string& entry : all_) list.push_back(entry.data());
    list.push_back(nullptr);
    return list;
  }

 private:
  std::vector<std::string> all_;
};

// Copies of this text lie among the program's own blocks, whose places must not depend on its length. Slashes at the
// beginning count as one.
std::string of_fixed_length(const std::string& file) {
  constexpr std::size_t length = 255;
  const std::string whole = fs::absolute(file).string();
  return std::string(length - std::min(length, whole.size()), '/') + whole;
}

// `openmp`: the folder of the OpenMP library, if the program needs one.
variables environment_for(const sim_setting& s, const fs::path& library, const fs::path& openmp,
                          const fs::path& statistics) {
  variables v;
  const char* others = std::getenv("LD_PRELOAD");
  const std::string first = openmp.empty() ? library.string() : library.string() + ":" + openmp_preload(openmp, false);
  v.set("LD_PRELOAD", others == nullptr || *others == 0 ? first : first + ":" + others);
  if (!openmp.empty()) {
    const char* folders = std::getenv("LD_LIBRARY_PATH");
    v.set("LD_LIBRARY_PATH", folders == nullptr || *folders == 0 ? openmp.string() : openmp.string() + ":" + folders);
  }
  v.set("LD_BIND_NOW", "1");  // so that no symbol is looked up in measured time
  v.set("HEDDLE_SIM_MACHINE", s.machine);
  v.set("HEDDLE_SIM_CHARGE", s.charge);
  v.set("HEDDLE_SIM_STATISTICS", statistics.string());
  v.set("HEDDLE_SIM_FAST", s.fast ? "1" : "0");
  v.set("HEDDLE_SIM_CYCLES", fmt::format("{}", s.cycles_factor));
  v.set("HEDDLE_SIM_FREE", s.free_scheduler ? "1" : "0");
  v.set("HEDDLE_SIM_STALL", std::to_string(s.stall_limit));
  v.remove("HEDDLE_SIM_REUSE");
  if (!s.reuse.empty()) v.set("HEDDLE_SIM_REUSE", s.reuse);
  if (s.explore) {
    v.set("HEDDLE_SIM_EXPLORE", std::to_string(s.explore_seed));
    // Workers fall asleep after tens of points, because the default would keep them awake throughout most programs.
    if (std::getenv("HEDDLE_SPIN") == nullptr) v.set("HEDDLE_SPIN", "2");
  }
  v.set("HEDDLE_BIND", "on");  // a worker is a core of the model
  v.set("HEDDLE_SEED", std::to_string(s.seed));
  v.remove("HEDDLE_SIM_PADDING");
  if (s.padding != 0) v.set("HEDDLE_SIM_PADDING", std::to_string(s.padding));
  v.set("HEDDLE_WATCHDOG", "0");  // its deadline would hide a deadlock
  v.set("HEDDLE_SIGNAL_STACKS", "off");
  if (!s.policy.empty()) v.set("HEDDLE_POLICY", s.policy);
  if (s.workers != 0) v.set("HEDDLE_WORKERS", std::to_string(s.workers));
  v.remove("HEDDLE_TRACE");
  if (!s.trace.empty()) v.set("HEDDLE_TRACE", of_fixed_length(s.trace));
  for (const auto& [name, value] : s.environment) v.set(name, value);
  return v;
}

// While this object lives, the programs that this kernel thread starts have the same addresses in each run. The setting
// is inherited; the program that runs here has its addresses already.
class fixed_addresses {
 public:
  fixed_addresses() : before_(::personality(0xffffffff)) {
    if (before_ != -1 && ::personality(static_cast<unsigned long>(before_) | ADDR_NO_RANDOMIZE) != -1) return;
    throw std::runtime_error(
        fmt::format("address randomisation cannot be switched off ({}): a sandbox refuses personality(2); without it "
                    "no two runs are alike. "
                    "Run the command outside, or under `setarch -R`",
                    std::strerror(errno)));
  }
  ~fixed_addresses() { ::personality(static_cast<unsigned long>(before_)); }
  fixed_addresses(const fixed_addresses&) = delete;
  fixed_addresses& operator=(const fixed_addresses&) = delete;

 private:
  int before_;
};

}  // namespace

sim_setting repetition(sim_setting of, unsigned number) {
  // Memory from malloc begins at multiples of 16 bytes, so each repetition begins elsewhere in its page and in its
  // line.
  constexpr unsigned granule = 16, step = 37, page = 4096;
  of.seed += number;
  of.padding = number * step * granule % page;
  return of;
}

fs::path simulator_library(bool explore) {
  const fs::path here = fs::path(process::own_program()).parent_path();
  const char* folder = explore ? "explore" : "sim";
  std::vector<fs::path> folders{here / folder, here / ".." / HEDDLE_LIBDIR / "heddle" / folder};
  if (const char* chosen = std::getenv("HEDDLE_SIM_LIBRARIES"))
    folders.insert(folders.begin(), fs::path(chosen) / folder);
  for (const fs::path& candidate : folders) {
    if (::access((candidate / soname).c_str(), R_OK) == 0) return fs::canonical(candidate / soname);
  }
  throw std::runtime_error(fmt::format(
      "the simulator's {} is neither in {} nor in {}: build or install the target heddle_{}", soname,
      (here / folder).string(), (here / ".." / HEDDLE_LIBDIR / "heddle" / folder).lexically_normal().string(), folder));
}

sim_outcome simulate(const std::vector<std::string>& words, const sim_setting& s, shown output, unsigned limit) {
  const fs::path program = find_program(words.front());
  if (is_static(program)) {
    throw std::runtime_error(
        fmt::format("{} is linked statically: link it with the shared libheddle.so, without -static, to simulate it",
                    program.string()));
  }
  const scratch_file statistics;
  const scratch_file errors;
  const fs::path openmp = uses_openmp(program) ? openmp_folder() : fs::path();
  variables environment = environment_for(s, simulator_library(s.explore), openmp, statistics.path());
  const std::vector<char*> entries = environment.pointers();
  const bool captured = output == shown::captured;
  const auto before = [&] {
    environ = const_cast<char**>(entries.data());
    if (!captured) return;
    // This is not a pipe, so that processes that the program has started, and leaves behind, are not waited for.
    const int file = ::open(errors.path().c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC);
    ::dup2(file, STDERR_FILENO);
  };
  const process::ended run = [&] {
    const fixed_addresses while_it_starts;
    return process::run(words, {.file = program.string(),
                                .output = output == shown::all ? process::stream::shared : process::stream::dropped,
                                .limit = std::chrono::seconds(limit),
                                .before = before});
  }();

  sim_outcome result;
  result.late = run.late;
  result.status = run.status;
  if (captured) result.errors = errors.text();
  std::string text = statistics.text();
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    constexpr std::string_view failed = "{\"failed\": \"";
    if (line.starts_with(failed))
      result.failed = line.substr(failed.size(), line.find('"', failed.size()) - failed.size());
    else result.figures.push_back(line);
    at = end + 1;
  }
  return result;
}

}  // namespace heddle::cli
