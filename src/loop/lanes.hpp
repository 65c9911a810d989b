// Loops whose parts may run in any order, shared while they run: each worker that takes part has a lane, a part of the
// range, and whoever has nothing left takes from the back of another one's. Protocol and argument: lanes.md.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <stop_token>

#include <heddle/detail/loop_named.hpp>
#include <heddle/detail/loop_pace.hpp>
#include <heddle/detail/loop_profile.hpp>
#include <heddle/parallel_invoke.hpp>

#include "loop/window_seat.hpp"

namespace heddle::detail {

// How long a batch is in a lane.
class lane_pace : public loop_pace {
 public:
  lane_pace(const loop_site& site, std::size_t n, unsigned workers) noexcept
      : loop_pace(site, n, true),
        part_(workers == 2 ? 4 : 8),
        most_(n < few ? 1 : n),
        least_(site.is_uneven() ? 1 : std::max(std::min(site.iterations_in(least_nanoseconds), n), std::size_t{1})) {}

  // What is not worth more than a batch.
  std::size_t least() const noexcept { return least_; }
  // With `left` iterations in the lane. Never 0. In short loops it is one: iterations may wait for each other.
  std::size_t next(std::size_t left) const noexcept {
    return std::min(most_, std::min(2 * length(), std::max(left / part_, least_)));
  }

 private:
  static constexpr std::uint64_t least_nanoseconds = 500;
  const std::size_t part_, most_, least_;
};

class loop_lanes {
 public:
  // On a worker, of a runtime of `workers`. `measure`: the loop's batches tell the site where its work lies.
  loop_lanes(loop_chunks work, std::size_t n, loop_site& site, const std::stop_token& stop, unsigned workers,
             bool measure) noexcept;
  // Throws what an iteration throws.
  void run();

 private:
  struct alignas(64) lane : open_range {
    std::atomic<unsigned> worker{0};  // that had it last; a hint
  };

  struct part {
    std::uint64_t low = 0, high = 0;  // positions
  };

  // A place in the loop, in the queue of whoever offers it. Who takes it becomes a guest.
  struct invitation : job {
    invitation() noexcept : job(&invitation::execute) {}
    static void execute(job* self) noexcept;
    loop_lanes* loop{nullptr};
    ticket position{nullptr};
  };
  // The invitations of one who takes part. All that were taken have ended when it is gone.
  class invitations {
   public:
    explicit invitations(loop_lanes& loop) noexcept;
    ~invitations();
    // [lane:4] Answers a worker that asks for work.
    void look() noexcept;

   private:
    void offer(invitation& one) noexcept;
    static bool take_back(invitation& one) noexcept;

    static constexpr unsigned at_first = 3, most = 4;  // so that guests come in a tree
    loop_lanes& loop_;
    unsigned made_{0}, in_queue_{0};  // of those made the last that is thought to be there is number in_queue_ - 1
    std::array<invitation, most> all_;
  };

  void take_part(bool is_host) noexcept;
  void run_lane(lane& mine, lane_pace& pace, invitations& invited);
  // [lane:2] Something for an empty lane, and a batch of it to begin with. False: every iteration has begun, or the
  // loop is stopped.
  bool find(lane& mine, lane_pace& pace, invitations& invited, part& batch) noexcept;
  // The nearest lane with at least `least` positions, of these the one with the most; null: there is none.
  lane* victim(unsigned worker, std::uint64_t least, std::uint64_t& seen) noexcept;
  bool rob(lane& from, std::uint64_t seen, lane& mine, unsigned worker, const lane_pace& pace, part& batch) noexcept;
  // Of a guest for whom there is no lane: a batch at a time.
  void run_without_lane(lane_pace& pace, invitations& invited);
  std::uint64_t batch_of(std::uint64_t left, const lane_pace& pace) const noexcept;
  void run_batch(part batch, lane_pace& pace);
  // Where positions [low, high) are divided; low, if there is one.
  std::uint64_t middle(std::uint64_t low, std::uint64_t high) const noexcept;
  lane* claim() noexcept;
  void leave(lane& mine) noexcept;
  bool stopped() const noexcept;
  void fail() noexcept;

  static constexpr unsigned lanes_inside = 4, most_lanes = 64;

  const loop_chunks work_;
  const std::size_t n_, unit_;  // iterations; and those of a position
  loop_site& site_;
  const std::stop_token& stop_;
  const unsigned workers_;
  const bool measure_, stoppable_, skewed_;
  unsigned lane_count_{lanes_inside};
  std::array<lane, lanes_inside> inside_;
  std::unique_ptr<lane[]> outside_;  // where these are too few
  lane* lanes_{inside_.data()};
  loop_profile profile_;
  alignas(64) std::atomic<std::uint64_t> claimed_{0};  // a bit for each lane
  // [lane:3] {moves that have ended:48, under way:16}
  alignas(64) std::atomic<std::uint64_t> moves_{0};
  std::atomic<bool> stopped_{false}, failed_{false};
  std::exception_ptr error_;  // of whoever has raised failed_
};

// Of the runtime, on a worker. What is between two workers; and that the caller has taken something of `victim`.
unsigned loop_distance(unsigned worker, unsigned other) noexcept;
void loop_note_steal(unsigned victim) noexcept;

}  // namespace heddle::detail
