#include "omp/core/other_runtimes.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cstdio>
#include <string_view>

namespace heddle::omp {

namespace {

std::string_view folder_of(std::string_view path) noexcept {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

bool is_runtime(std::string_view path) noexcept {
  const std::string_view name = path.substr(folder_of(path).empty() ? 0 : folder_of(path).size() + 1);
  for (const std::string_view begin : {"libgomp", "libomp", "libiomp5"}) {
    if (!name.starts_with(begin) || name.size() == begin.size()) continue;
    const char after = name[begin.size()];
    if ((after == '.' || after == '-') && name.find(".so") != std::string_view::npos) return true;
  }
  return false;
}

struct search {
  std::string_view here;  // the folder of this library, which has our libraries under the names of others
  bool replaced;
  bool all;
};

int look_at(dl_phdr_info* library, std::size_t, void* data) noexcept {
  const search& s = *static_cast<const search*>(data);
  const std::string_view path(library->dlpi_name);
  if (!is_runtime(path) || folder_of(path) == s.here) return 0;
  if (!s.replaced) {
    std::fprintf(stderr, "heddle: OpenMP: %s is loaded, too, and its functions come first: use `heddle run`\n",
                 library->dlpi_name);
  } else if (s.all) {
    std::fprintf(stderr, "heddle: OpenMP: %s is loaded; its functions are replaced\n", library->dlpi_name);
  }
  return 0;
}

}  // namespace

void report_other_runtimes(bool all) noexcept {
  Dl_info own{};
  if (dladdr(reinterpret_cast<const void*>(&report_other_runtimes), &own) == 0) return;
  // The function that a library gets which is loaded at this moment and names such a function.
  void* const found = dlsym(RTLD_DEFAULT, "omp_get_max_threads");
  Dl_info first{};
  const bool replaced = found != nullptr && dladdr(found, &first) != 0 && first.dli_fbase == own.dli_fbase;
  search s{folder_of(own.dli_fname), replaced, all};
  dl_iterate_phdr(look_at, &s);
}

}  // namespace heddle::omp
