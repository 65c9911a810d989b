// The frame that heddle_switch leaves on the stack of a suspended context (x86-64, System V ABI), which is also the
// frame that a new context starts from. The offsets are asserted here and spelled as numbers in switch.S.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heddle::arch {

struct switch_frame {
  std::uint32_t mxcsr;
  std::uint16_t x87_control;
  std::uint16_t padding;
  std::uint64_t r15;
  std::uint64_t r14;
  std::uint64_t r13;  // new context: argument of the entry function
  std::uint64_t r12;  // new context: the entry function
  std::uint64_t rbx;
  std::uint64_t rbp;
  std::uint64_t return_address;
};

// The floating-point control registers of a context: how instructions round, what they trap, and whether they flush to
// zero.
struct floating_point_control {
  std::uint32_t mxcsr{0x1f80};
  std::uint16_t x87{0x037f};
};
inline floating_point_control present_floating_point_control() noexcept {
  floating_point_control now;
  asm volatile("stmxcsr %0" : "=m"(now.mxcsr));
  asm volatile("fnstcw %0" : "=m"(now.x87));
  now.mxcsr &= ~0x3fu;  // flags of exceptions
  return now;
}

static_assert(offsetof(switch_frame, mxcsr) == 0);
static_assert(offsetof(switch_frame, x87_control) == 4);
static_assert(offsetof(switch_frame, r15) == 8);
static_assert(offsetof(switch_frame, r13) == 24);
static_assert(offsetof(switch_frame, r12) == 32);
static_assert(offsetof(switch_frame, rbp) == 48);
static_assert(offsetof(switch_frame, return_address) == 56);
static_assert(sizeof(switch_frame) == 64);

}  // namespace heddle::arch
