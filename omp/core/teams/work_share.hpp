// Work-sharing constructs: loops, sections, ordered, doacross. Constructs that need something shared take slots of a
// ring of the team's, one after the other ([share:1]). Static loops need only a member's own cursor.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <heddle/detail/loop_pace.hpp>

#include "omp/core/settings/icv.hpp"

namespace heddle::omp {

class thread;
struct team;

// The iterations of a loop are numbered from 0; the calling ABI knows the values that they have.
struct loop_plan {
  schedule_kind kind{schedule_kind::of_static};
  bool ordered{false};
  bool sections{false};  // the caller takes one number at a time
  // A dynamic loop of a team of one, which gets all iterations at once as in a static loop.
  bool at_once{false};
  // A static loop that still has something shared (reductions, memory).
  bool shared{false};
  std::uint64_t trips{0};
  // 0 if not given: a static loop then has one part a member, other loops have chunks of 1.
  std::uint64_t chunk{0};
  std::uint64_t grain{1};  // guided: sizes of blocks are multiples of it
  // The value of iteration 0, and the step from one iteration to the next, modulo 2^64.
  std::uint64_t start{0};
  std::uint64_t step{1};
  std::uint64_t end{0};  // the loop's own end, as the GNU ABI gives it: behind the last value
};

struct block {
  std::uint64_t first{0};
  std::uint64_t count{0};
};

// Part `number` of `parts` of a loop of `trips` iterations. The parts are as even as possible, larger ones first.
constexpr block even_part(std::uint64_t trips, std::uint64_t number, std::uint64_t parts) noexcept {
  const std::uint64_t small = trips / parts;
  const std::uint64_t larger = trips % parts;
  if (number < larger) return {number * (small + 1), small + 1};
  return {number * small + larger, small};
}

constexpr std::uint64_t chunks_of(std::uint64_t trips, std::uint64_t chunk) noexcept {
  return trips / chunk + (trips % chunk != 0 ? 1 : 0);
}

// Iterations for which others wait (doacross): one bit for each.
struct doacross;

struct work_share {
  // 3k: free for construct k of the region; 3k + 1: a member sets it up; 3k + 2: it is set up ([share:2]).
  alignas(64) std::atomic<std::uint64_t> phase{0};
  std::atomic<std::uint32_t> waiters{0};  // members that wait for a change of `phase`
  std::atomic<std::uint32_t> left{0};     // members that have left the construct
  std::atomic<bool> cancelled{false};
  void* reductions{nullptr};  // of tasks, begin_shared_words
  void* memory{nullptr};      // for which the GNU ABI asks (scan, conditional lastprivate)
  doacross* across{nullptr};
  // Dynamic: the number of chunks handed out. Guided: the number of iterations handed out.
  alignas(64) std::atomic<std::uint64_t> next{0};
  // The iteration whose ordered part is next.
  alignas(64) std::atomic<std::uint64_t> ordered{0};
};

struct work_shares {
  static constexpr std::uint64_t slots = 8;
  std::array<work_share, slots> ring;
  // Whether it was used in this region. True at first, so that begin() numbers the slots.
  std::atomic<bool> used{true};
  // Called before a region's members begin.
  void begin() noexcept;
};

// The progress of a member among the constructs of its region.
struct work_cursor {
  std::uint64_t constructs{0};  // the number of constructs with a slot in the ring that it has met
  std::uint32_t singles{0};
  bool in_loop{false};  // whether the loop below is under way
  work_share* share{nullptr};
  // For a doacross loop of the LLVM ABI, which has a slot beside the loop's.
  work_share* across{nullptr};
  std::uint64_t share_number{0};
  std::uint64_t across_number{0};
  loop_plan plan;
  std::uint64_t at{0};          // static: the next chunk of this member
  block now;                    // the block that was handed out last
  std::uint64_t ordered_at{0};  // in ordered loops: the iteration of the block that is under way
  bool ordered_done{false};     // whether its ordered part has ended
  // Of the blocks and tasks that this thread has run.
  heddle::detail::service_pace service;
};

// Called when the thread comes to a loop. first(slot, argument) is that of enter_share.
void begin_loop(thread& self, const loop_plan& plan, void (*first)(work_share&, void*) = nullptr,
                void* argument = nullptr);
// Takes the next block for this member. Returns false if there is none.
bool next_block(thread& self);
// Called when the member has finished the loop. Does not wait.
void end_loop(thread& self);
// Cancels a loop or sections.
void cancel_loop(thread& self);
// Returns true if the loop under way, or the region around it, was cancelled. Only while the loop has something shared.
[[nodiscard]] bool loop_is_cancelled(const thread& self) noexcept;

// The slot of the next construct, set up by the first member that comes: first(slot, argument) runs once, before any
// other member goes on.
work_share& enter_share(thread& self, std::uint64_t& number, void (*first)(work_share&, void*), void* argument);
void leave_share(thread& self, work_share& s, std::uint64_t number);

// Returns true for one member of the team.
bool take_single(thread& self) noexcept;

// Ordered, iteration by iteration (LLVM ABI): called before and after the ordered part, and at the end of each
// iteration.
void begin_ordered(thread& self);
void end_ordered(thread& self);
void end_ordered_iteration(thread& self);
// Ordered, block by block (GNU ABI): the ordered part belongs to a whole block; it moves on when the block's member
// wants another block, or leaves the loop.
void wait_for_ordered_block(thread& self);
void pass_ordered_block(thread& self);

}  // namespace heddle::omp
