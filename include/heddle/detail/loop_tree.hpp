// The engine of loops and reductions: a range is halved, the upper half offered to thieves from the caller's stack, the
// lower half run; what nobody took is run in place. Protocol and invariants: src/loop/README.md.
// Source: lazy binary splitting (Tzannes et al., PPoPP 2010) and tasks made when somebody asks for them (Tchiboukdjian et
// al., XKaapi), over a queue that shows work to thieves only on request; the memory of call sites is our own.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <memory>
#include <new>
#include <stop_token>
#include <type_traits>
#include <utility>

#include <heddle/detail/fork_queue.hpp>
#include <heddle/detail/foreign.hpp>
#include <heddle/detail/loop_site.hpp>
#include <heddle/export.hpp>
#include <heddle/parallel_invoke.hpp>

namespace heddle::detail {

// Workers of the calling runtime; sets loop_ticks_per_microsecond. `measure`: one call in eight, a turn at the clock costs
// as much as ten forks.
struct loop_start {
  unsigned workers;
  bool measure;
};
HEDDLE_API loop_start loop_begin() noexcept;

// After an entry was queued without answering requests. `watched`: a worker is awake that will find it, by force if need be.
struct loop_quiet {
  bool watched;
  bool measure;
};
HEDDLE_API loop_quiet loop_begin_quietly() noexcept;
// The next loop on this worker is measured.
HEDDLE_API void loop_measure_next() noexcept;

// Waits a moment, spinning, for the job to end: a part of a loop that a thief took is about as long as the caller's own.
// Returns for how many ticks; 0: it had ended before.
HEDDLE_API std::uint64_t loop_spin(const job& work) noexcept;

// push without a look at requests: only a steal by force takes the entry. Null: the queue is full.
HEDDLE_API ticket push_quietly_slow(fork_queue* queue, entry item) noexcept;
[[gnu::always_inline]] inline ticket push_quietly(entry item) noexcept {
  fork_queue* queue = current_queue();
  slot* position = queue->bottom.load(std::memory_order_relaxed);  // owner's own variable
  if (position >= queue->end) [[unlikely]] return push_quietly_slow(queue, item);
  position->store(item, std::memory_order_relaxed);               // published by the store below
  queue->bottom.store(position + 1, std::memory_order_release);   // pairs with force_steal: the slot and the job's fields
  return position;
}

inline bool on_foreign_thread() noexcept { return current_queue() == nullptr; }

// Where [low, high) is halved: depends on high - low and the grain alone. Long ranges are cut at a multiple of 16 from
// their start, so that neighbours seldom share a cache line and vector loops have no ragged ends.
constexpr std::size_t loop_middle(std::size_t low, std::size_t high, std::size_t grain) noexcept {
  std::size_t half = (high - low) / 2;
  if (half >= 64 && half - 16 >= grain) half = (half + 8) & ~std::size_t{15};
  return low + half;
}

inline constexpr std::uint64_t worthwhile_nanoseconds = 2000;  // a piece this long is worth a steal

// `Work` has: `result`; result operator()(low, high), a chunk; result combine(result, result), of neighbours in order;
// result nothing(), the value of a chunk that was dropped.
template <class Work>
class loop_tree {
 public:
  using result = typename Work::result;

  loop_tree(Work& work, loop_site& site, std::size_t grain, bool fixed, const std::stop_token& stop, std::size_t bytes) noexcept
      : work_(work), site_(site), grain_(grain), fixed_(fixed), stop_(stop), stoppable_(stop.stop_possible()), bytes_(bytes) {}

  // Runs [0, n), n > 0. On a worker.
  result run(std::size_t n) {
    if (n / 2 < std::max(grain_, std::size_t{1})) return plain(0, n);
    if (site_.is_tiny(n)) return quietly(n);
    const loop_start start = loop_begin();
    measure_ = start.measure || !site_.is_known();
    const std::size_t grain = grain_for(n, start.workers);
    std::size_t middle = loop_middle(0, n, grain);
    const bool pair = start.workers == 2 && grain_ == 0;
    if (pair) {
      const std::size_t more = site_.head_start(n);
      middle += more;
      head_start_ = more != 0;
    }
    const result_holder r{split_at(0, middle, n, grain, pair)};
    if (site_.is_tiny_size(n)) site_.trust();
    return r.take();
  }

 private:
  // Keeps a result over the call that follows it, without a move when there is none to keep.
  struct result_holder {
    mutable result value;
    result take() const { return std::move(value); }
  };

  // The upper half of a range, on the stack of whoever split it.
  struct piece : job {
    piece(loop_tree& of, std::size_t from, std::size_t to, std::size_t least) noexcept
        : job(&piece::execute), tree(&of), low(from), high(to), grain(least) {}
    ~piece() {}

    static void execute(job* self) noexcept {
      auto& p = *static_cast<piece*>(self);
      std::uintptr_t status = job_done;
      try {
        ::new (static_cast<void*>(&p.value)) result(p.tree->split(p.low, p.high, p.tree->regrain(p.grain, p.high - p.low)));
      } catch (...) {
        p.tree->cancelled_.store(true, std::memory_order_relaxed);  // a request, ordered by nothing
        ::new (static_cast<void*>(&p.error)) std::exception_ptr(std::current_exception());
        status = job_failed;
      }
      complete_job(p, status);
    }

    // Somebody else has it, or nobody ever will because the queue was full.
    [[gnu::noinline]] result join() {
      const join_noted at_end{*this};
      join_outcome outcome = join_outcome::run_here;
      if (position != nullptr && !was_taken_back(*this)) {
        const std::uint64_t waited = loop_spin(*this);
        if (whole) tree->site_.learn_lateness(high, waited, tree->head_start_);
        outcome = join_slow(*this, position);
      }
      if (outcome == join_outcome::run_here) return tree->split(low, high, grain);
      if (outcome == join_outcome::failed) {
        const std::exception_ptr thrown = std::move(error);
        std::destroy_at(&error);
        std::rethrow_exception(thrown);
      }
      struct destroyer {
        result& r;
        ~destroyer() { std::destroy_at(&r); }
      } destroy{value};
      return std::move(value);
    }

    void abandon() noexcept {
      tree->cancelled_.store(true, std::memory_order_relaxed);  // a request, ordered by nothing
      if (position == nullptr || pop(entry_of(this), position)) return;
      const join_outcome outcome = join_slow(*this, position);
      if (outcome == join_outcome::done) std::destroy_at(&value);
      if (outcome == join_outcome::failed) std::destroy_at(&error);
    }

    loop_tree* tree;
    std::size_t low, high, grain;
    bool whole{false};               // the upper part of the whole loop, whose only other part is its owner's
    ticket position;
    union {                          // alive only when another worker ran the piece
      result value;
      std::exception_ptr error;
    };
  };

  // The lower half threw: the piece must outlive whoever runs it.
  struct guard {
    piece* of;
    ~guard() {
      if (of != nullptr) of->abandon();
    }
  };

  result split(std::size_t low, std::size_t high, std::size_t grain) {
    if ((high - low) / 2 < grain) return low == 0 && measure_ ? timed(high) : plain(low, high);
    return split_at(low, loop_middle(low, high, grain), high, grain, false);
  }

  [[gnu::always_inline]] result split_at(std::size_t low, std::size_t middle, std::size_t high, std::size_t grain, bool whole) {
    piece upper(*this, middle, high, grain);
    upper.whole = whole;
    upper.position = push_fork(entry_of(&upper), static_cast<double>(middle - low), static_cast<double>(high - middle), (high - low) * bytes_);
    guard unwind{&upper};
    result_holder first{split(low, middle, grain)};
    unwind.of = nullptr;
    if (pop(entry_of(&upper), upper.position)) [[likely]] return work_.combine(first.take(), split(middle, high, grain));
    return work_.combine(first.take(), upper.join());
  }

  // A loop that is over before a thief could help. The upper half is queued all the same: should a body wait for another
  // one, or this one take longer than it ever did, thieves find it.
  result quietly(std::size_t n) {
    const std::size_t middle = loop_middle(0, n, grain_);
    piece upper(*this, middle, n, grain_ != 0 ? grain_ : n);
    upper.position = push_quietly(entry_of(&upper));
    const loop_quiet begun = loop_begin_quietly();
    if (!begun.watched && upper.position != nullptr && pop(entry_of(&upper), upper.position)) [[unlikely]] {
      upper.position = push(entry_of(&upper));  // all others sleep: this wakes one
    }
    if (begun.measure) [[unlikely]] return finish_measured(upper);
    guard unwind{&upper};
    result_holder first{unshared(0, middle)};
    unwind.of = nullptr;
    if (upper.position == nullptr || pop(entry_of(&upper), upper.position)) [[likely]] {
      return work_.combine(first.take(), unshared(middle, n));
    }
    loop_measure_next();
    return work_.combine(first.take(), upper.join());
  }

  [[gnu::noinline]] result finish_measured(piece& upper) {
    guard unwind{&upper};
    const std::uint64_t start = loop_ticks();
    result_holder first{unshared(0, upper.low)};
    const std::uint64_t ticks = loop_ticks() - start;
    unwind.of = nullptr;
    const bool mine = upper.position == nullptr || pop(entry_of(&upper), upper.position);
    site_.observe(upper.low, ticks);
    site_.forget_lateness();
    if (mine) {
      const std::size_t grain = loop_site::is_long(ticks) ? grain_for(upper.high - upper.low, loop_begin().workers) : upper.grain;
      return work_.combine(first.take(), split(upper.low, upper.high, grain));
    }
    if (loop_site::is_long(ticks)) site_.misjudged();
    return work_.combine(first.take(), upper.join());
  }

  [[gnu::always_inline]] result plain(std::size_t low, std::size_t high) {
    if (stopped()) [[unlikely]] return work_.nothing();
    return work_(low, high);
  }

  // What split would compute, with nothing offered to thieves.
  result unshared(std::size_t low, std::size_t high) {
    if (grain_ == 0 || (high - low) / 2 < grain_) return plain(low, high);
    const std::size_t middle = loop_middle(low, high, grain_);
    result_holder first{unshared(low, middle)};
    return work_.combine(first.take(), unshared(middle, high));
  }

  result timed(std::size_t n) {
    const std::uint64_t start = loop_ticks();
    const result_holder r{plain(0, n)};
    site_.observe(n, loop_ticks() - start);
    return r.take();
  }

  bool stopped() const noexcept {
    // relaxed: a request, ordered by nothing
    return cancelled_.load(std::memory_order_relaxed) || (stoppable_ && stop_.stop_requested());
  }

  // Small enough that the last pieces balance, and not so small that a steal costs more than it saves; but always two
  // pieces, which may wait for each other.
  std::size_t grain_for(std::size_t n, unsigned workers) const noexcept {
    if (grain_ != 0) return grain_;
    if (n < 16) return 1;
    constexpr std::size_t pieces_per_worker = 8;
    return std::max({n / (pieces_per_worker * workers), std::min(site_.iterations_in(worthwhile_nanoseconds), n / 2), std::size_t{1}});
  }
  // A thief cuts what it took anew: others are hungry, too.
  std::size_t regrain(std::size_t grain, std::size_t n) noexcept {
    if (fixed_ || grain == 1 || grain_ != 0) return grain;
    return std::min(grain, grain_for(n, loop_begin().workers));
  }

  Work& work_;
  loop_site& site_;
  const std::size_t grain_;
  const bool fixed_;                 // the tree depends on n and the grain alone
  bool measure_{false};              // the first chunk is timed; both written before the first split
  bool head_start_{false};
  std::atomic<bool> cancelled_{false};  // set by any worker that runs a part
  const std::stop_token& stop_;
  const bool stoppable_;
  const std::size_t bytes_;          // an iteration touches so many; 0: not known
};

// Runs work over [0, n) from any thread; n > 0.
template <class Work>
typename Work::result run_loop(Work& work, std::size_t n, loop_site& site, std::size_t grain, bool fixed, const std::stop_token& stop,
                               std::size_t bytes = 0) {
  if (on_foreign_thread()) [[unlikely]] {
    return run_in_runtime([&]() -> typename Work::result { return run_loop(work, n, site, grain, fixed, stop, bytes); });
  }
  loop_tree<Work> tree(work, site, grain, fixed, stop, bytes);
  return tree.run(n);
}

}  // namespace heddle::detail
