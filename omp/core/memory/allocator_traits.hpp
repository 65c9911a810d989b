// The numbers of omp_alloctrait_key_t, omp_alloctrait_value_t and the memory spaces, as omp.h has them.
#pragma once

#include <cstdint>

namespace heddle::omp::allocators {

enum trait_key : std::int32_t {
  key_sync_hint = 1,
  key_alignment,
  key_access,
  key_pool_size,
  key_fallback,
  key_fb_data,
  key_pinned,
  key_partition
};

enum trait_value : std::uintptr_t {
  value_false = 0,
  value_true = 1,
  value_contended = 3,
  value_uncontended,
  value_serialized,
  value_private,
  value_all,
  value_thread,
  value_pteam,
  value_cgroup,
  value_default_mem_fb,
  value_null_fb,
  value_abort_fb,
  value_allocator_fb,
  value_environment,
  value_nearest,
  value_blocked,
  value_interleaved,
  value_default = UINTPTR_MAX
};

inline constexpr std::uintptr_t space_high_bandwidth = 3;
inline constexpr std::uintptr_t last_predefined = 1023;  // numbers up to this are no addresses

}  // namespace heddle::omp::allocators
