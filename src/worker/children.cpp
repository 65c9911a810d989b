// Blocks of groups' children that have not begun: a list a worker,
// and whole slabs of memory that live as long as it does.
#include <heddle/task_group.hpp>

#include <new>

#include "worker/worker.hpp"

namespace heddle::worker {

namespace {

constexpr std::size_t blocks_in_slab = 64;

}  // namespace

detail::group_child* worker::new_child() noexcept {
  using detail::group_child;
  if (spare_children == nullptr) spare_children = returned_children_.exchange(nullptr);
  if (spare_children == nullptr) {
    void* memory =
        ::operator new(blocks_in_slab * sizeof(group_child), std::align_val_t{alignof(group_child)}, std::nothrow);
    if (memory == nullptr) return nullptr;
    auto* blocks = static_cast<group_child*>(memory);
    for (std::size_t i = 0; i < blocks_in_slab; ++i) {
      auto* child = ::new (blocks + i) group_child(run_taken_child);
      child->home = this;
      child->next = i == 0 ? child_slabs_ : spare_children;
      if (i == 0) child_slabs_ = child;  // not handed out: its `next` leads to the slab before
      else spare_children = child;
    }
  }
  group_child* child = spare_children;
  spare_children = child->next;
  return child;
}

void worker::give_back_child(detail::group_child& child) noexcept {
  detail::group_child* head = returned_children_.load(std::memory_order_relaxed);  // decided by the exchange
  do child.next = head;
  while (!returned_children_.compare_exchange_weak(head, &child));
}

void worker::free_children() noexcept {
  while (child_slabs_ != nullptr) {
    detail::group_child* slab = child_slabs_;
    child_slabs_ = slab->next;
    ::operator delete(slab, std::align_val_t{alignof(detail::group_child)});
  }
}

}  // namespace heddle::worker
