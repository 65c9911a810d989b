// What LLVM's compilers hand to their runtime.
#pragma once

#include <cstdint>

#include "omp/core/thread.hpp"
#include "omp/seam.hpp"

namespace heddle::omp::kmp {

// Where a construct stands, and a few words on it.
struct ident {
  std::int32_t reserved_1;
  std::int32_t flags;
  std::int32_t reserved_2;
  std::int32_t reserved_3;
  const char* source;
};
inline constexpr std::int32_t reduces_atomically = 0x10;  // of ident::flags: the compiler has made code for that, too

using microtask = void (*)(std::int32_t* global_number, std::int32_t* number, ...);
inline constexpr int most_arguments = 512;
// Calls an outlined function with as many addresses as it wants.
void call_microtask(microtask code, std::int32_t* global_number, std::int32_t* number, int count, void** arguments);

}  // namespace heddle::omp::kmp
