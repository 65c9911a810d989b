// Memory of tasks: free blocks of a few sizes, by thread. A block that another thread frees stays with that thread;
// full magazines go to a depot of the process, empty ones come from there, as in Bonwick, Adams, "Magazines and Vmem"
// (USENIX 2001). So a producer and its consumers meet at the depot once in `magazine_size` tasks.
//
// A block is never returned to the system, and never becomes another size: who has read a task's address from a queue
// may read its atomic members though the task may be gone ([omp_task:1]).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "omp/core/tasks/task.hpp"

namespace heddle::omp {

// Asks for a cache line that will be written; a hint, good for any address.
inline void prefetch_to_write(const void* line) noexcept {
#if defined(__x86_64__)
  // What __builtin_prefetch is by default asks for a line to read. No operation on processors that have none for this.
  asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(line)));
#else
  __builtin_prefetch(line, 1);
#endif
}

// The task may have been written on another processor last, and its lines take long to come from there: all are asked
// for at once. Null: none is.
inline void prefetch_task(const explicit_task* it) noexcept {
  for (std::size_t at = 0; at < sizeof(explicit_task) + 64; at += 64)
    prefetch_to_write(reinterpret_cast<const std::byte*>(it) + at);
}

inline constexpr unsigned block_classes = 3;
inline constexpr std::size_t block_sizes[block_classes] = {320, 576, 2112};
inline constexpr std::size_t smallest_payload = block_sizes[0] - sizeof(explicit_task);  // that fits into each
inline constexpr std::uint32_t magazine_size = 64;

class task_blocks {
 public:
  task_blocks() = default;
  task_blocks(const task_blocks&) = delete;
  task_blocks& operator=(const task_blocks&) = delete;
  ~task_blocks();

  // The descriptor's members are as their last user left them, but for block_class, payload, own_payload and self.
  // What does not fit into the largest block gets memory of its own. Throws std::bad_alloc.
  explicit_task& take(std::size_t payload) {
    const unsigned size = payload + sizeof(explicit_task) <= block_sizes[0] ? 0 : class_of(payload);
    magazine& from = full_[size];
    explicit_task* it = from.first;
    if (it == nullptr) [[unlikely]]
      return take_slow(size, payload);
    from.first = it->next;
    --from.count;
    prefetch_task(from.first);  // one task ahead
    if (size == block_classes) [[unlikely]]
      give_payload(*it, payload);
    return *it;
  }
  void put(explicit_task& it) noexcept {
    if (it.own_payload) [[unlikely]]
      drop_payload(it);
    magazine& to = full_[it.block_class];
    if (to.count == magazine_size) [[unlikely]]
      make_room(it.block_class);
    it.next = to.first;
    to.first = &it;
    ++to.count;
  }

 private:
  friend class block_depot;
  struct magazine {
    explicit_task* first{nullptr};
    std::uint32_t count{0};
  };
  // block_classes: the smallest block, and a payload of its own.
  static unsigned class_of(std::size_t payload) noexcept {
    for (unsigned i = 0; i < block_classes; ++i)
      if (payload + sizeof(explicit_task) <= block_sizes[i]) return i;
    return block_classes;
  }
  explicit_task& take_slow(unsigned size, std::size_t payload);
  void make_room(unsigned size) noexcept;
  static void give_payload(explicit_task& it, std::size_t payload);
  static void drop_payload(explicit_task& it) noexcept;

  magazine full_[block_classes + 1];  // the last one stays empty: there the slow path is taken
  magazine spare_[block_classes];
};

// What a thread knows of tasks, whichever team it is in.
struct thread_tasks {
  task_blocks blocks;
  unsigned nested{0};                  // tasks that run where they were made, on top of each other
  task_group* group{nullptr};          // one that has ended, for the next
  explicit_task* with_event{nullptr};  // LLVM's ABI: made with an event, and neither submitted nor begun yet
};

}  // namespace heddle::omp
