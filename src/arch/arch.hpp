// What the runtime needs of a processor: a context switch, a pause, a cheap full fence.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include "arch/x86_64/layout.hpp"
#elif defined(__aarch64__)
#include "arch/aarch64/layout.hpp"
#else
#error "heddle runs on x86-64 and AArch64"
#endif

extern "C" {
// See switch.S. `after` runs on the new stack once the caller's context is complete in memory.
void heddle_switch(void** save_sp, void* load_sp, void (*after)(void*, void*), void* a, void* b) noexcept;
void heddle_start() noexcept;
}

namespace heddle::arch {

// Puts a first frame below `stack_top` (16-byte aligned): the context calls entry(argument), which must not return.
// Returns the stack pointer to give to heddle_switch.
inline void* prepare(void* stack_top, void (*entry)(void*), void* argument) noexcept {
  auto* frame = reinterpret_cast<switch_frame*>(static_cast<char*>(stack_top) - sizeof(switch_frame));
#if defined(__x86_64__)
  frame->x87_control = default_x87_control;
  frame->r12 = reinterpret_cast<std::uintptr_t>(entry);
  frame->r13 = reinterpret_cast<std::uintptr_t>(argument);
#else
  frame->x19 = reinterpret_cast<std::uintptr_t>(entry);
  frame->x20 = reinterpret_cast<std::uintptr_t>(argument);
  frame->fpcr = 0;
#endif
  frame->return_address = reinterpret_cast<std::uintptr_t>(&heddle_start);
  return frame;
}

inline void pause() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  asm volatile("isb" ::: "memory");
#endif
}

}  // namespace heddle::arch
