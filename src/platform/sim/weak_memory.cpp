#include "platform/sim/weak_memory.hpp"

#include <algorithm>
#include <utility>

namespace heddle::sim {

namespace {

bool acquires(int order) noexcept {
  return order == __ATOMIC_ACQUIRE || order == __ATOMIC_CONSUME || order == __ATOMIC_ACQ_REL ||
         order == __ATOMIC_SEQ_CST;
}
bool releases(int order) noexcept {
  return order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
}

std::uintptr_t number_of(const volatile void* at) noexcept { return reinterpret_cast<std::uintptr_t>(at); }

}  // namespace

void weak_memory::view::raise(std::size_t place, std::uint64_t message) {
  if (place >= seen_.size()) seen_.resize(place + 1);
  seen_[place] = std::max(seen_[place], message);
}

void weak_memory::view::join(const view& other) {
  if (other.seen_.size() > seen_.size()) seen_.resize(other.seen_.size());
  for (std::size_t i = 0; i < other.seen_.size(); ++i) seen_[i] = std::max(seen_[i], other.seen_[i]);
}

void weak_memory::begin(const void* memory, std::size_t bytes) {
  ranges_.push_back({number_of(memory), number_of(memory) + bytes});
}

void weak_memory::end(const void* memory, std::size_t bytes) {
  const range gone{number_of(memory), number_of(memory) + bytes};
  std::erase_if(ranges_, [&](const range& r) { return r.begin == gone.begin && r.end == gone.end; });
  std::erase_if(weak_, [&](const auto& entry) { return entry.first >= gone.begin && entry.first < gone.end; });
}

bool weak_memory::is_weak(std::uintptr_t at) const noexcept {
  return std::any_of(ranges_.begin(), ranges_.end(), [at](const range& r) { return at >= r.begin && at < r.end; });
}

weak_memory::strand_view& weak_memory::of(unsigned strand) {
  if (strand >= strands_.size()) strands_.resize(strand + 1);
  return strands_[strand];
}

// A value that was written by other means than atomic operations (a constructor) is older than all that follows, for
// all strands.
weak_memory::location& weak_memory::at(std::uintptr_t address, std::uint64_t value) {
  const auto [found, is_new] = weak_.try_emplace(address);
  location& l = found->second;
  if (is_new) {
    l.place = places_++;
    l.oldest = 1;
    l.messages.push_back({value, {}, points_});
  } else if (l.messages.back().value != value) {
    l.oldest = l.newest() + 1;
    l.messages.clear();
    l.messages.push_back({value, {}, points_});
  }
  return l;
}

void weak_memory::add(location& l, std::uint64_t value, view released) {
  l.messages.push_back({value, std::move(released), points_});
  if (l.messages.size() <= longest_history) return;
  l.messages.pop_front();
  ++l.oldest;
}

void weak_memory::take(strand_view& me, const view& released, int order) {
  (acquires(order) ? me.now : me.acquired).join(released);
}

const weak_memory::view& weak_memory::given_by(const strand_view& me, int order) const {
  return releases(order) ? me.now : me.released;
}

std::uint64_t weak_memory::load(unsigned by, const volatile void* memory, std::uint64_t value, int order) {
  const std::uintptr_t address = number_of(memory);
  strand_view& me = of(by);
  if (!is_weak(address)) {
    if (const auto found = strong_.find(address); found != strong_.end()) take(me, found->second, order);
    return value;
  }
  location& l = at(address, value);
  std::uint64_t oldest = std::max(l.oldest, me.now[l.place]);
  if (order == __ATOMIC_SEQ_CST) oldest = std::max(oldest, total_[l.place]);
  while (oldest < l.newest() && points_ - l.messages[oldest + 1 - l.oldest].since > longest_delay) ++oldest;
  // The newest is chosen as often as all others together.
  std::uint64_t chosen = l.newest();
  if (oldest < chosen && random_.below(2) == 0)
    chosen = oldest + random_.below(static_cast<std::uint32_t>(chosen - oldest));
  const message& m = l.messages[chosen - l.oldest];
  me.now.raise(l.place, chosen);
  take(me, m.released, order);
  return m.value;
}

void weak_memory::store(unsigned by, const volatile void* memory, std::uint64_t before, std::uint64_t value,
                        int order) {
  const std::uintptr_t address = number_of(memory);
  strand_view& me = of(by);
  if (!is_weak(address)) {
    strong_[address] = given_by(me, order);
    return;
  }
  location& l = at(address, before);
  const std::uint64_t number = l.newest() + 1;
  me.now.raise(l.place, number);
  view released = given_by(me, order);
  released.raise(l.place, number);
  add(l, value, std::move(released));
  if (order == __ATOMIC_SEQ_CST) total_.raise(l.place, number);
}

void weak_memory::change(unsigned by, const volatile void* memory, std::uint64_t before, std::uint64_t value,
                         int order) {
  const std::uintptr_t address = number_of(memory);
  strand_view& me = of(by);
  if (!is_weak(address)) {
    view& kept = strong_[address];
    take(me, kept, order);
    kept.join(given_by(me, order));  // it continues a release sequence
    return;
  }
  location& l = at(address, before);
  take(me, l.messages.back().released, order);
  const std::uint64_t number = l.newest() + 1;
  me.now.raise(l.place, number);
  view released = l.messages.back().released;
  released.join(given_by(me, order));
  released.raise(l.place, number);
  add(l, value, std::move(released));
  if (order == __ATOMIC_SEQ_CST) total_.raise(l.place, number);
}

void weak_memory::look(unsigned by, const volatile void* memory, std::uint64_t value, int order) {
  const std::uintptr_t address = number_of(memory);
  strand_view& me = of(by);
  if (!is_weak(address)) {
    if (const auto found = strong_.find(address); found != strong_.end()) take(me, found->second, order);
    return;
  }
  location& l = at(address, value);
  me.now.raise(l.place, l.newest());
  take(me, l.messages.back().released, order);
}

void weak_memory::fence_all(strand_view& me) {
  me.now.join(me.acquired);
  me.now.join(total_);
  total_.join(me.now);
  me.released = me.now;
}

void weak_memory::fence(unsigned by, int order) {
  strand_view& me = of(by);
  if (order == __ATOMIC_SEQ_CST) return fence_all(me);
  if (acquires(order)) me.now.join(me.acquired);
  if (releases(order)) me.released = me.now;
}

void weak_memory::heavy_fence(unsigned by) {
  fence_all(of(by));
  const std::size_t from = random_.below(static_cast<std::uint32_t>(strands_.size()));
  for (std::size_t i = 0; i < strands_.size(); ++i) fence_all(strands_[(from + i) % strands_.size()]);
  fence_all(of(by));
}

void weak_memory::pass_on(unsigned from, unsigned to) {
  of(std::max(from, to));  // called first, so that no reference below is invalidated
  of(to).now.join(of(from).now);
}

}  // namespace heddle::sim
