#pragma once

namespace heddle::sim {

// Memory of the simulator's own tables comes into the cache of the machine that simulates, to be written. The empty asm
// keeps g++ from taking a function that does nothing else for one without effect, whose calls it leaves out.
[[gnu::always_inline]] inline void fetch_ahead(const void* p) noexcept {
  __builtin_prefetch(p, 1);
  asm volatile("");
}

}  // namespace heddle::sim
