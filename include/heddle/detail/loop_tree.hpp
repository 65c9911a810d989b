// The engine of loops and reductions. A range is halved. Its upper half lies on the caller's stack and is offered to
// thieves while the lower half is run. An upper half that no thief took is run in place. Protocol and invariants:
// src/loop/README.md. Source: lazy binary splitting (Tzannes et al., PPoPP 2010) and tasks made on demand
// (Tchiboukdjian et al., XKaapi), over a queue that shows work to thieves only on request. The memory of call sites is
// our own.
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

#include <heddle/detail/foreign.hpp>
#include <heddle/detail/fork_queue.hpp>
#include <heddle/detail/loop_named.hpp>
#include <heddle/detail/loop_pace.hpp>
#include <heddle/detail/loop_profile.hpp>
#include <heddle/detail/loop_runtime.hpp>
#include <heddle/detail/loop_site.hpp>
#include <heddle/export.hpp>
#include <heddle/parallel_invoke.hpp>

namespace heddle::detail {

// Returns where [low, high) is halved, which depends on high - low and the grain alone. Long ranges are cut at a
// multiple of 16 from their start, so that neighbours seldom share a cache line and vector loops have no ragged ends.
constexpr std::size_t loop_middle(std::size_t low, std::size_t high, std::size_t grain) noexcept {
  std::size_t half = (high - low) / 2;
  if (half >= 64 && half - 16 >= grain) half = (half + 8) & ~std::size_t{15};
  return low + half;
}

inline constexpr std::uint64_t long_leaf_nanoseconds = 1000;   // a look at the clock costs a hundredth of it
inline constexpr std::uint64_t worthwhile_nanoseconds = 2000;  // the least length of a piece that is worth a steal

// `Work` has a type `result` and three functions. result nothing() is the value of no iterations. void
// operator()(result& sum, low, high) adds a chunk to the sum of the iterations on its left. result combine(result,
// result) is the sum of two neighbours, in order.
template <class Work>
class loop_tree {
 public:
  using result = typename Work::result;

  loop_tree(Work& work, loop_site& site, std::size_t grain, const std::stop_token& stop, std::size_t bytes) noexcept
      : work_(work), site_(site), grain_(grain), stop_(stop), stoppable_(stop.stop_possible()), bytes_(bytes) {}

  // Runs [0, n), n > 0. `direct` is what the Work calls, or the Work itself; loops that are over before a thief could
  // help are compiled around it. Must be called on a worker.
  template <class Direct>
  result run(std::size_t n, Direct& direct) {
    if (n / 2 < std::max(grain_, std::size_t{1})) return plain(0, n, direct);
    n_ = n;
    return site_.is_inline(n) ? unannounced(n, direct) : openly(n);
  }

  // For traces: returns the Work of the loop in which the job, whose code is `code`, takes part. Null if it is no job
  // of such a loop.
  static const Work* work_of(const job* one, job::code code) noexcept {
    return code == &piece::execute ? &static_cast<const piece*>(one)->tree->work_ : nullptr;
  }

 private:
  result openly(std::size_t n);

  // Keeps a result during the call that follows. A loop without results keeps nothing, at no cost.
  struct result_holder {
    mutable result value;
    result take() const { return std::move(value); }
  };

  // A part of a range that thieves may take. Its owner runs the part to its left.
  struct piece : second_half<result> {
    using second_half<result>::position;

    piece(loop_tree& of, std::size_t from, std::size_t to, std::size_t least) noexcept
        : second_half<result>(&piece::execute), tree(&of), low(from), high(to), grain(least) {}

    static void execute(job* self) noexcept;
    result run();

    // Returns true if the piece is its owner's again, or was never queued.
    [[gnu::always_inline]] bool regain() noexcept {
      const popped got = pop(entry_of(this), position);
      if (got == popped::mine) [[likely]]
        return true;
      return regain_slowly(got);
    }
    [[gnu::noinline]] bool regain_slowly(popped got) noexcept;

    // Waits for a piece that another worker has.
    [[gnu::noinline]] result join();
    [[gnu::noinline]] void abandon() noexcept {
      tree->cancelled_.store(true, std::memory_order_relaxed);  // relaxed: a request, ordered by nothing
      this->drop();
    }

    loop_tree* tree;
    std::size_t low, high, grain;  // grain 0 means: run in batches
    // True for the upper of the two parts of a whole loop; the piece's owner runs the lower one.
    bool whole{false};
  };

  // Waits for a piece when the code to its left throws, because the piece must exist until the worker that runs it has
  // ended.
  struct guard {
    piece* of;
    ~guard() {
      if (of != nullptr) of->abandon();
    }
  };

  // [loop:5] The upper half is offered whatever the site remembers, so that two iterations that wait for each other can
  // meet.
  void share(result& sum, std::size_t n, bool pair) {
    skewed_ = !site_.grid().is_even();
    if (skewed_ || measure_) [[unlikely]]
      profile_.begin(site_.grid(), n);
    std::size_t middle = halve(0, n);
    if (pair && !skewed_) {
      // [loop:4] the head start is a hint, so each half must keep something
      head_start_ = std::min(site_.head_start(n), n - middle - 1);
      middle += head_start_;
    }
    piece upper(*this, middle, n, 0);
    upper.whole = pair;
    if (site_.is_uneven()) loop_show_next();
    upper.position = push_fork(entry_of(&upper));
    guard unwind{&upper};
    loop_pace pace(site_, n_, measure_, in_halves_);
    range(sum, 0, middle, middle, pace);
    unwind.of = nullptr;
    if (pace.is_clocked()) site_.observe(pace.done(), pace.cycles());
    if (upper.regain()) [[likely]] {
      range(sum, middle, n, n, pace);
    } else {
      sum = work_.combine(std::move(sum), upper.join());
    }
    if (measure_ && site_.grid().learn(profile_)) [[unlikely]]
      loop_measure_next();
  }

  // [site:4] Returns the border of two parts that are expected to take equally long. A short range is halved by length,
  // because its work lies evenly enough and a long loop has many short ranges.
  std::size_t halve(std::size_t low, std::size_t high) const noexcept {
    constexpr std::size_t parts_of_a_loop = 64;
    if (skewed_ && high - low > n_ / parts_of_a_loop) [[unlikely]]
      return profile_.middle(low, high);
    return loop_middle(low, high, 1);
  }

  // [loop:6] Runs [low, high), a part of a range that ends at `end`, by halving until a part is no longer than a batch.
  void range(result& sum, std::size_t low, std::size_t high, std::size_t end, loop_pace& pace) {
    while (!pace.is_block(high - low, end - low)) {
      if (stopped()) [[unlikely]]
        return;
      const std::size_t middle = halve(low, high);
      piece upper(*this, middle, high, 0);
      upper.position = push_fork(entry_of(&upper));
      guard unwind{&upper};
      range(sum, low, middle, end, pace);
      unwind.of = nullptr;
      if (!upper.regain()) [[unlikely]] {
        sum = work_.combine(std::move(sum), upper.join());
        return pace.skip();
      }
      low = middle;
    }
    if (stopped()) [[unlikely]]
      return;
    work_(sum, low, high);
    if (const std::uint64_t took = pace.passed(high - low); took != 0) [[unlikely]]
      site_.surprise(low, high, n_, took);
    if (measure_) profile_.add(low, high, pace.batch());
    if (pace.is_clocked() && is_time_to_serve(pace.now())) [[unlikely]] {
      serve_what_waits();
      pace.skip();
    }
  }

  // Runs loops with a given grain, and forks that a policy places, by halves. Their tree depends on n and the grain
  // alone.
  result split(std::size_t low, std::size_t high, std::size_t grain) {
    if ((high - low) / 2 < grain) {
      if (low == 0 && measure_) return timed(high, grain);
      if (looks_after_leaves_.load(std::memory_order_relaxed)) return looked_after(low, high);  // a hint
      return plain(low, high, work_);
    }
    // The leaves of a loop that is stopped need not be visited one by one.
    constexpr std::size_t many_leaves = 64;
    if ((high - low) / many_leaves >= grain && stopped()) [[unlikely]]
      return work_.nothing();
    const std::size_t middle = loop_middle(low, high, grain);
    piece upper(*this, middle, high, grain);
    upper.position = push_fork(entry_of(&upper), static_cast<double>(middle - low), static_cast<double>(high - middle),
                               (high - low) * bytes_);
    guard unwind{&upper};
    result_holder first{split(low, middle, grain)};
    unwind.of = nullptr;
    const popped got = pop(entry_of(&upper), upper.position);
    if (got == popped::mine) [[likely]]
      return work_.combine(first.take(), split(middle, high, grain));
    return work_.combine(first.take(), after(upper, got));
  }
  // Finishes a piece whose pop did not say that it is the caller's alone.
  [[gnu::noinline]] result after(piece& upper, popped got);

  // [inline:1] Runs a loop that is over before a thief could help. The upper half is queued all the same, so that
  // thieves find it if an iteration waits for another one or if this loop takes longer than ever before.
  template <class Direct>
  result unannounced(std::size_t n, Direct& direct) {
    const std::size_t middle = loop_middle(0, n, grain_);
    piece upper(*this, middle, n, grain_);
    upper.position = push_unannounced(entry_of(&upper));
    const unannounced_start begun = loop_begin_unannounced();
    if (!begun.watched() && upper.position != nullptr && pop(entry_of(&upper), upper.position) != popped::lost)
        [[unlikely]] {
      if (begun.shown()) return openly(n);  // [inline:6]
      // [inline:2] the other workers sleep and no worker searches, so this push wakes one
      upper.position = push(entry_of(&upper));
    }
    if (begun.measure()) [[unlikely]]
      return finish_measured(upper);
    guard unwind{&upper};
    result_holder first{unshared(0, middle, direct)};
    unwind.of = nullptr;
    const popped got = upper.position == nullptr ? popped::mine : pop(entry_of(&upper), upper.position);
    if (got == popped::mine) [[likely]]
      return work_.combine(first.take(), unshared(middle, n, direct));
    loop_measure_next();
    return work_.combine(first.take(), after(upper, got));
  }

  [[gnu::noinline]] result finish_measured(piece& upper);

  template <class Direct>
  [[gnu::always_inline]] result plain(std::size_t low, std::size_t high, Direct& direct) {
    result sum{work_.nothing()};
    if (!stopped()) [[likely]]
      direct(sum, low, high);
    return sum;
  }

  // Computes what split would compute, but offers nothing to thieves. A long part runs in a function of its own, where
  // its code does not depend on the caller's.
  template <class Direct>
  [[gnu::always_inline]] result unshared(std::size_t low, std::size_t high, Direct& direct) {
    constexpr std::size_t few = 16;
    if (high - low <= few && is_leaf(high - low)) return plain(low, high, direct);
    return unshared_apart(low, high, direct);
  }
  template <class Direct>
  [[gnu::noinline]] result unshared_apart(std::size_t low, std::size_t high, Direct& direct) {
    if (is_leaf(high - low)) return plain(low, high, direct);
    const std::size_t middle = loop_middle(low, high, grain_);
    result_holder first{unshared_apart(low, middle, direct)};
    return work_.combine(first.take(), unshared_apart(middle, high, direct));
  }
  bool is_leaf(std::size_t n) const noexcept { return grain_ == 0 || n / 2 < grain_; }

  [[gnu::noinline]] result timed(std::size_t n, std::size_t grain) {
    if (grain_ == 0) {
      result_holder r{in_batches(0, n, true)};
      look_after_long_leaves(grain);
      return r.take();
    }
    const std::uint64_t start = loop_cycles();
    const result_holder r{plain(0, n, work_)};
    const std::uint64_t now = loop_cycles();
    if (!stopped()) site_.observe(n, now - start);  // a loop that is stopped may have run nothing
    look_after_long_leaves(grain);
    if (is_time_to_serve(now)) [[unlikely]]
      serve_what_waits();
    return r.take();
  }

  // [service:2] In a loop of long leaves the clock is looked at after each.
  [[gnu::noinline]] result looked_after(std::size_t low, std::size_t high) {
    if (grain_ == 0 && high - low > site_.iterations_in(long_batches::batch_nanoseconds))
      return in_batches(low, high, false);
    const result_holder r{plain(low, high, work_)};
    if (is_time_to_serve(loop_cycles())) [[unlikely]]
      serve_what_waits();
    return r.take();
  }
  // [loop:11] Runs a leaf whose length the program has not chosen. If `observes` is true the site learns its time.
  [[gnu::noinline]] result in_batches(std::size_t low, std::size_t high, bool observes) {
    result sum{work_.nothing()};
    const std::size_t n = high - low;
    long_batches batches(site_);
    while (low != high && !stopped()) {
      const std::size_t end = batches.end_of_next(low, high);
      work_(sum, low, end);
      batches.ended(end - low);
      low = end;
    }
    if (observes && low == high) site_.observe(n, batches.cycles());
    return sum;
  }
  void look_after_long_leaves(std::size_t grain) noexcept {
    looks_after_leaves_.store(site_.iterations_in(long_leaf_nanoseconds) <= grain,
                              std::memory_order_relaxed);  // a hint
  }

  [[gnu::always_inline]] bool stopped() const noexcept {
    // relaxed: a request, ordered by nothing
    return cancelled_.load(std::memory_order_relaxed) || (stoppable_ && stop_.stop_requested());
  }

  // Returns the grain where every fork goes to a policy, so that pieces are placed and not asked for. Each worker gets
  // a fixed number of pieces, so that the last ones balance the load, but no piece is too small to be worth a fork.
  std::size_t grain_for_placement(std::size_t n, unsigned workers) const noexcept {
    if (n < 16) return 1;
    constexpr std::size_t pieces_per_worker = 8;
    return std::max({n / (pieces_per_worker * workers), std::min(site_.iterations_in(worthwhile_nanoseconds), n / 2),
                     std::size_t{1}});
  }

  // A thief cuts its piece anew if the caller gave no grain, because other workers are hungry, too. There is a least
  // length, a fraction of the whole loop for each worker. Without it, where every piece goes through one queue and each
  // is run by a worker that takes it, all pieces would be cut down to what is just worth a fork.
  std::size_t regrain(std::size_t grain, std::size_t n) const noexcept {
    if (grain <= 1 || grain_ != 0) return grain;
    constexpr std::size_t finest_pieces_per_worker = 64;
    const unsigned workers = loop_begin().workers;
    return std::min(grain, std::max(grain_for_placement(n, workers), n_ / (finest_pieces_per_worker * workers)));
  }

  Work& work_;
  loop_site& site_;
  const std::size_t grain_;  // 0 if none was given
  std::size_t n_{0};         // n_ and the next two members are written before the first fork
  bool measure_{false};      // true if the first chunk is timed, or both batches of a loop of two
  bool in_halves_{false};    // true if the loop is short, so its two halves are its batches
  std::size_t head_start_{0};
  bool skewed_{false};                           // true if ranges are halved by the profile, not by length
  std::atomic<bool> looks_after_leaves_{false};  // true if the leaves of split may be long; a hint
  std::atomic<bool> cancelled_{false};           // any worker that runs a part may set it
  const std::stop_token& stop_;
  const bool stoppable_;
  const std::size_t bytes_;  // bytes that an iteration touches; 0 if not known
  loop_profile profile_;     // begun only in a loop that is measured or skewed
};

template <class Work>
auto loop_tree<Work>::openly(std::size_t n) -> result {
  const loop_start start = loop_begin();
  if constexpr (requires { Work::in_any_order; }) {
    if (start.named && grain_ == 0) [[unlikely]] {
      work_.run_by_name(n, loop_by_default(), stop_, bytes_);
      return {};
    }
  }
  const loop_trace_span traced(start.traced, n, grain_);
  measure_ = start.measure || !site_.is_known();
  result_holder r{work_.nothing()};
  if (grain_ != 0 || start.watched) {
    const std::size_t grain = grain_ != 0 ? grain_ : grain_for_placement(n, start.workers);
    look_after_long_leaves(grain);
    r.value = split(0, n, grain);
  } else {
    site_.age();
    in_halves_ = !site_.is_long_loop(n, start.workers);
    if constexpr (requires { Work::in_any_order; } || requires { Work::in_ranges; }) {
      if (start.ranges && !in_halves_) {
        run_in_ranges(work_, n, site_, stop_, start.workers, measure_);
        return {};
      }
    }
    share(r.value, n, start.workers == 2);
  }
  if (site_.is_inline_size(n)) site_.trust();
  return r.take();
}

template <class Work>
void loop_tree<Work>::piece::execute(job* self) noexcept {
  auto& p = *static_cast<piece*>(self);
  p.complete([&]() -> result {
    try {
      p.grain = p.tree->regrain(p.grain, p.high - p.low);
      return p.run();
    } catch (...) {
      p.tree->cancelled_.store(true, std::memory_order_relaxed);  // relaxed: a request, ordered by nothing
      throw;
    }
  });
}

template <class Work>
auto loop_tree<Work>::piece::run() -> result {
  if (grain != 0) return tree->split(low, high, grain);
  result_holder sum{tree->work_.nothing()};
  if (tree->site_.is_uneven()) loop_show_next();
  loop_pace pace(tree->site_, tree->n_, tree->measure_, tree->in_halves_);
  tree->range(sum.value, low, high, high, pace);
  return sum.take();
}

template <class Work>
bool loop_tree<Work>::piece::regain_slowly(popped got) noexcept {
  return got == popped::watched || position == nullptr || pop_for_preemptive(*this) != popped::lost;
}

template <class Work>
auto loop_tree<Work>::piece::join() -> result {
  const join_noted at_end{*this};
  const loop_wait wait = loop_spin(*this);
  if (whole) tree->site_.learn_lateness(high, wait.cycles, tree->head_start_);
  if (!wait.ended) loop_measure_next();  // because the site may have to learn that it is uneven
  return this->take(join_slow(*this, position));
}

template <class Work>
auto loop_tree<Work>::after(piece& upper, popped got) -> result {
  if (upper.regain_slowly(got)) {
    const join_noted at_end{upper};
    return upper.run();
  }
  return upper.join();
}

template <class Work>
auto loop_tree<Work>::finish_measured(piece& upper) -> result {
  guard unwind{&upper};
  const std::uint64_t start = loop_cycles();
  result_holder first{unshared(0, upper.low, work_)};
  const std::uint64_t cycles = loop_cycles() - start;
  unwind.of = nullptr;
  const popped got = upper.position == nullptr ? popped::mine : pop(entry_of(&upper), upper.position);
  if (!stopped()) site_.observe(upper.low, cycles);  // as in timed
  site_.forget_lateness();
  if (got == popped::mine) {
    result_holder second{loop_site::is_long(cycles) ? upper.run() : unshared(upper.low, upper.high, work_)};
    return work_.combine(first.take(), second.take());
  }
  if (loop_site::is_long(cycles)) site_.misjudged();
  return work_.combine(first.take(), after(upper, got));
}

// All loops whose parts may run in any order share this instantiation, which is in the library (src/loop/tree.cpp).
extern template class HEDDLE_API loop_tree<loop_body>;

// Runs such a loop for a foreign kernel thread.
HEDDLE_API void run_loop_from_outside(loop_body body, std::size_t n, loop_site& site, std::size_t grain,
                                      const std::stop_token& stop, std::size_t bytes);

// Runs work over [0, n), n > 0, from any thread. With a grain, the tree of chunks depends on n and the grain alone.
template <class Work>
typename Work::result run_loop(Work& work, std::size_t n, loop_site& site, std::size_t grain,
                               const std::stop_token& stop, std::size_t bytes = 0) {
  if constexpr (requires { Work::in_any_order; }) {
    loop_body body = loop_body::of(work);
    if (on_foreign_thread()) [[unlikely]]
      return run_loop_from_outside(body, n, site, grain, stop, bytes), nothing_returned{};
    return loop_tree<loop_body>(body, site, grain, stop, bytes).run(n, work);
  } else {
    if (on_foreign_thread()) [[unlikely]] {
      return run_in_runtime([&]() -> typename Work::result { return run_loop(work, n, site, grain, stop, bytes); });
    }
    return loop_tree<Work>(work, site, grain, stop, bytes).run(n, work);
  }
}

}  // namespace heddle::detail
