// Entry points of the GNU ABI: taskloop.
#include <algorithm>
#include <cstring>

#include "omp/core/task_reduction.hpp"
#include "omp/core/taskloop.hpp"
#include "omp/core/taskwait.hpp"
#include "omp/gomp/task_layout.hpp"

HEDDLE_OMP_ENTRY void GOMP_taskgroup_reduction_register(std::uintptr_t* words);

namespace heddle::omp {

namespace {

using namespace gomp;

std::uint64_t iterations_of(long start, long end, long step, bool) noexcept {
  if (step > 0) return start >= end ? 0 : (static_cast<std::uint64_t>(end) - start - 1) / step + 1;
  return start <= end ? 0 : (static_cast<std::uint64_t>(start) - end - 1) / (0 - static_cast<std::uint64_t>(step)) + 1;
}

// A loop that counts down has the step's two's complement.
std::uint64_t iterations_of(unsigned long long start, unsigned long long end, unsigned long long step,
                            bool up) noexcept {
  if (up) return start >= end ? 0 : (end - start - 1) / step + 1;
  return start <= end ? 0 : (start - end - 1) / (0 - step) + 1;
}

template <class Number>
void run_taskloop(function fn, void* data, copy_function copy, long bytes, long align, unsigned flags,
                  unsigned long amount, int priority, Number start, Number end, Number step) {
  thread& self = thread::current();
  const std::uint64_t iterations = iterations_of(start, end, step, (flags & task_flags::up) != 0);
  if (iterations == 0 && (flags & task_flags::reduction) == 0) return;
  const bool group = (flags & task_flags::nogroup) == 0;
  if (group) {
    begin_group(self);
    struct head {
      Number bounds[2];
      std::uintptr_t* words;
    };
    if ((flags & task_flags::reduction) != 0) GOMP_taskgroup_reduction_register(static_cast<head*>(data)->words);
  }
  const cut_by how = (flags & task_flags::grainsize) != 0 ? cut_by::grainsize
                     : amount != 0                        ? cut_by::num_tasks
                                                          : cut_by::nothing;
  const loop_cut cut = cut_loop(iterations, how, amount, (flags & task_flags::strict) != 0, self.in->size);
  const auto size = static_cast<std::size_t>(bytes);
  const auto alignment = std::max<std::size_t>(static_cast<std::size_t>(align), 1);
  Number at = start;
  for (std::uint64_t i = 0; iterations != 0 && i < cut.tasks; ++i) {
    explicit_task& it = make_task(self, alignment > alignof(explicit_task) ? size + alignment : size);
    set_body(it, fn, copy, alignment);
    if ((flags & (task_flags::is_final | task_flags::untied | task_flags::priority)) != 0) {
      it.plain = false;
      it.is_final = it.is_final || (flags & task_flags::is_final) != 0;
      it.tied = (flags & task_flags::untied) == 0;
      if ((flags & task_flags::priority) != 0) it.priority = std::min(priority, largest_priority());
    }
    char* const argument = static_cast<char*>(it.payload) + it.abi_flags;
    if (copy != nullptr) copy(argument, data);
    else std::memcpy(argument, data, size);
    const Number next =
        static_cast<Number>(static_cast<std::uint64_t>(at) + cut.size(i) * static_cast<std::uint64_t>(step));
    const Number bounds[2] = {at, next};
    std::memcpy(argument, bounds, sizeof bounds);
    at = next;
    if ((flags & task_flags::if_clause) != 0) submit(self, it);
    else run_included(self, it);
  }
  if (group) end_group(self);
}

}  // namespace

HEDDLE_OMP_ENTRY void GOMP_taskloop(function fn, void* data, copy_function copy, long bytes, long align, unsigned flags,
                                    unsigned long amount, int priority, long start, long end, long step) {
  run_taskloop<long>(fn, data, copy, bytes, align, flags, amount, priority, start, end, step);
}

HEDDLE_OMP_ENTRY void GOMP_taskloop_ull(function fn, void* data, copy_function copy, long bytes, long align,
                                        unsigned flags, unsigned long amount, int priority, unsigned long long start,
                                        unsigned long long end, unsigned long long step) {
  run_taskloop<unsigned long long>(fn, data, copy, bytes, align, flags, amount, priority, start, end, step);
}

}  // namespace heddle::omp
