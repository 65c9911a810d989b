// The layout that a debugger must know to find the user-level threads of a process or a core, as data;
// scripts/gdb/heddle.py reads it. The order and meaning of the fields are an interface: every change must raise
// `version`.
#include <cstddef>
#include <cstdint>
#include <tuple>

#include <heddle/export.hpp>

#include "fiber/stack_pool.hpp"

namespace heddle::fiber {

struct debug_layout {
  std::uint64_t version{2};
  // The pointers to pools, null where there is none, and their number.
  const void* pools{&stack_pool::all_};
  std::uint64_t most_pools{std::tuple_size_v<decltype(stack_pool::all_)>};
  // The fields of a pool: where its slabs are, their number, and the size of a slab.
  std::uint64_t slabs{offsetof(stack_pool, slabs_) + offsetof(reserved_list<stack_pool::slab>, memory_)};
  std::uint64_t slab_count{offsetof(stack_pool, slabs_) + offsetof(reserved_list<stack_pool::slab>, size_)};
  std::uint64_t slab_size{sizeof(stack_pool::slab)};
  std::uint64_t slab_memory{offsetof(stack_pool::slab, memory)};
  std::uint64_t slab_bytes{offsetof(stack_pool::slab, bytes)};
  std::uint64_t slab_used{offsetof(stack_pool::slab, used)};  // the used bytes, from the low end
  std::uint64_t slab_class{offsetof(stack_pool::slab, size_class)};
  // A stack has `smallest` << class bytes. Its control block is at its top, below a colour of (address / bytes %
  // colours) * colour_step bytes.
  std::uint64_t smallest{stack_pool::smallest};
  std::uint64_t block_size{sizeof(thread)};
  std::uint64_t block_align{alignof(thread)};
  std::uint64_t colours{stack_pool::colours};
  std::uint64_t colour_step{stack_pool::colour_step};
  // The fields of a control block. `stack` is the block itself. In a block at the top of a given stack it is the block
  // of the light thread that has the stack, which has all fields below except stack_low. waits_for is null unless the
  // thread is parked; its registers are then at stack_pointer (arch::switch_frame).
  std::uint64_t stack{offsetof(thread, stack)};
  std::uint64_t stack_pointer{offsetof(thread, stack_pointer)};
  std::uint64_t name{offsetof(thread, shown.name)};
  std::uint64_t waits_for{offsetof(thread, shown.waits_for)};
  std::uint64_t id{offsetof(thread, id)};
  std::uint64_t stack_low{offsetof(thread, stack_memory.low)};
};

}  // namespace heddle::fiber

extern "C" {
extern HEDDLE_API const heddle::fiber::debug_layout heddle_debug;
[[gnu::used]] const heddle::fiber::debug_layout heddle_debug;
}
