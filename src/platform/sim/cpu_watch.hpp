// Looks at the simulated process a hundred times a second of its own CPU time:
// what it computes without telling costs, and whether anything happens at all.
#pragma once

#include <cstdint>

namespace heddle::sim {

inline constexpr std::uint64_t watch_beats_a_second = 100;

// From now on `active` gets a beat every 10 ms of CPU time, by SIGVTALRM on an alternate stack unless the thread has
// one. After `limit` seconds without an event the process ends (engine::stall); 0: never. A note comes before. It ends
// as well after so many seconds of real time, a quarter more at most, in which it has slept in the operating system.
// Children of fork() are watched, too; a program that handles SIGVTALRM itself is not. False: the system refused.
bool watch_cpu(unsigned limit) noexcept;

}  // namespace heddle::sim
