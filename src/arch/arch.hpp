// The runtime's interface to a processor: a context switch, the thread pointer, a pause. README.md has the invariants.
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

namespace heddle::arch {

// The place where a context goes whose entry function has returned; heddle_start reads it.
struct departure {
  void* stack_pointer;
  void (*after)(void*, void*);
  void* a;
  void* b;
};

}  // namespace heddle::arch

extern "C" {
// Defined by the run loop. heddle_start calls it when the entry function of a context has returned.
heddle::arch::departure* heddle_depart(void* argument) noexcept;
// See switch.S. `after` runs on the new stack once the caller's context is complete in memory.
void heddle_switch(void** save_sp, void* load_sp, void (*after)(void*, void*), void* a, void* b) noexcept;
void heddle_spawn(void** save_sp, void* stack_top, void (*after)(void*), void* a, void (*entry)(void*),
                  void* argument) noexcept;
[[noreturn]] void heddle_end(void* argument) noexcept;
void heddle_start() noexcept;
}

namespace heddle::arch {

// Puts a first frame below `stack_top` (16-byte aligned). The context calls entry(argument), then heddle_depart, and
// begins with `control` in the floating-point control registers. Returns the stack pointer for heddle_switch.
inline void* prepare(void* stack_top, void (*entry)(void*), void* argument,
                     const floating_point_control& control = {}) noexcept {
  auto* frame = reinterpret_cast<switch_frame*>(static_cast<char*>(stack_top) - sizeof(switch_frame));
#if defined(__x86_64__)
  frame->mxcsr = control.mxcsr;
  frame->x87_control = control.x87;
  frame->r12 = reinterpret_cast<std::uintptr_t>(entry);
  frame->r13 = reinterpret_cast<std::uintptr_t>(argument);
#else
  frame->x19 = reinterpret_cast<std::uintptr_t>(entry);
  frame->x20 = reinterpret_cast<std::uintptr_t>(argument);
  frame->fpcr = control.fpcr;
#endif
  frame->return_address = reinterpret_cast<std::uintptr_t>(&heddle_start);
  return frame;
}

[[gnu::always_inline]] inline void* stack_pointer() noexcept {
  void* value;
#if defined(__x86_64__)
  asm("movq %%rsp, %0" : "=r"(value));
#else
  asm("mov %0, sp" : "=r"(value));
#endif
  return value;
}

// Returns the register by which thread-local variables are found. On x86-64 it can only be written if the kernel allows
// it (FSGSBASE). Compilers assume that its value is constant within a function. So these functions are inline and
// volatile, and a function that writes the register must not touch a thread-local variable except through assembler.
[[gnu::always_inline]] inline void* thread_pointer() noexcept {
  void* value;
#if defined(__x86_64__)
  asm volatile("movq %%fs:0, %0" : "=r"(value) : : "memory");  // the System V ABI keeps it there
#else
  asm volatile("mrs %0, tpidr_el0" : "=r"(value) : : "memory");
#endif
  return value;
}
[[gnu::always_inline]] inline void set_thread_pointer(void* value) noexcept {
#if defined(__x86_64__)
  asm volatile("wrfsbase %0" : : "r"(value) : "memory");
#else
  asm volatile("msr tpidr_el0, %0" : : "r"(value) : "memory");
#endif
}

#if defined(HEDDLE_SIM)
// Lets other simulated kernel threads run; for a loop that waits for one of them (platform/sim).
extern "C" void heddle_sim_pause() noexcept;
inline void pause() noexcept { heddle_sim_pause(); }
#else
inline void pause() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  asm volatile("isb" ::: "memory");
#endif
}
#endif

}  // namespace heddle::arch
