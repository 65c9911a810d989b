#include "worker/child_blocks.hpp"

#include <heddle/task_group.hpp>

#include <new>

#include "worker/jobs.hpp"
#include "worker/worker.hpp"

namespace heddle::worker {

namespace {

constexpr std::size_t blocks_in_slab = 64;

}  // namespace

detail::group_child* child_blocks::refill(worker& owner, detail::job::code run) noexcept {
  using detail::group_child;
  child_blocks& of = owner.children;
  owner.spare_children = of.returned_.exchange(nullptr);
  if (owner.spare_children != nullptr) return owner.spare_children;
  void* memory =
      ::operator new(blocks_in_slab * sizeof(group_child), std::align_val_t{alignof(group_child)}, std::nothrow);
  if (memory == nullptr) return nullptr;
  detail::code_of_children.store(run, std::memory_order_relaxed);  // as where it is declared
  auto* blocks = static_cast<group_child*>(memory);
  for (std::size_t i = 0; i < blocks_in_slab; ++i) {
    auto* child = ::new (blocks + i) group_child(run);
    child->home = &owner;
    child->next = i == 0 ? of.slabs_ : owner.spare_children;
    if (i == 0) of.slabs_ = child;  // not handed out: its `next` leads to the previous slab
    else owner.spare_children = child;
  }
  return owner.spare_children;
}

void child_blocks::give_back(detail::group_child& first, detail::group_child& last) noexcept {
  detail::group_child* head = returned_.load(std::memory_order_relaxed);  // decided by the exchange
  do last.next = head;
  while (!returned_.compare_exchange_weak(head, &first));
}

child_blocks::~child_blocks() {
  while (slabs_ != nullptr) {
    detail::group_child* slab = slabs_;
    slabs_ = slab->next;
    ::operator delete(slab, std::align_val_t{alignof(detail::group_child)});
  }
}

}  // namespace heddle::worker
