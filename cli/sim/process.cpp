#include "cli/sim/process.hpp"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/personality.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <stdexcept>
#include <system_error>

#include "cli/child.hpp"

extern char** environ;

namespace heddle::cli {
namespace {

namespace fs = std::filesystem;

fs::path own_path() { return fs::read_symlink("/proc/self/exe"); }

constexpr const char* soname = "libheddle.so." HEDDLE_SOVERSION_STRING;

// As a shell would find it; `heddle` without a path is this command.
fs::path find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  const char* path = std::getenv("PATH");
  for (std::string rest = path == nullptr ? "/usr/bin:/bin" : path; !rest.empty();) {
    const std::size_t colon = std::min(rest.find(':'), rest.size());
    const fs::path candidate = fs::path(rest.substr(0, colon)) / name;
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
    rest.erase(0, colon + 1);
  }
  if (name == "heddle") return own_path();
  throw std::runtime_error(fmt::format("program '{}' is not found in PATH", name));
}

// A program without an interpreter has no dynamic linker that could load the simulator.
bool is_static(const fs::path& program) {
  std::ifstream file(program, std::ios::binary);
  Elf64_Ehdr header{};
  // a script
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

// A file that goes away with the object.
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

variables environment_for(const sim_setting& s, const fs::path& library, const fs::path& statistics) {
  variables v;
  const char* others = std::getenv("LD_PRELOAD");
  v.set("LD_PRELOAD", others == nullptr || *others == 0 ? library.string() : library.string() + ":" + others);
  v.set("LD_BIND_NOW", "1");  // no symbol is looked up in measured time
  v.set("HEDDLE_SIM_MACHINE", s.machine);
  v.set("HEDDLE_SIM_CHARGE", s.charge);
  v.set("HEDDLE_SIM_STATISTICS", statistics.string());
  v.set("HEDDLE_SIM_FAST", s.fast ? "1" : "0");
  v.set("HEDDLE_SIM_FREE", s.free_scheduler ? "1" : "0");
  v.set("HEDDLE_SIM_STALL", std::to_string(s.stall_limit));
  if (s.explore) v.set("HEDDLE_SIM_EXPLORE", std::to_string(s.explore_seed));
  v.set("HEDDLE_BIND", "on");  // a worker is a core of the model
  v.set("HEDDLE_SEED", std::to_string(s.seed));
  v.set("HEDDLE_WATCHDOG", "0");  // its deadline would hide a deadlock
  v.set("HEDDLE_SIGNAL_STACKS", "off");
  if (!s.policy.empty()) v.set("HEDDLE_POLICY", s.policy);
  if (s.workers != 0) v.set("HEDDLE_WORKERS", std::to_string(s.workers));
  v.remove("HEDDLE_TRACE");
  if (!s.trace.empty()) v.set("HEDDLE_TRACE", s.trace);
  return v;
}

// What the child found wrong before it became the program.
struct failure {
  enum class step : int { none, personality, execute } where{step::none};
  int error{0};
};

[[noreturn]] void become(const fs::path& program, char* const* argv, char* const* envp, int report,
                         const scratch_file* errors, bool quiet) {
  const auto fail = [report](failure::step where) {
    const failure f{where, errno};
    [[maybe_unused]] const auto written = ::write(report, &f, sizeof f);
    std::_Exit(127);
  };
  const int now = ::personality(0xffffffff);
  if (now == -1 || ::personality(static_cast<unsigned long>(now) | ADDR_NO_RANDOMIZE) == -1)
    fail(failure::step::personality);
  if (quiet) {
    const int nowhere = ::open("/dev/null", O_WRONLY);
    ::dup2(nowhere, STDOUT_FILENO);
    ::close(nowhere);
  }
  if (errors != nullptr) {
    const int file = ::open(errors->path().c_str(), O_WRONLY | O_TRUNC);
    ::dup2(file, STDERR_FILENO);
    ::close(file);
  }
  ::execve(program.c_str(), argv, envp);
  fail(failure::step::execute);
  std::abort();
}

// Waits for the child, at most `limit` seconds; true when it had to be killed.
bool wait_for(child_process& child, unsigned limit, int& status) {
  if (limit == 0) return status = child.wait(), false;
  const std::time_t end = std::time(nullptr) + static_cast<std::time_t>(limit);
  for (unsigned pause_us = 200; !child.ended(status); pause_us = std::min(2 * pause_us, 20'000u)) {
    if (std::time(nullptr) > end) {
      child.kill();
      status = child.wait();
      return true;
    }
    ::usleep(pause_us);
  }
  return false;
}

}  // namespace

fs::path simulator_library(bool explore) {
  const fs::path here = own_path().parent_path();
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
  variables environment = environment_for(s, simulator_library(s.explore), statistics.path());
  std::vector<std::string> copy = words;
  std::vector<char*> argv;
  for (std::string& word : copy) argv.push_back(word.data());
  argv.push_back(nullptr);
  const std::vector<char*> envp = environment.pointers();

  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  std::fflush(nullptr);
  child_process child(program.string(), [&] {
    become(program, argv.data(), envp.data(), ends[1], output == shown::captured ? &errors : nullptr,
           output != shown::all);
  });
  ::close(ends[1]);
  failure f;
  const ssize_t got = ::read(ends[0], &f, sizeof f);
  ::close(ends[0]);

  sim_outcome result;
  int status = 0;
  result.late = wait_for(child, limit, status);
  if (got == static_cast<ssize_t>(sizeof f)) {
    if (f.where == failure::step::personality) {
      throw std::runtime_error(
          fmt::format("address randomisation cannot be switched off ({}): a sandbox refuses personality(2); without it "
                      "no two runs are alike. "
                      "Run the command outside, or under `setarch -R`",
                      std::strerror(f.error)));
    }
    throw std::system_error(f.error, std::generic_category(), program.string());
  }
  result.status = exit_status(status);
  if (output == shown::captured) result.errors = errors.text();
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
