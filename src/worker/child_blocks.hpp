// A worker's blocks for groups' children that have not begun: whole slabs of memory that live as long as the worker
// does. Owns the slabs, and the list of blocks that come back from elsewhere. Blocks at hand are in the worker's fork
// queue (`spare_children`), where spawns and ends find them. Promise: a block comes back to the worker that made it.
#pragma once

#include <atomic>

namespace heddle::detail {
class job;
struct group_child;
}  // namespace heddle::detail

namespace heddle::worker {

class worker;

class child_blocks {
 public:
  child_blocks() = default;
  ~child_blocks();
  child_blocks(const child_blocks&) = delete;
  child_blocks& operator=(const child_blocks&) = delete;

  // Called where the worker has no block at hand. Makes blocks for children that have not begun, with the code of all
  // such children, and puts them at hand. Returns the first of them; null if there is no memory.
  [[nodiscard]] static detail::group_child* refill(worker& owner, void (*run)(detail::job*) noexcept) noexcept;
  // Gives back blocks that another worker, the caller, has finished with: a chain through `next`.
  void give_back(detail::group_child& first, detail::group_child& last) noexcept;

 private:
  std::atomic<detail::group_child*> returned_{nullptr};  // pushed by other workers, emptied by the worker
  detail::group_child* slabs_{nullptr};                  // the first block of each, through `next`
};

}  // namespace heddle::worker
