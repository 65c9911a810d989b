// Frame that heddle_switch leaves on the stack of a suspended context (x86-64, System V ABI), and the frame
// that a new context starts from. Offsets are asserted here and spelled as numbers in switch.S.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heddle::arch {

struct switch_frame {
  std::uint32_t mxcsr;          // valid only when x87_control is not the default: see switch.S
  std::uint16_t x87_control;
  std::uint16_t padding;
  std::uint64_t r15;
  std::uint64_t r14;
  std::uint64_t r13;            // new context: argument of the entry function
  std::uint64_t r12;            // new context: the entry function
  std::uint64_t rbx;
  std::uint64_t rbp;
  std::uint64_t return_address;
};

inline constexpr std::uint16_t default_x87_control = 0x037f;

static_assert(offsetof(switch_frame, x87_control) == 4);
static_assert(offsetof(switch_frame, r15) == 8);
static_assert(offsetof(switch_frame, r13) == 24);
static_assert(offsetof(switch_frame, r12) == 32);
static_assert(offsetof(switch_frame, rbp) == 48);
static_assert(offsetof(switch_frame, return_address) == 56);
static_assert(sizeof(switch_frame) == 64);

}  // namespace heddle::arch
