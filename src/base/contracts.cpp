#include "base/contracts.hpp"

#include "base/audit.hpp"

#include <unistd.h>
#include <cstdio>
#include <cstdlib>

namespace heddle::base {

void fail(const char* file, int line, const char* format, ...) noexcept {
  allow_malloc();  // allow, because this message about the first failure must be printed
  char text[512];
  int used = std::snprintf(text, sizeof text, "heddle: %s:%d: ", file, line);
  va_list values;
  va_start(values, format);
  used += std::vsnprintf(text + used, sizeof text - static_cast<std::size_t>(used) - 1, format, values);
  va_end(values);
  if (used > static_cast<int>(sizeof text) - 2) used = sizeof text - 2;
  text[used++] = '\n';
  [[maybe_unused]] auto written = ::write(STDERR_FILENO, text, static_cast<std::size_t>(used));
  std::abort();
}

}  // namespace heddle::base
