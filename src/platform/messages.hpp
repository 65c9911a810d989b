// Messages between the workers of simulated clusters. In a cluster without shared memory a thief's request takes its
// time to the victim, and so does the answer. A machine file says by its links that thieves send messages. On other
// machines, and on a real platform, these functions do nothing.
#pragma once

#include "platform/platform.hpp"

namespace heddle::platform {

// Requests by name, one at most for each asker. A request that was sent reaches its victim at `arrives`. From then on
// due_request returns it, once. After a refusal it is under way until the refusal has come back at `when`; after an
// answer it is over. Only simulated machines have these functions.
struct request_by_name {
  unsigned asker, victim;
  nanoseconds arrives;
};
void send_request(const request_by_name& what) noexcept;
// Sets `due` to the request that has arrived first, and returns true; returns false if none has.
bool due_request(request_by_name& due) noexcept;
void refuse_request(unsigned asker, nanoseconds when) noexcept;
void end_request(unsigned asker) noexcept;

#if defined(HEDDLE_SIM)
// Returns the time of a message over the link between two nodes, in latencies of that link (links.messages of the
// machine file). Returns 0 if no messages are sent. The answer is the same throughout a run.
double link_messages() noexcept;
// Lets time pass on the caller's clock until a message has come. The call is a scheduling point unless `time` is 0.
void pass_message(nanoseconds time) noexcept;

// The box of a worker: nothing arrives there before `when`, however often that is said.
void expect_in_box(unsigned rank, nanoseconds when) noexcept;
bool has_arrived_in_box(unsigned rank) noexcept;

bool is_under_way(unsigned asker) noexcept;
// note_sent notes that worker `from` has put a task into a list, and sent_by returns what was noted of a task last.
// `is_pushed` means that the list is another worker's, so that a message has been on its way since then. If it is
// false, a worker of another node that takes the task must ask for it. Only the latest tasks are remembered; for a
// forgotten task `from` is ~0u.
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
constexpr bool is_under_way(unsigned) noexcept { return false; }
struct sent {
  unsigned from;
  nanoseconds when;
  bool is_pushed;
};
inline void note_sent(const void*, unsigned, bool = false) noexcept {}
constexpr sent sent_by(const void*) noexcept { return {~0u, 0, false}; }
#endif

}  // namespace heddle::platform
