#include "fiber/light_threads.hpp"

#include <algorithm>
#include <bit>
#include <new>

#include "platform/platform.hpp"

namespace heddle::fiber {

light_threads::~light_threads() {
  for (const slab& s : slabs_) platform::release(s.memory, s.bytes);
}

// Each slab is as large as all slabs before it. So the first ones are small, and a hundred thousand threads take few
// page faults, because of huge pages.
bool light_threads::grow() noexcept {
  const std::size_t bytes = std::clamp(std::bit_ceil(made_ * stride), least_slab, greatest_slab);
  void* const memory = platform::reserve_dense(bytes);
  if (memory == nullptr) return false;
  if (!slabs_.push_back({memory, bytes})) {
    platform::release(memory, bytes);
    return false;
  }
  fresh_ = static_cast<char*>(memory);
  fresh_end_ = fresh_ + bytes;
  return true;
}

thread* light_threads::take_chain(stack_pool& pool, std::uint64_t& last_id) noexcept {
  thread* first = chains_;
  if (first != nullptr) {
    chains_ = first->listed.newer;
    out_ += length(*first);
    return first;
  }
  if (static_cast<std::size_t>(fresh_end_ - fresh_) < stride && !grow()) return nullptr;
  const unsigned most = to_be_made();
  unsigned count = 0;
  for (; count < most && static_cast<std::size_t>(fresh_end_ - fresh_) >= stride; ++count, fresh_ += stride) {
    auto* t = ::new (fresh_ + room) thread;
    t->stack_memory.pool = &pool;
    t->size_class = no_size_class;
    t->id = ++last_id;
    t->next = first;
    first = t;
  }
  first->ties.chain_length = count;
  made_ += count;
  out_ += count;
  return first;
}

thread* light_threads::take_one(stack_pool& pool, std::uint64_t& last_id) noexcept {
  thread* first = take_chain(pool, last_id);
  if (first == nullptr || first->next == nullptr) return first;
  const unsigned others = length(*first) - 1;
  give_chain(first->next, others);
  first->next = nullptr;
  return first;
}

void light_threads::give_chain(thread* first, unsigned length) noexcept {
  first->ties.chain_length = length;
  first->listed.newer = chains_;
  chains_ = first;
  out_ -= length;
}

void light_threads::give_one(thread& t) noexcept {
  unsigned length = 1;
  t.next = nullptr;
  if (chains_ != nullptr && light_threads::length(*chains_) < in_chain) {
    t.next = chains_;
    length += light_threads::length(*chains_);
    out_ += length - 1;  // give_chain subtracts them once more
    chains_ = chains_->listed.newer;
  }
  give_chain(&t, length);
}

}  // namespace heddle::fiber
