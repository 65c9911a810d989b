// Messages between workers on simulated machines whose links say that thieves send messages over them: in a cluster of
// computers, other than in one with shared memory, a thief's request takes its time to the victim, and so does what
// comes back. Nothing on a real platform, and nothing on machines that do not say so.
#pragma once

#include "platform/platform.hpp"

namespace heddle::platform {

#if defined(HEDDLE_SIM)
// So many latencies of the link between two nodes a message takes over it (links.messages of the machine file); 0:
// nobody sends messages. The same throughout a run.
double link_messages() noexcept;
// Lets time pass on the caller's clock until a message has come. A scheduling point unless it is 0.
void pass_message(nanoseconds time) noexcept;

// The box of a worker: nothing arrives there before `when`, however often that is said.
void expect_in_box(unsigned rank, nanoseconds when) noexcept;
bool has_arrived_in_box(unsigned rank) noexcept;
// A task that worker `from` has put into a list; and what was noted of it last. `is_pushed`: the list is another
// worker's, so a message is on its way since then. Else whoever takes it from another node has to ask for it. A memory
// of the latest ones: of a task that is forgotten `from` is ~0u.
struct sent {
  unsigned from;
  nanoseconds when;
  bool is_pushed;
};
void note_sent(const void* task, unsigned from, bool is_pushed = false) noexcept;
sent sent_by(const void* task) noexcept;
#else
constexpr double link_messages() noexcept { return 0; }
inline void pass_message(nanoseconds) noexcept {}
inline void expect_in_box(unsigned, nanoseconds) noexcept {}
constexpr bool has_arrived_in_box(unsigned) noexcept { return true; }
struct sent {
  unsigned from;
  nanoseconds when;
  bool is_pushed;
};
inline void note_sent(const void*, unsigned, bool = false) noexcept {}
constexpr sent sent_by(const void*) noexcept { return {~0u, 0, false}; }
#endif

}  // namespace heddle::platform
