#include "cli/run/wheels.hpp"

#include <algorithm>
#include <string>
#include <system_error>

namespace heddle::cli {

namespace fs = std::filesystem;

namespace {

std::vector<fs::path> entries(const fs::path& folder) {
  std::vector<fs::path> all;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    all.push_back(at->path());
  std::sort(all.begin(), all.end());
  return all;
}

// .../bin/python3 finds .../lib/python3.N/site-packages. So does the program to which a link in a virtual environment
// leads, apart from packages of its own.
std::vector<fs::path> package_folders(const fs::path& interpreter) {
  std::vector<fs::path> found;
  std::error_code error;
  for (const fs::path& program : {fs::absolute(interpreter, error), fs::weakly_canonical(interpreter, error)}) {
    for (const fs::path& version : entries(program.parent_path().parent_path() / "lib")) {
      if (!version.filename().string().starts_with("python")) continue;
      for (const char* name : {"site-packages", "dist-packages"}) {
        const fs::path folder = version / name;
        if (fs::is_directory(folder, error) && std::find(found.begin(), found.end(), folder) == found.end())
          found.push_back(folder);
      }
    }
    if (!found.empty()) break;  // the packages of a virtual environment come first
  }
  return found;
}

void look_in(const fs::path& folder, const std::string& user, std::vector<openmp_library>& found) {
  for (const fs::path& file : entries(folder)) {
    const std::string name = file.filename().string();
    const openmp_name kind = openmp_name_of(name);
    if (kind != openmp_name::none) found.push_back({name, {user}, kind == openmp_name::renamed});
  }
}

}  // namespace

std::vector<openmp_library> runtimes_in_wheels(const fs::path& interpreter) {
  std::vector<openmp_library> found;
  std::error_code error;
  for (const fs::path& packages : package_folders(interpreter)) {
    for (const fs::path& package : entries(packages)) {
      const std::string name = package.filename().string();
      if (name.ends_with(".libs")) {  // auditwheel's
        look_in(package, name, found);
      } else if (name == "torch" || name == "intel_openmp") {
        look_in(package / "lib", name, found);
      } else if (fs::is_directory(package / ".libs", error)) {  // auditwheel's, before 2019
        look_in(package / ".libs", name, found);
      }
    }
  }
  return found;
}

}  // namespace heddle::cli
