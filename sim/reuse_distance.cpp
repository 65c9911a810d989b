#include "sim/reuse_distance.hpp"

#include <algorithm>

namespace heddle::sim {

reuse_distance::reuse_distance() : tree_(1024), histogram_(1) {}

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
  std::vector<std::uint64_t*> times;
  times.reserve(last_.size());
  for (auto& [element, time] : last_) times.push_back(&time);
  std::sort(times.begin(), times.end(), [](const auto* a, const auto* b) { return *a < *b; });
  tree_.assign(std::max(tree_.size(), 4 * times.size()), 0);
  now_ = 0;
  for (std::uint64_t* time : times) {
    *time = ++now_;
    mark(now_, 1);
  }
}

std::uint64_t reuse_distance::access(std::uint64_t element) {
  if (now_ + 1 >= tree_.size()) renumber();
  ++accesses_;
  const auto [at, fresh] = last_.try_emplace(element, 0);
  std::uint64_t distance = infinite;
  if (!fresh) {
    // The element's own mark is the last one up to its time, so it counts once: "itself included".
    distance = last_.size() - marks_up_to(at->second - 1);
    mark(at->second, -1);
    if (histogram_.size() <= distance) histogram_.resize(std::max<std::uint64_t>(distance + 1, 2 * histogram_.size()));
    ++histogram_[distance];
  }
  at->second = ++now_;
  mark(now_, 1);
  return distance;
}

std::uint64_t reuse_distance::misses(std::uint64_t capacity) const {
  std::uint64_t sum = elements();
  for (std::uint64_t d = capacity + 1; d < histogram_.size(); ++d) sum += histogram_[d];
  return sum;
}

}  // namespace heddle::sim
