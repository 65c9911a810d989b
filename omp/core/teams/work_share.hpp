// Work-sharing constructs: loops, sections, ordered, doacross. Those that need something shared take their places in a
// ring of the team's, one after the other ([share:1]); static loops need nothing but a member's own cursor.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "omp/core/settings/icv.hpp"

namespace heddle::omp {

class thread;
struct team;

// The iterations of a loop are numbered from 0; the ABI that asks knows what they are.
struct loop_plan {
  schedule_kind kind{schedule_kind::of_static};
  bool ordered{false};
  bool sections{false};  // who asks takes one number at a time
  bool at_once{false};   // a dynamic loop of which one thread gets all as of a static one
  bool shared{false};    // a static loop that has something shared all the same (reductions, memory)
  std::uint64_t trips{0};
  std::uint64_t chunk{0};  // 0: none; of static loops one part a member then, of others 1
  std::uint64_t grain{1};  // guided: sizes of blocks are multiples of it
  std::uint64_t start{0};  // value of iteration 0 and from one to the next, modulo 2^64
  std::uint64_t step{1};
  std::uint64_t end{0};  // the loop's own end, as the GNU ABI gives it: behind the last value
};

struct block {
  std::uint64_t first{0};
  std::uint64_t count{0};
};

// Part `number` of `parts` of a loop of so many trips: as even as can be, larger ones first.
constexpr block even_part(std::uint64_t trips, std::uint64_t number, std::uint64_t parts) noexcept {
  const std::uint64_t small = trips / parts;
  const std::uint64_t larger = trips % parts;
  if (number < larger) return {number * (small + 1), small + 1};
  return {number * small + larger, small};
}

constexpr std::uint64_t chunks_of(std::uint64_t trips, std::uint64_t chunk) noexcept {
  return trips / chunk + (trips % chunk != 0 ? 1 : 0);
}

// Iterations that others wait for (doacross): a bit for each.
struct doacross;

struct work_share {
  // 3k: free for construct k of the region; 3k + 1: somebody sets it up; 3k + 2: it is set up ([share:2]).
  alignas(64) std::atomic<std::uint64_t> turn{0};
  std::atomic<std::uint32_t> waiters{0};  // who waits for a change of `turn`
  std::atomic<std::uint32_t> left{0};     // members that have left it
  std::atomic<bool> cancelled{false};
  void* reductions{nullptr};  // of tasks, begin_shared_words
  void* memory{nullptr};      // that the GNU ABI asks for (scan, conditional lastprivate)
  doacross* across{nullptr};
  // Dynamic: chunks handed out. Guided: iterations handed out.
  alignas(64) std::atomic<std::uint64_t> next{0};
  // The iteration whose ordered part is next.
  alignas(64) std::atomic<std::uint64_t> ordered{0};
};

struct work_shares {
  static constexpr std::uint64_t places = 8;
  std::array<work_share, places> ring;
  std::atomic<bool> used{true};  // in this region; and at first, so that begin() numbers the places
  // Before a region's members begin.
  void begin() noexcept;
};

// A member's own place among the constructs of its region.
struct work_cursor {
  std::uint64_t constructs{0};  // of those with a place in the ring, how many it has met
  std::uint32_t singles{0};
  bool in_loop{false};  // the loop below is under way
  work_share* share{nullptr};
  work_share* across{nullptr};  // of a doacross loop of the LLVM ABI, which has a place beside the loop's
  std::uint64_t share_number{0};
  std::uint64_t across_number{0};
  loop_plan plan;
  std::uint64_t at{0};          // static: the next chunk of this member's
  block now;                    // handed out last
  std::uint64_t ordered_at{0};  // the iteration under way in it, of ordered loops
  bool ordered_done{false};     // its ordered part has ended
};

// The thread comes to a loop. first(place, argument) is as of enter_share.
void begin_loop(thread& self, const loop_plan& plan, void (*first)(work_share&, void*) = nullptr,
                void* argument = nullptr);
// The next block for this member; false: there is none.
bool next_block(thread& self);
// The member has done with it; does not wait.
void end_loop(thread& self);
// cancel for, cancel sections.
void cancel_loop(thread& self);
// Returns true if the loop under way, or the region around it, was cancelled. Only while the loop has something shared.
[[nodiscard]] bool loop_is_cancelled(const thread& self) noexcept;

// The place of the next construct, set up by whoever comes first: first(place, argument) runs once, before anybody
// else goes on.
work_share& enter_share(thread& self, std::uint64_t& number, void (*first)(work_share&, void*), void* argument);
void leave_share(thread& self, work_share& s, std::uint64_t number);

// True for one member of the team.
bool take_single(thread& self) noexcept;

// Ordered, iteration by iteration (LLVM ABI): before and after the ordered part, and at the end of each iteration.
void begin_ordered(thread& self);
void end_ordered(thread& self);
void end_ordered_iteration(thread& self);
// Ordered, block by block (GNU ABI): the turn is a whole block's; it goes on when the block's member wants another one,
// or leaves the loop.
void wait_for_ordered_block(thread& self);
void pass_ordered_block(thread& self);

}  // namespace heddle::omp
