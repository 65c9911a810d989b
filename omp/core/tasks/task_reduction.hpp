// Task reductions: private copies of reduction items, one for each member of the team. The tasks of a group use them.
// The LLVM ABI leaves copies, initial values and combining to the runtime; the GNU ABI leaves only their memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "omp/core/tasks/task_group.hpp"

namespace heddle::omp {

class thread;

// An item in the form of the LLVM ABI.
struct reduction_item {
  void* shared;
  // The second parameter of init; null if init has one parameter.
  void* original;
  std::size_t size;
  void* init;  // null means that all bytes are 0
  void* fini;  // may be null
  void* combine;
};

// Begins reductions for the innermost group of the running task.
void begin_reductions(thread& self, const reduction_item* items, std::size_t count);
// For a parallel region or a work-sharing construct with the task modifier, called by every member of the team: begins
// a group of the member's own, and copies that all share. The member that ends it last combines the copies into its own
// item.
void begin_shared_reductions(thread& self, bool of_work_share, const reduction_item* items, std::size_t count);
void end_shared_reductions(thread& self);

// The member's copy of the item `data`, or of the item of which `data` is another member's copy; searched from `group`
// outwards. Null if there is none.
void* private_copy(thread& self, task_group* group, void* data);

// Called at the end of the group, when all its tasks have ended.
void finish_reductions(task_group& group) noexcept;

// For the GNU ABI, which has linked arrays of words, each {count, size of a member's copies, alignment, allocator,
// next, ours, end of the copies, {address, offset, ours}...}. Memory for `members` copies is put in place of the
// alignment. It comes from `shared` if another member has registered the same items before.
void register_words(std::uintptr_t* words, std::uintptr_t* older, std::uintptr_t* shared, unsigned members);
void unregister_words(std::uintptr_t* words, bool free_copies) noexcept;
// For [i] of the first `count`: replaces the address of an item or of a copy by that of this member's copy. For the
// first `originals`, the item's own address is put behind them all.
void remap_words(const task_group* group, unsigned number, std::size_t count, std::size_t originals, void** pointers);

// Begins a group of the member's own with those words, until the end of a work-sharing construct; `shared` is the
// construct's, and null for the first member to come. The second function: until the region's end, with words that have
// been registered for all.
void begin_shared_words(thread& self, std::uintptr_t* words, void*& shared);
void begin_region_words(thread& self, std::uintptr_t* words);

}  // namespace heddle::omp
