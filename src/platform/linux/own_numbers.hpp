// The numbers by which the C library tells threads with storage of their own apart ([own_storage:2]).
#pragma once

#include <cstdint>

namespace heddle::platform {

// The kernel's numbers of threads end at 2^22. The futex word of a lock has room for 30 bits.
inline constexpr std::uint32_t first_own_number = 1u << 23;

// Returns true if the control block, of the calling thread, is that of a block of storage apart from kernel threads.
bool is_own_number(void* control) noexcept;

}  // namespace heddle::platform
