// The numbers by which the LLVM ABI names schedules (sched_type). Ordered schedules are 32 above; schedules that are
// not merged with others are 128 above.
#pragma once

#include <cstdint>

namespace heddle::omp::kmp {

inline constexpr std::int32_t static_chunked = 33;
inline constexpr std::int32_t static_even = 34;
inline constexpr std::int32_t dynamic_chunked = 35;
inline constexpr std::int32_t guided_chunked = 36;
inline constexpr std::int32_t by_runtime = 37;
inline constexpr std::int32_t by_itself = 38;
inline constexpr std::int32_t trapezoidal = 39;
inline constexpr std::int32_t static_greedy = 40;
inline constexpr std::int32_t static_balanced = 41;
inline constexpr std::int32_t guided_iterative = 42;
inline constexpr std::int32_t guided_analytical = 43;
inline constexpr std::int32_t static_steal = 44;
inline constexpr std::int32_t static_balanced_chunked = 45;
inline constexpr std::int32_t guided_simd = 46;
inline constexpr std::int32_t runtime_simd = 47;
inline constexpr std::int32_t ordered_offset = 32;
inline constexpr std::int32_t first_ordered = 64;
inline constexpr std::int32_t last_ordered = 72;
inline constexpr std::int32_t distribute_static_chunked = 91;
inline constexpr std::int32_t distribute_static = 92;
inline constexpr std::int32_t unmerged_offset = 128;
inline constexpr std::int32_t first_unmerged = 160;
inline constexpr std::int32_t modifiers = (1 << 29) | (1 << 30);  // monotonic, nonmonotonic

}  // namespace heddle::omp::kmp
