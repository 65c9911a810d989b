// The beginning and the end of a simulated process. LD_PRELOAD names the library, and children inherit that. In a
// program that does not use heddle the library does nothing.
#include <link.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>

#include "sim/preload/places.hpp"
#include "sim/session.hpp"

namespace heddle::sim {

namespace {

// Whether an object of the process was linked with libheddle.
int needs_heddle(dl_phdr_info* object, std::size_t, void* found) {
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    if (object->dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    const auto* entries = reinterpret_cast<const ElfW(Dyn)*>(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr);
    const char* names = nullptr;
    for (const ElfW(Dyn)* e = entries; e->d_tag != DT_NULL; ++e) {
      if (e->d_tag == DT_STRTAB)
        names = reinterpret_cast<const char*>(e->d_un.d_ptr < object->dlpi_addr ? object->dlpi_addr + e->d_un.d_ptr
                                                                                : e->d_un.d_ptr);
    }
    for (const ElfW(Dyn)* e = entries; names != nullptr && e->d_tag != DT_NULL; ++e) {
      if (e->d_tag == DT_NEEDED && std::strncmp(names + e->d_un.d_val, "libheddle.so", 12) == 0)
        *static_cast<bool*>(found) = true;
    }
  }
  return 0;
}

session* current = nullptr;  // not destroyed, because programs run code until the very end

__attribute__((constructor)) void begin() {
  bool needed = false;
  dl_iterate_phdr(needs_heddle, &needed);
  if (!needed) return;
  place_blocks();
  try {
    current = new session(session_options::from_environment());
    current->watch();
    begin_heap();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "heddle: sim: %s\n", e.what());
    std::_Exit(2);
  }
}

// Runs after the program's own destructors and functions of atexit.
__attribute__((destructor)) void end() {
  if (current != nullptr) current->save();
}

}  // namespace

}  // namespace heddle::sim
