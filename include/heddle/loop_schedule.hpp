/// How the iterations of a parallel loop are shared out, for programs that know better than heddle does.
#pragma once

#include <cstddef>

namespace heddle {

/// One of those in heddle::schedule. The default is adaptive.
struct loop_schedule {
  enum class kind : unsigned char { adaptive, fixed, dynamic, guided, affinity };
  kind how{kind::adaptive};
  std::size_t chunk{0};  ///< iterations

  friend constexpr bool operator==(const loop_schedule&, const loop_schedule&) noexcept = default;
};

/// The names that OpenMP's schedules have, where a loop has them. All but adaptive make a *seat* for each worker of the
/// runtime, which the scheduling policy hands out as it does the pieces of any loop; whoever has a seat runs its
/// chunks, one after the other, and an iteration may wait for any that is not behind it on its seat.
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

}  // namespace schedule
}  // namespace heddle
