// A watch that looks at the simulated process a hundred times in a second of the process's CPU time: what it computes
// without telling costs, and whether anything happens at all.
#pragma once

#include <cstdint>

namespace heddle::sim {

inline constexpr std::uint64_t watch_beats_a_second = 100;

// Gives `active` a beat every 10 ms of CPU time from this call on, by SIGVTALRM, on an alternate stack if the thread
// has none of its own. After `limit` seconds without an event the process ends (engine::stall), and a note comes before
// that; 0 means no limit. Children of fork() are watched, too; a program that handles SIGVTALRM itself is not. Returns
// false if the system refuses.
bool watch_cpu(unsigned limit) noexcept;

}  // namespace heddle::sim
