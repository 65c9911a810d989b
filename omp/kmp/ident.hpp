// The data that LLVM's compilers pass to their runtime.
#pragma once

#include <cstdint>

#include "omp/core/teams/thread.hpp"
#include "omp/seam.hpp"

namespace heddle::omp::kmp {

// The place of a construct, and a few words about it.
struct ident {
  std::int32_t reserved_1;
  std::int32_t flags;
  std::int32_t reserved_2;
  std::int32_t reserved_3;
  const char* source;
};
// Bits of ident::flags.
inline constexpr std::int32_t reduces_atomically = 0x10;  // the compiler has also made code for atomic operations
inline constexpr std::int32_t explicit_barrier = 0x20;
inline constexpr std::int32_t implicit_barrier = 0x40;  // of a work-sharing construct
inline constexpr std::int32_t of_loop = 0x200;
inline constexpr std::int32_t of_sections = 0x400;
inline constexpr std::int32_t of_distribute = 0x800;

using microtask = void (*)(std::int32_t* global_number, std::int32_t* number, ...);
inline constexpr int most_arguments = 512;
// Calls an outlined function with the given addresses. If `frame` is not null, it receives the frame that calls.
void call_microtask(microtask code, std::int32_t* global_number, std::int32_t* number, int count, void** arguments,
                    void** frame);

}  // namespace heddle::omp::kmp
