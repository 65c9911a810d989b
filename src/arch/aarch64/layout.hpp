// The frame that heddle_switch leaves on the stack of a suspended context (AArch64, AAPCS64), which is also the frame
// that a new context starts from. The offsets are asserted here and spelled as numbers in switch.S.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heddle::arch {

struct switch_frame {
  std::uint64_t x19;  // new context: the entry function
  std::uint64_t x20;  // new context: argument of the entry function
  std::uint64_t x21, x22, x23, x24, x25, x26, x27, x28;
  std::uint64_t x29;
  std::uint64_t return_address;  // x30
  std::uint64_t d8, d9, d10, d11, d12, d13, d14, d15;
  std::uint64_t fpcr;
  std::uint64_t padding;
};

// The floating-point control register of a context: how instructions round, what they trap, and whether they flush to
// zero.
struct floating_point_control {
  std::uint64_t fpcr{0};
};
inline floating_point_control present_floating_point_control() noexcept {
  floating_point_control now;
  asm volatile("mrs %0, fpcr" : "=r"(now.fpcr));
  return now;
}

static_assert(offsetof(switch_frame, x20) == 8);
static_assert(offsetof(switch_frame, x29) == 80);
static_assert(offsetof(switch_frame, return_address) == 88);
static_assert(offsetof(switch_frame, d8) == 96);
static_assert(offsetof(switch_frame, fpcr) == 160);
static_assert(sizeof(switch_frame) == 176);

}  // namespace heddle::arch
