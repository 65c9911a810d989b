// Loops in ranges. Protocol: ranges.md.
#include "loop/ranges.hpp"

#include <heddle/detail/loop_runtime.hpp>
#include <heddle/detail/loop_tree.hpp>

#include <algorithm>
#include <bit>
#include <new>
#include <utility>

#include "arch/arch.hpp"
#include "queue/fork_queue.hpp"
#include "worker/preemption/section.hpp"

namespace heddle::detail {

namespace {

// The time for which a helper looks for a range that is worth dividing before it takes whatever there is: [range:2].
constexpr std::uint64_t patience_nanoseconds = 500;
// The least time of a part with which a range begins.
constexpr std::uint64_t least_part_nanoseconds = 500;
// Loops of so many parts are divided for workers that sleep, too, because waking one takes some fifty microseconds.
constexpr std::size_t sleepers_parts = 200;
// [range:9] How often a helper gives way, for each member, while no batch is taken, before it begins.
constexpr unsigned yields_in_vain = 64;
constexpr std::uint64_t move_begins = 1, move_ends = (std::uint64_t{1} << 16) - 1, under_way = 0xffff;

constexpr std::uint64_t bit(unsigned range) noexcept { return std::uint64_t{1} << range; }
constexpr std::uint64_t bits(unsigned ranges) noexcept { return ranges == 64 ? ~std::uint64_t{0} : bit(ranges) - 1; }

// Raises a count while it exists. relaxed: a hint
struct counted {
  explicit counted(std::atomic<unsigned>& in) noexcept : in_(in) { in_.fetch_add(1, std::memory_order_relaxed); }
  ~counted() { in_.fetch_sub(1, std::memory_order_relaxed); }
  counted(const counted&) = delete;
  counted& operator=(const counted&) = delete;

 private:
  std::atomic<unsigned>& in_;
};

}  // namespace

loop_ranges::loop_ranges(loop_chunks work, std::size_t n, loop_site& site, const std::stop_token& stop,
                         unsigned workers, bool measure) noexcept
    : work_(work),
      n_(n),
      unit_(n / open_range::most_positions + 1),
      site_(site),
      stop_(stop),
      workers_(workers),
      measure_(measure),
      stoppable_(stop.stop_possible()),
      skewed_(unit_ == 1 && !site.grid().is_even()) {
  if (workers > ranges_inside) {
    const unsigned wanted = std::min(workers, most_ranges);
    outside_.reset(new (std::nothrow) range[wanted]);
    if (outside_ != nullptr) ranges_ = outside_.get(), range_count_ = wanted;
  }
  if (skewed_ || measure_) profile_.begin(site.grid(), n);
}

void loop_ranges::run() {
  const unsigned worker = loop_worker();
  parts_ = parts_at_first();
  // relaxed: before any other thread knows of it, as are the first contents of the ranges
  claimed_.store(bit(range_for(worker)), std::memory_order_relaxed);
  for (unsigned k = 0; k < parts_; ++k)
    ranges_[k].worker.store(k * workers_ / parts_, std::memory_order_relaxed);  // a hint
  divide(0, positions(), 0, parts_);
  take_part(true);
  if (parts_ > 1) loop_end_showing(worker);
  if (failed_.load()) std::rethrow_exception(error_);
  if (measure_ && !stopped() && site_.grid().learn(profile_)) loop_measure_next();
}

// [range:7]. If the loop is long enough for a part for each worker, the parts are the same in each loop.
unsigned loop_ranges::parts_at_first() const noexcept {
  if (workers_ == 2 || !site_.is_known() || current_queue()->stands_for != nullptr) return 1;
  const std::size_t least = std::max<std::size_t>(site_.iterations_in(least_part_nanoseconds), 1);
  const std::uint64_t worthwhile = std::min<std::uint64_t>(n_ / least, positions());
  const unsigned wanted = std::min(workers_, range_count_);
  const unsigned parts = worthwhile >= wanted ? wanted : std::bit_floor(static_cast<unsigned>(worthwhile));
  const loop_load now = loop_load_now();
  if (now.crowded) return 1;  // a part may wait long for its worker's processor
  // The loop takes longer than waking a worker.
  if (n_ / sleepers_parts >= least) return parts;
  return now.searchers == 0 ? 1 : std::max(parts, 1u);
}

void loop_ranges::divide(std::uint64_t low, std::uint64_t high, unsigned first, unsigned parts) noexcept {
  if (parts == 1) return ranges_[first].put_first(low, high);
  constexpr std::uint64_t line = 16, many = 4 * line;
  std::uint64_t cut = low + (high - low) * (parts / 2) / parts;
  if (skewed_ && parts % 2 == 0) cut = middle(low, high);
  else if ((high - low) / parts >= many) cut = (cut + line / 2) & ~(line - 1);
  divide(low, cut, first, parts / 2);
  divide(cut, high, first + parts / 2, parts - parts / 2);
}

static fiber::preemptible* preemptible_caller() noexcept {
  fork_queue* const queue = current_queue();
  return queue->stands_for == nullptr ? nullptr : static_cast<fiber::preemptible*>(queue);
}

// relaxed twice: the thread's own
loop_ranges::membership::membership(loop_ranges& loop) noexcept
    : self_(preemptible_caller()),
      outer_(self_ == nullptr ? nullptr : self_->preempted_members.load(std::memory_order_relaxed)) {
  if (self_ != nullptr) self_->preempted_members.store(&loop.preempted_, std::memory_order_relaxed);
}

// relaxed: the thread's own
loop_ranges::membership::~membership() {
  if (self_ != nullptr) self_->preempted_members.store(outer_, std::memory_order_relaxed);
}

// A sum over all ranges that changes when a batch is taken or moved; a hint.
std::uint64_t loop_ranges::progress() const noexcept {
  std::uint64_t sum = moves_.load(std::memory_order_relaxed);  // a hint
  for (std::uint64_t left = claimed_.load(); left != 0; left &= left - 1) sum += ranges_[std::countr_zero(left)].seen();
  return sum;
}

void loop_ranges::let_members_go_first() noexcept {
  unsigned vain = 0;  // yields in a row in which no batch was taken
  std::uint64_t seen = 0;
  for (bool first = true; !stopped(); first = false) {
    const auto members = static_cast<unsigned>(std::popcount(claimed_.load()));
    if (members < std::min(workers_, range_count_)) return;
    if (preempted_.load(std::memory_order_relaxed) == 0 && !loop_has_ready_beside()) return;  // a hint
    const std::uint64_t now = progress();
    vain = first || now != std::exchange(seen, now) ? 0 : vain + 1;
    // relaxed: a hint
    if (vain > yields_in_vain * (members + without_range_.load(std::memory_order_relaxed))) return;
    yield();
  }
}

void loop_ranges::take_part(bool is_caller) noexcept {
  if (!is_caller) let_members_go_first();
  const membership here(*this);
  if (site_.is_uneven()) loop_show_next();  // [site:3]
  const unsigned worker = loop_worker();
  offers made(*this);
  range_pace pace(site_, n_, workers_, parts_);
  range* const mine = is_caller ? &ranges_[range_for(worker)] : claim(worker);
  if (is_caller) made.begin(parts_);
  try {
    if (mine == nullptr) {
      run_without_range(pace, made);
    } else {
      if (const std::uint64_t left = mine->length(); left != 0) {
        if (!is_caller) made.go_on(left * unit_);
        run_range(*mine, pace, made);
      }
      for (part batch; find(*mine, pace, made, batch);) {
        made.go_on(mine->length() * unit_);
        run_batch(batch, pace);
        if (is_worth_sharing(mine->length() * unit_)) made.look();
        run_range(*mine, pace, made);
      }
    }
  } catch (...) {
    fail();
  }
  if (mine != nullptr) leave(*mine);
  if (is_caller) site_.observe(pace.done(), pace.cycles());
}

void loop_ranges::run_range(range& mine, range_pace& pace, offers& made) {
  part batch;
  for (;;) {
    const std::uint64_t left = mine.length();
    if (left == 0 || stopped() || !mine.take_front(batch_of(left, pace), batch.low, batch.high)) return;
    run_batch(batch, pace);
    if (is_worth_sharing(mine.length() * unit_)) made.look();
  }
}

// The number of positions, of `left`, in a batch; at least one. Long batches are multiples of 16, as the parts of
// loop_middle are.
std::uint64_t loop_ranges::batch_of(std::uint64_t left, const range_pace& pace) const noexcept {
  constexpr std::uint64_t line = 16, many = 4 * line;
  std::uint64_t count = pace.next(left * unit_) / unit_;
  if (count <= 1) return 1;
  if (count >= many) count &= ~(line - 1);
  // No rest is left that is not worth a batch.
  return (left - count) * unit_ < pace.least() / 2 ? left : count;
}

void loop_ranges::run_batch(part batch, range_pace& pace) {
  const std::size_t first = batch.low * unit_, last = std::min<std::size_t>(batch.high * unit_, n_);
  if (unit_ == 1) [[likely]]
    return run_iterations(first, last, pace);
  // A position may be longer than a batch.
  for (std::size_t low = first; low != last && !stopped();) {
    const std::size_t high = low + std::min(pace.next(last - low), last - low);
    run_iterations(std::exchange(low, high), high, pace);
  }
}

void loop_ranges::run_iterations(std::size_t first, std::size_t last, range_pace& pace) {
  // The time between two batches is not the site's: if many threads look it takes as long as a short batch.
  pace.skip();
  work_(first, last);
  if (const std::uint64_t took = pace.passed(last - first); took != 0) [[unlikely]]
    site_.surprise(first, last, n_, took);
  if (measure_) profile_.add(first, last, pace.batch());
  if (is_time_to_serve(pace.now())) [[unlikely]]
    serve_what_waits();  // the next batch begins with pace.skip()
}

bool loop_ranges::find(range& mine, range_pace& pace, offers& made, part& batch) noexcept {
  const unsigned worker = loop_worker();
  std::uint64_t since = 0;
  for (unsigned round = 0;; ++round) {
    if (stopped()) return false;
    const std::uint64_t before = moves_.load();
    std::uint64_t seen = 0;
    range* from = victim(worker, pace.least() / unit_ + 1, seen);
    if (from == nullptr && since != 0 && loop_cycles() - since > loop_site::ticks_in(patience_nanoseconds))
      from = victim(worker, 1, seen);
    if (from != nullptr) {
      if (rob(*from, seen, mine, worker, pace, batch)) return true;
    } else {
      if (victim(worker, 1, seen) == nullptr && (before & under_way) == 0 && moves_.load() == before) return false;
      if (since == 0) since = loop_cycles();
      arch::pause();
    }
    if (round % 64 == 63) made.look();
  }
}

auto loop_ranges::victim(unsigned worker, std::uint64_t least, std::uint64_t& seen) noexcept -> range* {
  range* found = nullptr;
  std::uint64_t best = 0;
  unsigned nearest = 0;
  const std::uint64_t filled = parts_ == 1 ? 0 : bits(parts_);  // no thread may have come yet for some ranges
  for (std::uint64_t left = claimed_.load() | filled; left != 0; left &= left - 1) {
    range& l = ranges_[std::countr_zero(left)];
    const std::uint64_t word = l.seen(), count = open_range::high_of(word) - open_range::low_of(word);
    if (count < least) continue;
    const unsigned distance = loop_distance(worker, l.worker.load(std::memory_order_relaxed));  // a hint
    if (found != nullptr && (distance > nearest || (distance == nearest && count <= best))) continue;
    found = &l;
    best = count;
    nearest = distance;
    seen = word;
  }
  return found;
}

bool loop_ranges::rob(range& from, std::uint64_t seen, range& mine, unsigned worker, const range_pace& pace,
                      part& batch) noexcept {
  const std::uint64_t low = open_range::low_of(seen), high = open_range::high_of(seen);
  const std::uint64_t cut = (high - low) * unit_ <= pace.least() ? low : middle(low, high);  // all of the rest
  batch = {cut, std::min(cut + batch_of(high - cut, pace), high)};
  // [range:3] Other threads spin while a move is under way, so no tick may end this thread's time slice meanwhile.
  const worker::section inside;
  moves_.fetch_add(move_begins);
  const bool done = from.take_from(seen, cut);
  if (done) {
    mine.worker.store(worker, std::memory_order_relaxed);  // a hint
    mine.put(batch.high, high);
  }
  moves_.fetch_add(move_ends);
  if (done) loop_note_steal(from.worker.load(std::memory_order_relaxed));  // a hint
  return done;
}

void loop_ranges::run_without_range(range_pace& pace, offers& made) {
  const unsigned worker = loop_worker();
  const counted here(without_range_);
  for (std::uint64_t seen = 0; !stopped();) {
    const std::uint64_t before = moves_.load();
    range* const from = victim(worker, 1, seen);
    if (from == nullptr) {
      if ((before & under_way) == 0 && moves_.load() == before) return;
      arch::pause();
      continue;
    }
    const std::uint64_t low = open_range::low_of(seen), high = open_range::high_of(seen);
    const part batch{std::max(middle(low, high), high - std::min(batch_of(high - low, pace), high - low)), high};
    if (!from->take_from(seen, batch.low)) continue;
    loop_note_steal(from->worker.load(std::memory_order_relaxed));  // a hint
    made.go_on(0);
    run_batch(batch, pace);
  }
}

bool loop_ranges::is_worth_sharing(std::size_t iterations) const noexcept {
  return iterations > site_.iterations_in(worthwhile_nanoseconds);
}

std::uint64_t loop_ranges::middle(std::uint64_t low, std::uint64_t high) const noexcept {
  constexpr std::size_t parts_of_a_loop = 64;
  if (high - low < 2) return low;
  if (skewed_ && high - low > n_ / parts_of_a_loop) return profile_.middle(low, high);  // [site:4]
  return loop_middle(low, high, 1);
}

// [range:7] Claims the worker's own part, else another one for which no thread has come yet, else an empty range.
auto loop_ranges::claim(unsigned worker) noexcept -> range* {
  const std::uint64_t all = bits(range_count_);
  const unsigned own = range_for(worker);
  for (std::uint64_t seen = claimed_.load(); (seen & all) != all;) {
    unsigned chosen = static_cast<unsigned>(std::countr_one(seen));
    for (unsigned i = 0; i < parts_; ++i) {
      const unsigned k = own + i < parts_ ? own + i : own + i - parts_;
      if ((seen & bit(k)) != 0 || ranges_[k].length() == 0) continue;
      chosen = k;
      break;
    }
    if (claimed_.compare_exchange_weak(seen, seen | bit(chosen))) return &ranges_[chosen];
  }
  return nullptr;
}

// Called when the thread's range is empty, or the loop is stopped.
void loop_ranges::leave(range& mine) noexcept { claimed_.fetch_and(~bit(static_cast<unsigned>(&mine - ranges_))); }

bool loop_ranges::stopped() const noexcept {
  return stopped_.load(std::memory_order_relaxed) || (stoppable_ && stop_.stop_requested());  // relaxed: requests
}

void loop_ranges::fail() noexcept {
  stopped_.store(true, std::memory_order_relaxed);  // relaxed: a request, ordered by nothing
  if (!failed_.exchange(true)) error_ = std::current_exception();
}

void loop_ranges::offer::execute(job* self) noexcept {
  auto& one = *static_cast<offer*>(self);
  one.loop->take_part(false);
  complete_job(one, end::done);
}

auto loop_ranges::offers::next() noexcept -> offer& {
  offer& one = *::new (static_cast<void*>(&at(count_))) offer;
  one.loop = &loop_;
  in_queue_ = ++count_;
  return one;
}

void loop_ranges::offers::make() noexcept {
  offer& one = next();
  one.position = push_fork(entry_of(&one));
}

// The entry is not shown to workers that ask. If no worker would see it, it is offered instead ([inline:2]).
void loop_ranges::offers::make_unannounced() noexcept {
  offer& one = next();
  one.position = push_unannounced(entry_of(&one));
  if (one.position != nullptr && !loop_may_be_unannounced() && pop(entry_of(&one), one.position) != popped::lost)
    one.position = push_fork(entry_of(&one));
}

void loop_ranges::offers::begin(unsigned parts) noexcept {
  if (parts == 1) {
    const unsigned wanted = std::clamp(loop_.workers_ - 1, 1u, at_first);
    while (count_ < wanted) make();
    return;
  }
  while (count_ < std::min(parts - 1, most - spare)) {
    offer& one = next();
    one.position = push_unannounced(entry_of(&one));
  }
  loop_show(count_);
}

void loop_ranges::offers::go_on(std::size_t left) noexcept {
  if (count_ != 0) return;
  if (!loop_.is_worth_sharing(left)) return make_unannounced();
  const bool all_know = loop_.parts_ > 1 && loop_.parts_ <= most;
  const unsigned wanted = all_know ? 1 : std::clamp(loop_.workers_ - 1, 1u, at_first);
  while (count_ < wanted) make();
}

bool loop_ranges::offers::take_back(offer& one) noexcept {
  return one.position == nullptr || pop(entry_of(&one), one.position) != popped::lost ||
         pop_for_preemptive(one) != popped::lost;
}

void loop_ranges::offers::look() noexcept {
  const fork_queue* const queue = current_queue();
  // relaxed: a hint. The exception is a preemptive thread with a queue of its own; its slow path looks at the worker's
  // queue.
  if (queue->stands_for == nullptr) {
    if (!queue->requested.load(std::memory_order_relaxed) || queue::has_public(*queue)) [[likely]]
      return;
    if (queue::has_any(*queue)) return loop_show(1);
  } else {
    while (in_queue_ != 0) {
      offer& newest = at(in_queue_ - 1);
      if (take_back(newest)) {
        newest.position = push_fork(entry_of(&newest));
        return;
      }
      --in_queue_;
    }
  }
  if (count_ != most) make();
}

loop_ranges::offers::~offers() {
  // A thief that has taken an offer has taken all older ones, too, or others have.
  while (count_ != 0 && (count_ > in_queue_ ? at(count_ - 1).position == nullptr : take_back(at(count_ - 1)))) --count_;
  if (count_ == 0) return;
  if (!wait_for_helpers()) loop_measure_next();  // the site may have to learn that it is uneven
  for (unsigned k = 0; k < count_; ++k) {
    offer& one = at(k);
    if (one.position == nullptr) continue;
    const join_noted at_end{one};
    static_cast<void>(join_slow(one, one.position));
  }
}

// Looks for about as long as suspending and resuming would cost, and a little longer for each helper, because helpers
// end one after another. Returns true if all have ended.
bool loop_ranges::offers::wait_for_helpers() noexcept {
  constexpr std::uint64_t a_guest = 250;  // nanoseconds
  std::uint64_t start = 0;
  for (unsigned k = 0; k < count_; ++k) {
    for (unsigned i = 0; at(k).position != nullptr && !at(k).now().is_over(); ++i) {
      if (i % 16 == 1) {
        const std::uint64_t now = loop_cycles();
        if (start == 0) start = now;
        if (now - start >= loop_site::ticks_in(spin_nanoseconds + count_ * a_guest)) return false;
      }
      arch::pause();
    }
  }
  return true;
}

void run_in_ranges(loop_chunks work, std::size_t n, loop_site& site, const std::stop_token& stop, unsigned workers,
                   bool measure) {
  loop_ranges(work, n, site, stop, workers, measure).run();
}

}  // namespace heddle::detail
