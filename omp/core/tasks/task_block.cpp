#include "omp/core/tasks/task_block.hpp"

#include <cstdlib>
#include <mutex>
#include <new>
#include <utility>

#include "omp/core/locks/kept.hpp"
#include "omp/core/locks/short_lock.hpp"

namespace heddle::omp {

// Full magazines, linked by the `payload` of their first blocks, whose count is magazine_size but for those of threads
// that have ended (abi_flags of the first block).
class block_depot {
 public:
  void put(unsigned size, task_blocks::magazine& full) noexcept {
    if (full.first == nullptr) return;
    full.first->abi_flags = full.count;
    const std::lock_guard hold(guard_);
    full.first->abi_word = first_[size];
    first_[size] = full.first;
    full = {};
  }
  task_blocks::magazine take(unsigned size) noexcept {
    const std::lock_guard hold(guard_);
    explicit_task* const it = first_[size];
    if (it == nullptr) return {};
    first_[size] = static_cast<explicit_task*>(it->abi_word);
    return {it, it->abi_flags};
  }

 private:
  short_lock guard_;
  explicit_task* first_[block_classes]{};
};

namespace {

// Threads give back what they have after the end of main, too.
constinit kept<block_depot> the_depot;
block_depot& depot() noexcept { return the_depot.object; }

// A child begins with an empty depot.
[[maybe_unused]] const bool told_of_forks = forget_in_children<the_depot>();

}  // namespace

explicit_task& task_blocks::take_slow(unsigned size, std::size_t payload) {
  const bool apart = size == block_classes;
  if (apart) size = 0;
  magazine& full = full_[size];
  if (full.count == 0 && spare_[size].count != 0) std::swap(full, spare_[size]);
  if (full.count == 0) full = depot().take(size);
  if (full.count == 0) {
    const std::size_t each = block_sizes[size];
    auto* memory =
        static_cast<std::byte*>(::operator new(each * magazine_size, std::align_val_t{alignof(explicit_task)}));
    for (std::uint32_t i = 0; i < magazine_size; ++i) {
      auto* const it = new (memory + i * each) explicit_task;
      it->block_class = static_cast<std::uint8_t>(size);
      it->payload = it + 1;
      it->self = it;
      if (&for_payload(it->payload) != it) std::abort();  // the compiler's layout is not what task.hpp says
      it->next = full.first;
      full.first = it;
    }
    full.count = magazine_size;
  }
  explicit_task& it = *full.first;
  if (apart) give_payload(it, payload);  // before it is taken out: it may throw
  full.first = it.next;
  --full.count;
  return it;
}

void task_blocks::make_room(unsigned size) noexcept {
  if (spare_[size].count != 0) depot().put(size, spare_[size]);
  std::swap(full_[size], spare_[size]);
}

void task_blocks::give_payload(explicit_task& it, std::size_t payload) {
  constexpr std::size_t front = alignof(explicit_task);
  auto* const memory = static_cast<std::byte*>(::operator new(front + payload, std::align_val_t{front}));
  it.payload = memory + front;
  static_cast<explicit_task**>(it.payload)[-1] = &it;
  it.own_payload = true;
}

void task_blocks::drop_payload(explicit_task& it) noexcept {
  constexpr std::size_t front = alignof(explicit_task);
  ::operator delete(static_cast<std::byte*>(it.payload) - front, std::align_val_t{front});
  it.payload = &it + 1;
  it.own_payload = false;
}

task_blocks::~task_blocks() {
  for (unsigned size = 0; size < block_classes; ++size) {
    depot().put(size, full_[size]);
    depot().put(size, spare_[size]);
  }
}

}  // namespace heddle::omp
