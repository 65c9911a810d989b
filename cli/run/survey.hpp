// How a program uses OpenMP, determined before it is started.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace heddle::cli {

// An OpenMP runtime that the program, or one of its libraries, is linked with.
struct openmp_library {
  std::string name;                // libgomp.so.1
  std::vector<std::string> users;  // the names of the files that need it
  // True for a copy under another name, as in Python wheels: libgomp-a34b3233.so.1.0.0
  bool renamed{false};
};

struct openmp_use {
  std::filesystem::path file;    // the file that is executed in the end; for a script, its interpreter
  std::filesystem::path script;  // empty if there is none
  std::vector<openmp_library> libraries;
  // Runtimes that Python packages bring along; they are loaded only if the program asks for them.
  std::vector<openmp_library> in_wheels;
  // True if it has dlopen, as every dynamic program, and is known to load what it is told to: Python
  bool loads_later{false};
};

// Whether a library of that name is an OpenMP runtime.
enum class openmp_name : unsigned char { none, known, renamed };
openmp_name openmp_name_of(const std::string& name);

// Follows #! lines, and the libraries of the program. Throws std::runtime_error with the reason for a program whose
// libraries cannot be replaced: a program that is linked statically, or one that runs with another user's rights.
openmp_use survey(const std::filesystem::path& program);

// Returns the result in one line, for people.
std::string to_text(const openmp_use& use);

}  // namespace heddle::cli
