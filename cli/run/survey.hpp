// How a program uses OpenMP, found out before it is started.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace heddle::cli {

// A runtime of OpenMP that the program, or a library of its, is linked with.
struct openmp_library {
  std::string name;                // libgomp.so.1
  std::vector<std::string> users;  // names of the files that need it
  bool renamed{false};  // a copy of its own under another name, as in Python wheels: libgomp-a34b3233.so.1.0.0
};

struct openmp_use {
  std::filesystem::path file;    // what is executed in the end: of a script, its interpreter
  std::filesystem::path script;  // empty: none
  std::vector<openmp_library> libraries;
  std::vector<openmp_library> in_wheels;  // that Python packages bring along; loaded only if the program asks for them
  bool loads_later{false};  // it has dlopen, as every dynamic program, and is known to load what it is told to: Python
};

// Whether a library of that name is a runtime of OpenMP.
enum class openmp_name : unsigned char { none, known, renamed };
openmp_name openmp_name_of(const std::string& name);

// Follows #! lines, and the libraries of the program. Throws std::runtime_error, with the reason, for a program whose
// libraries cannot be replaced: one that is linked statically, one that runs with another user's rights.
openmp_use survey(const std::filesystem::path& program);

// In one line, for people.
std::string to_text(const openmp_use& use);

}  // namespace heddle::cli
