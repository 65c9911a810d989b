#include <heddle/reuse_distance.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>
#include <string>

namespace heddle {

namespace {

constexpr unsigned exact_bits = 7, bins_bits = 6;  // exact for lengths below 128, then 64 bins an octave

std::size_t bin_of(std::uint64_t length) noexcept {
  if (length < (1u << exact_bits)) return length;
  const unsigned top = static_cast<unsigned>(std::bit_width(length)) - 1;
  const std::size_t within = (length >> (top - bins_bits)) & ((1u << bins_bits) - 1);
  return (std::size_t{1} << exact_bits) + (std::size_t{top - exact_bits} << bins_bits) + within;
}

}  // namespace

reuse_distance::reuse_distance(double rate) : rate_(rate), tree_(1024), histogram_(1) {
  if (!(rate > 0 && rate <= 1))
    throw std::invalid_argument("reuse_distance: a rate of " + std::to_string(rate) +
                                "; expected more than 0 and at most 1");
  limit_ = rate == 1 ? ~std::uint64_t{0} : static_cast<std::uint64_t>(rate * 0x1p64);
}

// --- distances ---------------------------------------------------------------------------------------------------

void reuse_distance::mark(std::uint64_t time, std::int64_t by) {
  for (; time < tree_.size(); time += time & (~time + 1)) tree_[time] += by;
}

std::uint64_t reuse_distance::marks_up_to(std::uint64_t time) const {
  std::int64_t sum = 0;
  for (; time != 0; time &= time - 1) sum += tree_[time];
  return static_cast<std::uint64_t>(sum);
}

// The marks keep their order and become 1, 2, ..; at least half of the tree is free afterwards.
void reuse_distance::renumber() {
  std::vector<std::uint64_t*> marks;
  marks.reserve(last_.size());
  for (auto& [element, last] : last_) marks.push_back(&last.mark);
  std::sort(marks.begin(), marks.end(), [](const auto* a, const auto* b) { return *a < *b; });
  tree_.assign(std::max(tree_.size(), 4 * marks.size()), 0);
  now_ = 0;
  for (std::uint64_t* m : marks) {
    *m = ++now_;
    mark(now_, 1);
  }
}

std::uint64_t reuse_distance::take(std::uint64_t element) {
  if (now_ + 1 >= tree_.size()) renumber();
  const auto [at, fresh] = last_.try_emplace(element, last_access{0, 0});
  std::uint64_t distance = infinite;
  if (!fresh) {
    // The element's own mark is the last one up to its time, so it counts once, as "itself included" demands.
    const std::uint64_t among = last_.size() - marks_up_to(at->second.mark - 1);
    mark(at->second.mark, -1);
    if (histogram_.size() <= among) histogram_.resize(std::max<std::uint64_t>(among + 1, 2 * histogram_.size()));
    ++histogram_[among];
    distance = whole_distance(among);
  }
  add_gap(gaps_, accesses_ - at->second.time);  // the gap before a first access begins with the stream
  at->second = {++now_, accesses_};
  mark(now_, 1);
  return distance;
}

std::uint64_t reuse_distance::sampled_distance(std::uint64_t whole) const noexcept {
  if (rate_ == 1) return whole;
  // This is the inverse of whole_distance, whose rounding makes it wrong by one at most.
  std::uint64_t sampled = 1 + static_cast<std::uint64_t>(static_cast<double>(whole - 1) * rate_);
  while (whole_distance(sampled + 1) <= whole) ++sampled;
  while (sampled > 1 && whole_distance(sampled) > whole) --sampled;
  return sampled;
}

std::uint64_t reuse_distance::misses(std::uint64_t capacity) const {
  if (capacity == 0) return accesses_;
  std::uint64_t sum = last_.size();
  const std::uint64_t most = histogram_.size();  // no distance is as long as this
  if (capacity < infinite - 1 && whole_distance(most) > capacity)
    for (std::uint64_t d = sampled_distance(capacity) + 1; d < most; ++d) sum += histogram_[d];
  return std::min(scaled(static_cast<double>(sum)), accesses_);
}

std::vector<reuse_distance::bin> reuse_distance::histogram() const {
  std::vector<bin> bins;
  for (std::uint64_t d = 1; d < histogram_.size(); ++d) {
    if (histogram_[d] != 0) bins.push_back({whole_distance(d), scaled(static_cast<double>(histogram_[d]))});
  }
  return bins;
}

std::vector<reuse_distance::point> reuse_distance::curve() const {
  std::vector<point> points;
  std::uint64_t sum = last_.size();
  // A capacity of d keeps the elements that are accessed again at a distance of at most d.
  for (std::uint64_t d = histogram_.size(); d-- > 1;) {
    if (histogram_[d] == 0) continue;
    points.push_back({whole_distance(d), std::min(scaled(static_cast<double>(sum)), accesses_)});
    sum += histogram_[d];
  }
  points.push_back({0, accesses_});
  std::reverse(points.begin(), points.end());
  return points;
}

// --- footprints --------------------------------------------------------------------------------------------------

void reuse_distance::add_gap(std::vector<gaps>& to, std::uint64_t length) const {
  const std::size_t at = bin_of(length);
  if (to.size() <= at) to.resize(at + 1);
  ++to[at].count;
  to[at].sum += static_cast<double>(length);
}

double reuse_distance::longer_than(const std::vector<gaps>& all, double length) {
  double sum = 0;
  for (std::size_t i = all.size(); i-- > 0;) {
    const double beyond = all[i].sum - static_cast<double>(all[i].count) * length;
    if (all[i].count != 0 && beyond <= 0) break;
    sum += beyond;
  }
  return sum;
}

std::vector<reuse_distance::gaps> reuse_distance::all_gaps() const {
  std::vector<gaps> all = gaps_;
  for (const auto& [element, last] : last_) add_gap(all, accesses_ + 1 - last.time);
  return all;
}

// An element is outside those of the n - w + 1 windows of w accesses that lie between two of its accesses, before the
// first, or behind the last. A gap of g contains g - w such windows.
double reuse_distance::footprint(const std::vector<gaps>& all, double length) const {
  const auto n = static_cast<double>(accesses_);
  if (length <= 0 || accesses_ == 0) return 0;
  if (length >= n) return static_cast<double>(last_.size()) / rate_;
  const double outside = longer_than(all, length) / (n - length + 1);
  return std::max(static_cast<double>(last_.size()) - outside, 0.0) / rate_;
}

double reuse_distance::footprint(std::uint64_t length) const {
  return footprint(all_gaps(), static_cast<double>(length));
}

double reuse_distance::reach(std::uint64_t iterations) const {
  const double each = iterations_ == 0 ? 1 : static_cast<double>(accesses_) / static_cast<double>(iterations_);
  return footprint(all_gaps(), static_cast<double>(iterations) * each);
}

// --- windows -----------------------------------------------------------------------------------------------------

window_proposal reuse_distance::propose_window(std::uint64_t capacity, unsigned cores, double slack) const {
  window_proposal found;
  found.misses_alone = misses(capacity);
  if (cores < 2 || capacity == 0 || accesses_ == 0) {
    found.misses_apart = found.misses_alone;
    return found;
  }
  found.misses_apart = misses_apart(capacity, cores);
  const double most = (1 + slack) * static_cast<double>(found.misses_alone);
  if (static_cast<double>(found.misses_apart) <= most) {
    found.why = window_proposal::reason::fits;
    return found;
  }
  // Finds the least capacity that serves one core well enough; the window may use the rest. Misses fall with capacity.
  std::uint64_t least = capacity;
  for (const point& p : curve()) {
    if (static_cast<double>(p.misses) > most) continue;
    least = std::min(p.capacity, capacity);
    break;
  }
  const auto spare = static_cast<double>(capacity - least);
  // The search below is right because footprints grow with their length.
  const std::vector<gaps> all = all_gaps();
  const std::uint64_t n = iterations_ == 0 ? accesses_ : iterations_;
  const double each = static_cast<double>(accesses_) / static_cast<double>(n);
  const auto reach_of = [&](std::uint64_t m) { return footprint(all, static_cast<double>(m) * each); };
  std::uint64_t low = 0, high = n;
  while (low < high) {
    const std::uint64_t middle = high - (high - low) / 2;
    if (reach_of(middle) <= spare) low = middle;
    else high = middle - 1;
  }
  if (low < cores) {
    found.why = window_proposal::reason::too_long;
    return found;
  }
  found.why = window_proposal::reason::window;
  found.length = low;
  found.reach = static_cast<std::uint64_t>(std::ceil(reach_of(low)));
  found.misses_within = misses_within(capacity, found.reach);
  return found;
}

}  // namespace heddle
