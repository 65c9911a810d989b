#pragma once

namespace heddle::sim {

// Fetches memory of the simulator's own tables into the cache of the host machine, to be written. Without the empty asm
// g++ takes a function that does nothing else for one without effect, and omits its calls.
[[gnu::always_inline]] inline void fetch_ahead(const void* p) noexcept {
  __builtin_prefetch(p, 1);
  asm volatile("");
}

}  // namespace heddle::sim
