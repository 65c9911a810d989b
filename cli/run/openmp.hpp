// How a command makes an OpenMP program run on heddle: which libraries are preloaded.
#pragma once

#include <filesystem>
#include <string>

namespace heddle::cli {

// The folder of libheddle_omp.so, in the build tree or where heddle is installed. It holds the same library under the
// names of other runtimes, too. Throws std::runtime_error if there is none.
std::filesystem::path openmp_folder();

// The value for LD_PRELOAD. `waits`: waiting functions of the C library are replaced, too (omp/waits/README.md).
std::string openmp_preload(const std::filesystem::path& folder, bool waits);

// Sets an environment variable to `value` and what it held before, separated by a colon.
void put_first(const char* variable, const std::string& value);

// Whether the program, or a library of its, is linked with a runtime of OpenMP. False for what cannot be looked into.
bool uses_openmp(const std::filesystem::path& program) noexcept;

}  // namespace heddle::cli
