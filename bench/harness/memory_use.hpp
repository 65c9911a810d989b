// Resident memory of this process, from /proc: the peak is per address space, so it does not
// inherit the parent's.
#pragma once

#include <cstddef>
#include <cstdio>
#include <cstring>

namespace heddle::bench {

inline std::size_t status_field_kib(const char* field) {
  std::FILE* const file = std::fopen("/proc/self/status", "r");
  if (file == nullptr) return 0;
  char text[256];
  std::size_t value = 0;
  while (std::fgets(text, sizeof text, file) != nullptr) {
    if (std::strncmp(text, field, std::strlen(field)) == 0) {
      std::sscanf(text + std::strlen(field), ": %zu", &value);
      break;
    }
  }
  std::fclose(file);
  return value;
}

inline std::size_t peak_resident_kib() { return status_field_kib("VmHWM"); }
inline std::size_t resident_kib() { return status_field_kib("VmRSS"); }

}  // namespace heddle::bench
