#include "cli/run/openmp.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>
#include <vector>

#include "cli/run/survey.hpp"
#include "process/beside.hpp"

namespace heddle::cli {

namespace fs = std::filesystem;

namespace {

constexpr const char* library_name = "libheddle_omp.so";
constexpr const char* waits_name = "libheddle_omp_waits.so";

}  // namespace

fs::path openmp_folder() {
  const fs::path here = fs::path(process::own_program()).parent_path();
  const std::vector<fs::path> folders{here / "openmp", here / ".." / HEDDLE_LIBDIR / "heddle" / "openmp"};
  for (const fs::path& folder : folders) {
    if (::access((folder / library_name).c_str(), R_OK) == 0) return fs::canonical(folder);
  }
  throw std::runtime_error(fmt::format("{} is neither in {} nor in {}: build or install the target openmp",
                                       library_name, folders[0].string(), folders[1].lexically_normal().string()));
}

std::string openmp_preload(const fs::path& folder, bool waits) {
  std::string libraries = (folder / library_name).string();
  if (waits) libraries += ":" + (folder / waits_name).string();
  return libraries;
}

void put_first(const char* variable, const std::string& value) {
  const char* others = std::getenv(variable);
  const std::string whole = others == nullptr || *others == 0 ? value : value + ":" + others;
  ::setenv(variable, whole.c_str(), 1);
}

bool uses_openmp(const fs::path& program) noexcept try {
  return !survey(program).libraries.empty();
} catch (const std::exception&) {
  return false;
}

}  // namespace heddle::cli
