/// Schedules of parallel loops, for programs that know better than heddle how to share out the iterations.
#pragma once

#include <cstddef>

namespace heddle {

/// One of the schedules in heddle::schedule. The default is adaptive.
struct loop_schedule {
  enum class kind : unsigned char {
    adaptive,
    fixed,
    dynamic,
    guided,
    affinity,
    window,
    window_barrier,
    sliding_window,
    window_automatic
  };
  kind how{kind::adaptive};
  std::size_t chunk{0};  ///< iterations; for a window, its length

  friend constexpr bool operator==(const loop_schedule&, const loop_schedule&) noexcept = default;
};

/// The schedules have the names of OpenMP's, where OpenMP has them, and there are windows for a shared cache. All but
/// adaptive divide the loop among as many *members* as the runtime has workers. The scheduling policy hands the members
/// out like the pieces of any loop. A worker runs the chunks of a member one after the other, so an iteration may wait
/// for any other that does not come later on its own member. With a window an iteration may wait only for iterations
/// before it in the range.
namespace schedule {

/// Cuts ranges when a worker asks for a part, into chunks of 2 to 4 us or by loop_options::grain.
inline constexpr loop_schedule adaptive{};
/// Gives member s of S the chunks s, s + S, s + 2S, ... Without `chunk` each member has one contiguous part, and the
/// parts differ by at most one iteration. A part that takes long is called in several chunks, in order. This is
/// OpenMP's `static`, which is a keyword of C++.
constexpr loop_schedule fixed(std::size_t chunk = 0) noexcept { return {loop_schedule::kind::fixed, chunk}; }
/// Lets a worker that is done take the next `chunk` iterations, in order, at the cost of an atomic addition for each
/// chunk.
constexpr loop_schedule dynamic(std::size_t chunk = 1) noexcept { return {loop_schedule::kind::dynamic, chunk}; }
/// Works like dynamic, but a chunk is the rest divided by twice the number of members, and at least `least`. Source:
/// guided self-scheduling (Polychronopoulos, Kuck, IEEE Transactions on Computers 36(12), 1987), with half its chunks.
constexpr loop_schedule guided(std::size_t least = 1) noexcept { return {loop_schedule::kind::guided, least}; }
/// Cuts the range into contiguous parts like fixed(), and runs the k-th part on the k-th worker in each loop. So a part
/// finds in that worker's caches, and in the memory of its node, what the loop before has left there. No worker takes a
/// part from another worker that is busy with something else. Source: affinity scheduling without its stealing
/// (Markatos, LeBlanc, IEEE Transactions on Parallel and Distributed Systems 5(4), 1994).
inline constexpr loop_schedule affinity{loop_schedule::kind::affinity, 0};

/// How the iterations of a window are shared: by work stealing, or in equal parts. There is one part for each worker,
/// each part always runs on the same worker, and a barrier follows each window.
enum class window_sharing : unsigned char { stealing, barrier };
/// Cuts the range into windows of `length` iterations that run one after the other: no window begins before the
/// previous one has ended. So workers that share a cache are never farther apart than `length`. If the workers of a
/// runtime have several shared caches, the range is first divided among the caches, and each has windows of its own.
/// Source: StaticWindow (Tchiboukdjian, Danjean, Gautier, Le Mentec, Raffin, HPPC 2010).
constexpr loop_schedule window(std::size_t length, window_sharing how = window_sharing::stealing) noexcept {
  return {how == window_sharing::barrier ? loop_schedule::kind::window_barrier : loop_schedule::kind::window, length};
}
/// Makes a window that moves on with the first iteration that has not ended. All iterations that run at any moment lie
/// within `length` iterations, and no worker waits for a window's end. Several caches are treated as in window().
/// Source: SlidingWindow, in the same paper.
constexpr loop_schedule sliding_window(std::size_t length) noexcept {
  return {loop_schedule::kind::sliding_window, length};
}
/// Makes a sliding window whose length heddle chooses, or runs adaptive where a window would gain nothing: if the
/// workers share no cache, if all data fit the shared cache, or if the bytes that an iteration touches are not known.
/// They are known from loop_options::bytes_per_iteration, or as the size of an element of a range. In a program that
/// tells its accesses by <heddle/cost.hpp>, every 64th loop is sampled, the first one included.
inline constexpr loop_schedule window_automatic{loop_schedule::kind::window_automatic, 0};

}  // namespace schedule
}  // namespace heddle
