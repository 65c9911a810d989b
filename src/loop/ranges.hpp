// Loops whose parts may run in any order, shared while they run. Each worker that takes part has a range, which is a
// part of the loop. A worker that has nothing left takes from the back of another range. Protocol and argument:
// ranges.md. Sources: ranges that begin with equal parts and are robbed are the static stealing of LLVM's OpenMP
// runtime. A worker gets the same part in each loop, as in the affinity partitioner of TBB (Robison, Voss, Kukanov,
// IPDPS 2008).
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

#include "fiber/preemptible.hpp"
#include "loop/open_range.hpp"

namespace heddle::detail {

// The length of a batch in a range.
class range_pace : public loop_pace {
 public:
  // `parts` is the number of parts into which the loop was divided at first. The halves of a part are batches if they
  // take no longer than other batches, because each worker has its own part.
  range_pace(const loop_site& site, std::size_t n, unsigned workers, unsigned parts) noexcept
      : loop_pace(site, n, true),
        part_(workers == 2 ? 4 : 8),
        most_(n < few ? 1 : n),
        least_(site.is_uneven()
                   ? 1
                   : std::max({std::min(site.iterations_in(least_nanoseconds), n),
                               parts == 1 ? 0 : std::min(n / parts / 2, site.iterations_in(batch_nanoseconds)),
                               std::size_t{1}})) {}

  // The most iterations that are worth no more than a batch.
  std::size_t least() const noexcept { return least_; }
  // The length of the next batch with `left` iterations in the range. It is never 0. In short loops it is one, because
  // iterations may wait for each other.
  std::size_t next(std::size_t left) const noexcept {
    return std::min(most_, std::min(2 * length(), std::max(left / part_, least_)));
  }

 private:
  static constexpr std::uint64_t least_nanoseconds = 500, batch_nanoseconds = loop_site::batch_nanoseconds;
  const std::size_t part_, most_, least_;
};

class loop_ranges {
 public:
  // Must be called on a worker of a runtime of `workers`. `measure`: the loop's batches tell the site where its work
  // lies.
  loop_ranges(loop_chunks work, std::size_t n, loop_site& site, const std::stop_token& stop, unsigned workers,
              bool measure) noexcept;
  // Throws the exception of an iteration.
  void run();

  // For traces: returns the body of the loop in which the job, whose code is `code`, takes part. Null if it is no job
  // of such a loop.
  static const loop_chunks* work_of(const job* one, job::code code) noexcept {
    return code == &offer::execute ? &static_cast<const offer*>(one)->loop->work_ : nullptr;
  }

 private:
  struct alignas(64) range : open_range {
    std::atomic<unsigned> worker{0};  // the worker that had it last, or that is to have it; a hint
    std::uint64_t length() const noexcept {
      const std::uint64_t word = seen();
      return high_of(word) - low_of(word);
    }
  };

  struct part {
    std::uint64_t low = 0, high = 0;  // positions
  };

  // A place in the loop, in the queue of the thread that offers it. A thread that takes it becomes a helper. Each has a
  // cache line of its own, because helpers end at about the same time.
  struct alignas(64) offer : job {
    offer() noexcept : job(&offer::execute) {}
    static void execute(job* self) noexcept;
    loop_ranges* loop{nullptr};
    ticket position{nullptr};
  };
  // The offers of one thread that takes part. The destructor returns after all that were taken have ended.
  class offers {
   public:
    explicit offers(loop_ranges& loop) noexcept : loop_(loop) {}
    ~offers();
    offers(const offers&) = delete;
    offers& operator=(const offers&) = delete;
    // Makes the caller's first offers: one for each of `parts` but the caller's own, shown at once; or a few, if the
    // loop is one part.
    void begin(unsigned parts) noexcept;
    // [range:5] Called by a helper once it has found something to run; `left` iterations are in its range.
    void go_on(std::size_t left) noexcept;
    // [range:4] Answers a worker that asks for work.
    void look() noexcept;

   private:
    offer& next() noexcept;  // constructed in place, to be offered
    void make() noexcept;
    void make_unannounced() noexcept;
    static bool take_back(offer& one) noexcept;
    bool wait_for_helpers() noexcept;

    static constexpr unsigned at_first = 3, spare = 1, most = 16;  // more helpers come in a tree
    loop_ranges& loop_;
    // Of the offers made, number in_queue_ - 1 is the last that is thought to be in the queue.
    unsigned count_{0}, in_queue_{0};
    alignas(offer) std::byte all_[most * sizeof(offer)];  // count_ of them exist
    offer& at(unsigned k) noexcept { return reinterpret_cast<offer*>(all_)[k]; }
  };

  // While it exists, the calling thread is a member of the loop, and counts in preempted_ while its time slice has
  // ended. Of a thread that is not preemptive this does nothing.
  class membership {
   public:
    explicit membership(loop_ranges& loop) noexcept;
    ~membership();
    membership(const membership&) = delete;
    membership& operator=(const membership&) = delete;

   private:
    fiber::preemptible* const self_;
    std::atomic<unsigned>* const outer_;  // the counter of the enclosing loop, or null
  };

  void take_part(bool is_caller) noexcept;
  // [range:9] Called by a helper that has taken an offer: lets members go first that are ready.
  void let_members_go_first() noexcept;
  std::uint64_t progress() const noexcept;
  void run_range(range& mine, range_pace& pace, offers& made);
  std::uint64_t positions() const noexcept { return (n_ - 1) / unit_ + 1; }
  // The number of parts into which the loop is divided at first.
  unsigned parts_at_first() const noexcept;
  // Gives ranges [first, first + parts) parts of the positions [low, high).
  void divide(std::uint64_t low, std::uint64_t high, unsigned first, unsigned parts) noexcept;
  // the worker's range, in each loop alike
  unsigned range_for(unsigned worker) const noexcept { return worker * parts_ / workers_; }
  // [range:2] Finds something for an empty range, and a batch of it to begin with. Returns false if every iteration has
  // begun, or the loop is stopped.
  bool find(range& mine, range_pace& pace, offers& made, part& batch) noexcept;
  // The nearest range with at least `least` positions; among equally near ones the range with the most. Null if there
  // is none.
  range* victim(unsigned worker, std::uint64_t least, std::uint64_t& seen) noexcept;
  bool rob(range& from, std::uint64_t seen, range& mine, unsigned worker, const range_pace& pace, part& batch) noexcept;
  // For a helper for which there is no range: runs a batch at a time.
  void run_without_range(range_pace& pace, offers& made);
  std::uint64_t batch_of(std::uint64_t left, const range_pace& pace) const noexcept;
  // Runs the positions of `batch`. If the loop is stopped it may leave some of their iterations out.
  void run_batch(part batch, range_pace& pace);
  // Runs [first, last), which is a batch.
  void run_iterations(std::size_t first, std::size_t last, range_pace& pace);
  // The position where [low, high) is divided; low if it is a single position.
  std::uint64_t middle(std::uint64_t low, std::uint64_t high) const noexcept;
  range* claim(unsigned worker) noexcept;
  void leave(range& mine) noexcept;
  // [range:8] False if a helper for so many iterations would come for nothing.
  bool is_worth_sharing(std::size_t iterations) const noexcept;
  bool stopped() const noexcept;
  void fail() noexcept;

  static constexpr unsigned ranges_inside = 4, most_ranges = 64;

  const loop_chunks work_;
  const std::size_t n_, unit_;  // the iterations of the loop; those of a position
  loop_site& site_;
  const std::stop_token& stop_;
  const unsigned workers_;
  const bool measure_, stoppable_, skewed_;
  unsigned range_count_{ranges_inside};
  unsigned parts_{1};  // the ranges that have something at first; written before any place is offered
  std::array<range, ranges_inside> inside_;
  std::unique_ptr<range[]> outside_;  // used if inside_ has too few
  range* ranges_{inside_.data()};
  loop_profile profile_;
  alignas(64) std::atomic<std::uint64_t> claimed_{0};  // one bit for each range
  // [range:3] {moves that have ended:48, under way:16}
  alignas(64) std::atomic<std::uint64_t> moves_{0};
  std::atomic<unsigned> preempted_{0};      // the members whose time slices have ended, and that are ready; a hint
  std::atomic<unsigned> without_range_{0};  // the members for which there is no range; a hint
  std::atomic<bool> stopped_{false}, failed_{false};
  std::exception_ptr error_;  // the exception of the thread that has raised failed_
};

// For the calling worker's runtime: how many workers look for work, and whether more kernel threads compute than there
// are processors.
struct loop_load {
  unsigned searchers;
  bool crowded;
};
loop_load loop_load_now() noexcept;
// True if a thread is ready at the calling worker. A hint.
bool loop_has_ready_beside() noexcept;
// Shows up to `most` of the oldest entries of the caller's queue. If they may be many, searching workers are told
// where.
void loop_show(unsigned most) noexcept;
// Ends that for `worker`: the policy has to find the entries that the worker queues later.
void loop_end_showing(unsigned worker) noexcept;
// True if no worker sleeps, or if a worker searches that will find an entry which is queued and not shown.
bool loop_may_be_unannounced() noexcept;
// The distance between two workers; and a note that the caller has taken something from `victim`.
unsigned loop_distance(unsigned worker, unsigned other) noexcept;
void loop_note_steal(unsigned victim) noexcept;

}  // namespace heddle::detail
