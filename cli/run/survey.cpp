#include "cli/run/survey.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <deque>
#include <fstream>
#include <set>
#include <sstream>
#include <stdexcept>

#include "cli/run/elf.hpp"
#include "cli/run/libraries.hpp"
#include "cli/run/wheels.hpp"
#include "process/search.hpp"

namespace heddle::cli {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void refuse(const fs::path& program, const std::string& why) {
  throw std::runtime_error(fmt::format("{} {}", program.string(), why));
}

// The dynamic linker takes nothing from the environment of a program that runs with another user's rights.
void refuse_other_rights(const fs::path& program) {
  struct stat about{};
  if (::stat(program.c_str(), &about) != 0) refuse(program, fmt::format("cannot be run: {}", std::strerror(errno)));
  if (S_ISDIR(about.st_mode)) refuse(program, "is a folder");
  if (::access(program.c_str(), X_OK) != 0) {
    refuse(program, fmt::format("cannot be run: {}; make it executable (chmod +x), or name its interpreter: "
                                "heddle run -- INTERPRETER {}",
                                std::strerror(errno), program.string()));
  }
  const bool other_user = (about.st_mode & S_ISUID) != 0 && about.st_uid != ::geteuid();
  const bool other_group = (about.st_mode & S_ISGID) != 0 && about.st_gid != ::getegid();
  const bool more_rights = ::geteuid() != 0 && ::getxattr(program.c_str(), "security.capability", nullptr, 0) > 0;
  if (other_user || other_group || more_rights) {
    refuse(program,
           fmt::format("runs with {}: the system lets nobody replace its libraries. Run a copy without: cp {} .",
                       other_user    ? "another user's rights (set-user-ID)"
                       : other_group ? "another group's rights (set-group-ID)"
                                     : "capabilities of its own",
                       program.string()));
  }
}

// Returns the interpreter of a script, or an empty path if the file is no script.
fs::path interpreter_of(const fs::path& script) {
  std::ifstream file(script, std::ios::binary);
  std::string line;
  if (!std::getline(file, line) || !line.starts_with("#!")) return {};
  std::istringstream words(line.substr(2));
  std::string interpreter, argument;
  words >> interpreter >> argument;
  if (fs::path(interpreter).filename() != "env") return interpreter;
  while (argument.starts_with("-") || argument.find('=') != std::string::npos) {  // env -S NAME=VALUE python3
    if (!(words >> argument)) return interpreter;
  }
  return process::find_in_path(argument).value_or(interpreter);
}

void note(openmp_use& use, const std::string& library, openmp_name kind, const fs::path& user) {
  auto at = std::find_if(use.libraries.begin(), use.libraries.end(), [&](const auto& l) { return l.name == library; });
  if (at == use.libraries.end()) {
    use.libraries.push_back({library, {}, kind == openmp_name::renamed});
    at = use.libraries.end() - 1;
  }
  at->users.push_back(user.filename().string());
}

struct to_visit {
  fs::path file;
  elf_file read;
  std::vector<std::string> chain;  // DT_RPATH of the files that have led here
};

void follow_libraries(openmp_use& use, elf_file program) {
  const library_finder finder;
  std::set<std::string> seen;
  std::deque<to_visit> open;
  open.push_back({use.file, program, program.rpath});
  while (!open.empty()) {
    const to_visit here = std::move(open.front());
    open.pop_front();
    for (const std::string& name : here.read.needed) {
      const openmp_name kind = openmp_name_of(fs::path(name).filename().string());
      if (kind != openmp_name::none) {
        note(use, fs::path(name).filename().string(), kind, here.file);
        continue;  // it will not be used
      }
      if (!seen.insert(name).second) continue;
      const auto file = finder.find(name, here.read, here.chain);
      if (!file) continue;  // the dynamic linker will report it
      auto read = read_elf(*file);
      if (!read) continue;
      std::vector<std::string> chain = read->rpath;
      chain.insert(chain.end(), here.chain.begin(), here.chain.end());
      open.push_back({*file, std::move(*read), std::move(chain)});
    }
  }
}

}  // namespace

openmp_name openmp_name_of(const std::string& name) {
  static constexpr std::array<const char*, 6> exact{"libgomp.so.1", "libgomp.so",  "libomp.so.5",
                                                    "libomp.so",    "libiomp5.so", "libheddle_omp.so"};
  for (const char* known : exact) {
    if (name == known) return openmp_name::known;
  }
  for (const char* begin : {"libgomp-", "libomp-", "libiomp5-"}) {
    if (name.starts_with(begin) && name.find(".so") != std::string::npos) return openmp_name::renamed;
  }
  return openmp_name::none;
}

openmp_use survey(const fs::path& program) {
  openmp_use use;
  use.file = program;
  refuse_other_rights(use.file);
  std::optional<elf_file> read = read_elf(use.file);
  for (int depth = 0; !read; ++depth) {
    const fs::path interpreter = interpreter_of(use.file);
    if (interpreter.empty() || depth == 4) {
      refuse(program, fmt::format("is neither a program nor a script with a #! line: name its interpreter, "
                                  "heddle run -- INTERPRETER {}",
                                  program.string()));
    }
    if (::access(interpreter.c_str(), F_OK) != 0)
      refuse(program, fmt::format("names an interpreter in its #! line that is not there: {}", interpreter.string()));
    if (use.script.empty()) use.script = program;
    use.file = interpreter;
    refuse_other_rights(use.file);
    read = read_elf(use.file);
  }
  if (!read->dynamic) {
    refuse(use.file,
           "is linked statically, so that no library can be put in the place of its own: link it without "
           "-static");
  }
  if (fs::path(read->interpreter).filename().string().starts_with("ld-musl"))
    refuse(use.file, "is linked with musl, and heddle with the GNU C library: build the program with that");
  follow_libraries(use, *read);
  const std::string name = use.file.filename().string();
  use.loads_later = !use.script.empty() || name.starts_with("python") || name.starts_with("julia") || name == "R";
  if (name.starts_with("python")) use.in_wheels = runtimes_in_wheels(use.file);
  return use;
}

std::string to_text(const openmp_use& use) {
  std::string text = use.script.empty()
                         ? use.file.filename().string()
                         : fmt::format("{}, run by {},", use.script.filename().string(), use.file.filename().string());
  const auto list = [](const std::vector<openmp_library>& libraries) {
    std::string all;
    for (const openmp_library& library : libraries)
      all += fmt::format("{}{} (of {})", all.empty() ? "" : ", ", library.name, fmt::join(library.users, ", "));
    return all;
  };
  const std::string wheels =
      use.in_wheels.empty() ? ""
                            : fmt::format("; packages bring {}, whose functions are replaced", list(use.in_wheels));
  if (use.libraries.empty()) {
    return text +
           (use.loads_later ? " may load OpenMP later"
                            : " is not linked with OpenMP; what it may load later is redirected") +
           wheels;
  }
  text += " uses OpenMP through ";
  for (std::size_t i = 0; i < use.libraries.size(); ++i) {
    const openmp_library& library = use.libraries[i];
    text += fmt::format("{}{} (of {}{})", i == 0 ? "" : ", ", library.name, fmt::join(library.users, ", "),
                        library.renamed ? "; a copy under a name of its own, whose functions are replaced" : "");
  }
  return text + (use.loads_later ? ", and may load more later" : "") + wheels;
}

}  // namespace heddle::cli
