// Loops in lanes: lanes.md.
#include "loop/lanes.hpp"

#include <heddle/detail/loop_runtime.hpp>
#include <heddle/detail/loop_tree.hpp>

#include <algorithm>
#include <bit>
#include <new>

#include "arch/arch.hpp"
#include "loop/caches.hpp"
#include "queue/fork_queue.hpp"

namespace heddle::detail {

namespace {

// For so long a guest looks for a lane that is worth dividing before it takes whatever there is: [lane:2].
constexpr std::uint64_t patience_nanoseconds = 500;
constexpr std::uint64_t move_begins = 1, move_ends = (std::uint64_t{1} << 16) - 1, under_way = 0xffff;

}  // namespace

loop_lanes::loop_lanes(loop_chunks work, std::size_t n, loop_site& site, const std::stop_token& stop, unsigned workers,
                       bool measure) noexcept
    : work_(work),
      n_(n),
      unit_(n / open_range::most_positions + 1),
      site_(site),
      stop_(stop),
      workers_(workers),
      measure_(measure),
      stoppable_(stop.stop_possible()),
      skewed_(unit_ == 1 && !site.grid().is_even()) {
  if (workers > lanes_inside) {
    const unsigned wanted = std::min(workers, most_lanes);
    outside_.reset(new (std::nothrow) lane[wanted]);
    if (outside_ != nullptr) lanes_ = outside_.get(), lane_count_ = wanted;
  }
  if (skewed_ || measure_) profile_.begin(site.grid(), n);
}

void loop_lanes::run() {
  claimed_.store(1);
  lanes_[0].worker.store(loop_worker(), std::memory_order_relaxed);  // a hint
  lanes_[0].put(0, (n_ - 1) / unit_ + 1);
  take_part(true);
  if (failed_.load()) std::rethrow_exception(error_);
  if (measure_ && !stopped() && site_.grid().learn(profile_)) loop_measure_next();
}

void loop_lanes::take_part(bool is_host) noexcept {
  if (site_.is_uneven()) loop_show_next();  // [site:3]
  invitations invited(*this);
  lane_pace pace(site_, n_, workers_);
  lane* const mine = is_host ? lanes_ : claim();
  try {
    if (mine == nullptr) {
      run_without_lane(pace, invited);
    } else {
      if (is_host) run_lane(*mine, pace, invited);
      for (part batch; find(*mine, pace, invited, batch);) {
        run_batch(batch, pace);
        invited.look();
        run_lane(*mine, pace, invited);
      }
    }
  } catch (...) {
    fail();
  }
  if (mine != nullptr) leave(*mine);
  if (is_host) site_.observe(pace.done(), pace.cycles());
}

void loop_lanes::run_lane(lane& mine, lane_pace& pace, invitations& invited) {
  part batch;
  for (;;) {
    const std::uint64_t seen = mine.seen(), left = open_range::high_of(seen) - open_range::low_of(seen);
    if (left == 0 || stopped() || !mine.take_front(batch_of(left, pace), batch.low, batch.high)) return;
    run_batch(batch, pace);
    invited.look();
  }
}

// How many of `left` positions are a batch; at least one. Long ones are multiples of 16, as the parts of loop_middle
// are.
std::uint64_t loop_lanes::batch_of(std::uint64_t left, const lane_pace& pace) const noexcept {
  constexpr std::uint64_t line = 16, many = 4 * line;
  const std::uint64_t count = pace.next(left * unit_) / unit_;
  return count >= many ? count & ~(line - 1) : std::max<std::uint64_t>(count, 1);
}

void loop_lanes::run_batch(part batch, lane_pace& pace) {
  const std::size_t first = batch.low * unit_, last = std::min<std::size_t>(batch.high * unit_, n_);
  work_(first, last);
  if (const std::uint64_t took = pace.passed(last - first); took != 0) [[unlikely]]
    site_.surprise(first, last, n_, took);
  if (measure_) profile_.add(first, last, pace.batch());
}

bool loop_lanes::find(lane& mine, lane_pace& pace, invitations& invited, part& batch) noexcept {
  const unsigned worker = loop_worker();
  std::uint64_t since = 0;
  for (unsigned round = 0;; ++round) {
    if (stopped()) return false;
    const std::uint64_t before = moves_.load();
    std::uint64_t seen = 0;
    lane* from = victim(worker, pace.least() / unit_ + 1, seen);
    if (from == nullptr && since != 0 && loop_cycles() - since > loop_site::ticks_in(patience_nanoseconds))
      from = victim(worker, 1, seen);
    if (from != nullptr) {
      if (rob(*from, seen, mine, worker, pace, batch)) {
        pace.skip();
        return true;
      }
    } else {
      if (victim(worker, 1, seen) == nullptr && (before & under_way) == 0 && moves_.load() == before) return false;
      if (since == 0) since = loop_cycles();
      arch::pause();
    }
    if (round % 8 == 7) invited.look();
  }
}

auto loop_lanes::victim(unsigned worker, std::uint64_t least, std::uint64_t& seen) noexcept -> lane* {
  lane* found = nullptr;
  std::uint64_t best = 0;
  unsigned nearest = 0;
  for (std::uint64_t left = claimed_.load(); left != 0; left &= left - 1) {
    lane& l = lanes_[std::countr_zero(left)];
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

bool loop_lanes::rob(lane& from, std::uint64_t seen, lane& mine, unsigned worker, const lane_pace& pace,
                     part& batch) noexcept {
  const std::uint64_t high = open_range::high_of(seen), cut = middle(open_range::low_of(seen), high);
  batch = {cut, std::min(cut + batch_of(high - cut, pace), high)};
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

void loop_lanes::run_without_lane(lane_pace& pace, invitations& invited) {
  const unsigned worker = loop_worker();
  for (std::uint64_t seen = 0; !stopped(); invited.look()) {
    const std::uint64_t before = moves_.load();
    lane* const from = victim(worker, 1, seen);
    if (from == nullptr) {
      if ((before & under_way) == 0 && moves_.load() == before) return;
      arch::pause();
      continue;
    }
    const std::uint64_t low = open_range::low_of(seen), high = open_range::high_of(seen);
    const part batch{std::max(middle(low, high), high - std::min(batch_of(high - low, pace), high - low)), high};
    if (!from->take_from(seen, batch.low)) continue;
    loop_note_steal(from->worker.load(std::memory_order_relaxed));  // a hint
    pace.skip();
    run_batch(batch, pace);
  }
}

std::uint64_t loop_lanes::middle(std::uint64_t low, std::uint64_t high) const noexcept {
  constexpr std::size_t parts_of_a_loop = 64;
  if (high - low < 2) return low;
  if (skewed_ && high - low > n_ / parts_of_a_loop) return profile_.middle(low, high);  // [site:4]
  return loop_middle(low, high, 1);
}

auto loop_lanes::claim() noexcept -> lane* {
  const std::uint64_t all = lane_count_ == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << lane_count_) - 1;
  std::uint64_t seen = claimed_.load();
  while ((seen & all) != all) {
    const unsigned k = static_cast<unsigned>(std::countr_one(seen));
    if (claimed_.compare_exchange_weak(seen, seen | std::uint64_t{1} << k)) return &lanes_[k];
  }
  return nullptr;
}

// Its lane is empty, or the loop is stopped.
void loop_lanes::leave(lane& mine) noexcept {
  claimed_.fetch_and(~(std::uint64_t{1} << static_cast<unsigned>(&mine - lanes_)));
}

bool loop_lanes::stopped() const noexcept {
  return stopped_.load(std::memory_order_relaxed) || (stoppable_ && stop_.stop_requested());  // requests
}

void loop_lanes::fail() noexcept {
  stopped_.store(true, std::memory_order_relaxed);  // a request, ordered by nothing
  if (!failed_.exchange(true)) error_ = std::current_exception();
}

void loop_lanes::invitation::execute(job* self) noexcept {
  auto& one = *static_cast<invitation*>(self);
  one.loop->take_part(false);
  complete_job(one, end::done);
}

loop_lanes::invitations::invitations(loop_lanes& loop) noexcept : loop_(loop) {
  const unsigned wanted = std::clamp(loop.workers_ - 1, 1u, at_first);
  while (made_ < wanted) offer(all_[made_++]);
  in_queue_ = made_;
}

void loop_lanes::invitations::offer(invitation& one) noexcept {
  one.loop = &loop_;
  one.position = push_fork(entry_of(&one));
}

bool loop_lanes::invitations::take_back(invitation& one) noexcept {
  if (one.position == nullptr || pop(entry_of(&one), one.position)) return true;
  return was_taken_back(one);
}

void loop_lanes::invitations::look() noexcept {
  const fork_queue* const queue = current_queue();
  // a hint, but where a preemptive thread has a queue of its own, whose slow path looks at the worker's
  if (queue->stands_for == nullptr) {
    if (!queue->requested.load(std::memory_order_relaxed) || queue::has_public(*queue)) [[likely]]
      return;
  }
  while (in_queue_ != 0) {
    invitation& newest = all_[in_queue_ - 1];
    if (take_back(newest)) return offer(newest);
    --in_queue_;
  }
  if (made_ == most) return;
  offer(all_[made_++]);
  in_queue_ = made_;
}

loop_lanes::invitations::~invitations() {
  while (made_ != 0) {
    invitation& one = all_[--made_];
    if (made_ < in_queue_ && take_back(one)) continue;
    const join_noted at_end{one};
    if (!loop_spin(one).ended) loop_measure_next();  // the site may have to learn that it is uneven
    static_cast<void>(join_slow(one, one.position));
  }
}

void run_in_lanes(loop_chunks work, std::size_t n, loop_site& site, const std::stop_token& stop, unsigned workers,
                  bool measure) {
  loop_lanes(work, n, site, stop, workers, measure).run();
}

}  // namespace heddle::detail
