// The memory of tasks: free blocks of a few sizes, by thread. A block that another thread frees stays with that thread.
// Full magazines go to a depot of the process, and empty threads take them from there, as in Bonwick, Adams, "Magazines
// and Vmem" (USENIX 2001). So a producer and its consumers meet at the depot once in `magazine_size` tasks.
//
// A block is never returned to the system, and never changes its size. A thread that has read a task's address from a
// queue may read the task's atomic members though the task may be gone ([omp_task:1]).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "omp/core/tasks/task.hpp"

namespace heddle::omp {

// Requests a cache line that will be written. It is a hint, valid for any address.
inline void prefetch_to_write(const void* line) noexcept {
#if defined(__x86_64__)
  // By default __builtin_prefetch requests a line for reading. The instruction does nothing on processors that lack it.
  asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(line)));
#else
  __builtin_prefetch(line, 1);
#endif
}

// The task may have been written last on another processor, from which its lines take long to come, so all are
// requested at once. With null none is.
inline void prefetch_task(const explicit_task* it) noexcept {
  for (std::size_t at = 0; at < sizeof(explicit_task) + 64; at += 64)
    prefetch_to_write(reinterpret_cast<const std::byte*>(it) + at);
}

inline constexpr unsigned block_classes = 3;
inline constexpr std::size_t block_sizes[block_classes] = {320, 576, 2112};
// the largest payload that fits into each block
inline constexpr std::size_t smallest_payload = block_sizes[0] - sizeof(explicit_task);
inline constexpr std::uint32_t magazine_size = 64;

class task_blocks {
 public:
  task_blocks() = default;
  task_blocks(const task_blocks&) = delete;
  task_blocks& operator=(const task_blocks&) = delete;
  ~task_blocks();

  // The members of the descriptor are as their last user left them, except block_class, payload, own_payload and self.
  // A payload that does not fit into the largest block gets memory of its own. Throws std::bad_alloc.
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
  // The result block_classes means the smallest block and a payload of its own.
  static unsigned class_of(std::size_t payload) noexcept {
    for (unsigned i = 0; i < block_classes; ++i)
      if (payload + sizeof(explicit_task) <= block_sizes[i]) return i;
    return block_classes;
  }
  explicit_task& take_slow(unsigned size, std::size_t payload);
  void make_room(unsigned size) noexcept;
  static void give_payload(explicit_task& it, std::size_t payload);
  static void drop_payload(explicit_task& it) noexcept;

  // The last one stays empty, so that the slow path is taken there.
  magazine full_[block_classes + 1];
  magazine spare_[block_classes];
};

// The data of a thread about tasks, whichever team it is in.
struct thread_tasks {
  task_blocks blocks;
  unsigned nested{0};          // tasks that run where they were made, on top of each other
  task_group* group{nullptr};  // a group that has ended, to be used next
  // LLVM's ABI: a task made with an event, and neither submitted nor begun yet.
  explicit_task* with_event{nullptr};
};

}  // namespace heddle::omp
