/// How the iterations of a parallel loop are shared out, for programs that know better than heddle does.
#pragma once

#include <cstddef>

namespace heddle {

/// One of those in heddle::schedule. The default is adaptive.
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
  std::size_t chunk{0};  ///< iterations; of a window: its length

  friend constexpr bool operator==(const loop_schedule&, const loop_schedule&) noexcept = default;
};

/// The names that OpenMP's schedules have, where a loop has them, and windows for a shared cache. All but adaptive make
/// a *seat* for each worker of the runtime, which the scheduling policy hands out as it does the pieces of any loop;
/// whoever has a seat runs its chunks, one after the other, and an iteration may wait for any that is not behind it on
/// its seat. With a window an iteration may wait for those before it in the range, and for no others.
namespace schedule {

/// Ranges are cut when somebody asks for a part, into chunks of 2 to 4 us, or by loop_options::grain.
inline constexpr loop_schedule adaptive{};
/// Seat s of S has the chunks s, s + S, s + 2S, ...; without `chunk` one contiguous part, all of them equal but for one
/// iteration. OpenMP's `static`, which is a word of C++.
constexpr loop_schedule fixed(std::size_t chunk = 0) noexcept { return {loop_schedule::kind::fixed, chunk}; }
/// Whoever is done takes the next `chunk` iterations, in order: an atomic addition a chunk.
constexpr loop_schedule dynamic(std::size_t chunk = 1) noexcept { return {loop_schedule::kind::dynamic, chunk}; }
/// As dynamic, but a chunk is what is left over twice the number of seats, and `least` at least. Source: guided
/// self-scheduling (Polychronopoulos, Kuck, IEEE Transactions on Computers 36(12), 1987), with half its chunks.
constexpr loop_schedule guided(std::size_t least = 1) noexcept { return {loop_schedule::kind::guided, least}; }
/// Contiguous parts as by fixed(), the k-th of which runs on the k-th worker, in each loop: what it finds in that one's
/// caches, and in the memory of its node, is what the loop before has left there. Nobody takes a part from a worker
/// that is busy with something else. Source: affinity scheduling without its stealing (Markatos, LeBlanc, IEEE
/// Transactions on Parallel and Distributed Systems 5(4), 1994).
inline constexpr loop_schedule affinity{loop_schedule::kind::affinity, 0};

/// How the iterations of a window are shared: by work stealing; or in equal parts, one for each worker, each part
/// always on the same worker, with a barrier behind each window.
enum class window_sharing : unsigned char { stealing, barrier };
/// The range is cut into windows of `length` iterations, one after the other: none begins before the one before it has
/// ended. So workers that share a cache are never farther apart than that. Where the workers of a runtime have several
/// shared caches, the range is first divided among these, and each has windows of its own. Source: StaticWindow
/// (Tchiboukdjian, Danjean, Gautier, Le Mentec, Raffin, HPPC 2010).
constexpr loop_schedule window(std::size_t length, window_sharing how = window_sharing::stealing) noexcept {
  return {how == window_sharing::barrier ? loop_schedule::kind::window_barrier : loop_schedule::kind::window, length};
}
/// A window that moves on with the first iteration that has not ended: what runs at any moment lies within `length`
/// iterations, and nobody waits for a window's end. Caches as with window(). Source: SlidingWindow, as above.
constexpr loop_schedule sliding_window(std::size_t length) noexcept {
  return {loop_schedule::kind::sliding_window, length};
}
/// A sliding window whose length heddle chooses, or adaptive where a window would gain nothing: where workers share no
/// cache, where all data fit the shared one, or where nothing is known of the memory that an iteration touches
/// (loop_options::bytes_per_iteration; elements of a range have a size; of a program that tells its accesses, by
/// <heddle/cost.hpp>, every 64th loop is listened to, the first one included).
inline constexpr loop_schedule window_automatic{loop_schedule::kind::window_automatic, 0};

}  // namespace schedule
}  // namespace heddle
