// Task reductions: private copies of reduction items, one a member of the team, for the tasks of a group. The LLVM ABI
// leaves copies, initial values and combining to the runtime; the GNU one only their memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "omp/core/tasks/task_group.hpp"

namespace heddle::omp {

class thread;

// As the LLVM ABI describes one.
struct reduction_item {
  void* shared;
  void* original;  // init has a second parameter, and this is it; null: it has one
  std::size_t size;
  void* init;  // null: all bytes 0
  void* fini;  // or null
  void* combine;
};

// For the innermost group of the running task.
void begin_reductions(thread& self, const reduction_item* items, std::size_t count);
// Of a parallel region or a work-sharing construct with the task modifier, which every member of the team calls: a
// group of the member's own, and copies that all share. Whoever ends it last combines them into its own item.
void begin_shared_reductions(thread& self, bool of_work_share, const reduction_item* items, std::size_t count);
void end_shared_reductions(thread& self);

// The member's copy of the item that `data` is, or is another member's copy of; searched from `group` outwards. Null:
// there is none.
void* private_copy(thread& self, task_group* group, void* data);

// At the end of the group, all tasks of which have ended.
void finish_reductions(task_group& group) noexcept;

// The GNU ABI's: arrays of words, linked, each {count, size of a member's copies, alignment, allocator, next, ours, end
// of the copies, {address, offset, ours}...}. Memory for `members` copies is put in place of the alignment; from
// `shared`, if another member has registered the same items before.
void register_words(std::uintptr_t* words, std::uintptr_t* older, std::uintptr_t* shared, unsigned members);
void unregister_words(std::uintptr_t* words, bool free_copies) noexcept;
// [i] of the first `count`: an address of an item or of a copy becomes that of this member's copy; of the first
// `originals`, the item's own is put behind them all.
void remap_words(const task_group* group, unsigned number, std::size_t count, std::size_t originals, void** pointers);

// A group of the member's own with those words, until the end of a work-sharing construct; `shared` is the construct's,
// null for the first member to come. Or until the region's end, with words that have been registered for all.
void begin_shared_words(thread& self, std::uintptr_t* words, void*& shared);
void begin_region_words(thread& self, std::uintptr_t* words);

}  // namespace heddle::omp
