#include "sim/pages.hpp"

#include <stdexcept>

namespace heddle::sim {

page_table::page_table(unsigned nodes, std::uint64_t max_frames, unsigned scatter_bits, std::uint64_t seed)
    : max_frames_(max_frames >> scatter_bits << scatter_bits),
      scatter_bits_(scatter_bits),
      seed_(seed),
      pages_on_(nodes) {
  if (nodes == 0 || nodes > 256) throw std::invalid_argument("a machine has between 1 and 256 memory nodes");
}

page_table::leaf& page_table::leaf_of(std::uint64_t number) {
  std::unique_ptr<leaf>& pages = leaves_[number];
  if (pages == nullptr) {
    pages = std::make_unique<leaf>();
    pages->fill(absent);
  }
  recent_[number % recent_.size()] = {number, pages.get()};
  return *pages;
}

unsigned page_table::node_for(std::uint64_t page, unsigned near) const {
  const auto after = rules_.upper_bound(page);
  if (after == rules_.begin()) return near;
  const rule& r = std::prev(after)->second;
  if (page > r.last) return near;
  switch (r.policy) {
    case page_policy::interleave: return static_cast<unsigned>((page - r.origin) % pages_on_.size());
    case page_policy::bind: return r.node;
    case page_policy::first_touch: break;
  }
  return near;
}

page_table::frame_number page_table::make(std::uint64_t page, unsigned near) {
  const auto node = static_cast<std::uint8_t>(node_for(page, near));
  frame_number frame;
  if (!free_.empty()) {
    frame = free_.back();
    free_.pop_back();
    nodes_of_frames_[frame] = node;
  } else {
    if (taken_ >= max_frames_)
      throw std::length_error("the simulated program touches more memory than lines can be numbered");
    frame = scattered(taken_, scatter_bits_, seed_);
    const std::size_t group = std::size_t{1} << scatter_bits_;
    if (taken_ % group == 0) nodes_of_frames_.resize(nodes_of_frames_.size() + group);
    nodes_of_frames_[frame] = node;
    ++taken_;
  }
  ++pages_on_[node];
  leaf_of(page >> leaf_bits)[page & (leaf_pages - 1)] = frame;
  return frame;
}

void page_table::cut_rules(std::uint64_t first, std::uint64_t last) {
  auto at = rules_.upper_bound(first);
  if (at != rules_.begin()) --at;
  while (at != rules_.end() && at->first <= last) {
    const std::uint64_t begin = at->first;
    const rule old = at->second;
    if (old.last < first) {
      ++at;
      continue;
    }
    at = rules_.erase(at);
    if (begin < first) rules_.insert({begin, {first - 1, old.origin, old.policy, old.node}});
    if (old.last > last) at = rules_.insert({last + 1, old}).first;
  }
}

void page_table::place(std::uint64_t first, std::uint64_t last, page_policy policy, unsigned node) {
  cut_rules(first, last);
  rules_.insert({first, {last, first, policy, node}});
}

std::uint64_t page_table::bytes() const noexcept {
  return leaves_.size() * sizeof(leaf) + nodes_of_frames_.capacity() + free_.capacity() * sizeof(frame_number);
}

}  // namespace heddle::sim
