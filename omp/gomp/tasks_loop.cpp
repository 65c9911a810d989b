// Entry points of the GNU ABI: taskloop.
#include <algorithm>
#include <cstring>

#include "omp/core/tasks/task_reduction.hpp"
#include "omp/core/tasks/taskloop.hpp"
#include "omp/core/tasks/taskwait.hpp"
#include "omp/gomp/task_layout.hpp"
#include "omp/ompt/records.hpp"
#include "omp/ompt/sync.hpp"
#include "omp/ompt/tasks.hpp"
#include "omp/ompt/work.hpp"

HEDDLE_OMP_ENTRY void GOMP_taskgroup_reduction_register(std::uintptr_t* words);

namespace heddle::omp {

namespace {

using namespace gomp;

// The iterations of a task, numbered from 0. It lies in front of the task's argument where a tool listens.
struct chunk {
  std::uint64_t first;
  std::uint64_t count;
};

void run_told(explicit_task& it, thread& self, bool discard) {
  const ompt::outside code(self, it, __builtin_frame_address(0));
  const chunk& mine = *static_cast<chunk*>(it.payload);
  if (!discard) ompt::taskloop_chunk(self, mine.first, mine.count);
  run_body(it, self, discard);
}

std::uint64_t iterations_of(long start, long end, long step, bool) noexcept {
  if (step > 0) return start >= end ? 0 : (static_cast<std::uint64_t>(end) - start - 1) / step + 1;
  return start <= end ? 0 : (static_cast<std::uint64_t>(start) - end - 1) / (0 - static_cast<std::uint64_t>(step)) + 1;
}

// A loop that counts down has the step as a two's complement.
std::uint64_t iterations_of(unsigned long long start, unsigned long long end, unsigned long long step,
                            bool up) noexcept {
  if (up) return start >= end ? 0 : (end - start - 1) / step + 1;
  return start <= end ? 0 : (start - end - 1) / (0 - step) + 1;
}

// The data that all parts of a loop share. With a part, it lies in front of the argument of the task that runs the
// part.
template <class Number>
struct part_of_loop {
  loop_cut cut;
  function fn;
  std::size_t size;
  Number start, step;
  // Whether the end of a group waits for all its tasks. If not, each part waits for those that it has given away.
  bool is_awaited;
  loop_part part;
};

// Runs the pieces one after the other on one argument, as undeferred tasks run on their maker's (GOMP_task).
template <class Number>
void run_pieces(thread& self, const part_of_loop<Number>& whole, const loop_part& part, void* argument) {
  run_part(
      self, part,
      [&](std::uint64_t i) {
        const auto at = [&](std::uint64_t iteration) {
          return static_cast<Number>(static_cast<std::uint64_t>(whole.start) +
                                     iteration * static_cast<std::uint64_t>(whole.step));
        };
        const std::uint64_t before = whole.cut.before(i);
        const Number bounds[2] = {at(before), at(before + whole.cut.size(i))};
        explicit_task& it = make_task(self, 0);
        std::memcpy(argument, bounds, sizeof bounds);
        begin_included(self, it);
        if (!is_cancelled(it)) whole.fn(argument);
        end_included(self, it);
      },
      [&](const loop_part& half) -> explicit_task& {
        explicit_task& it = make_task(self, sizeof whole + whole.size);
        it.body = [](explicit_task& task, thread& on, bool discard) {
          auto& mine = *static_cast<part_of_loop<Number>*>(task.payload);
          if (discard) return;
          run_pieces(on, mine, mine.part, &mine + 1);
          if (!mine.is_awaited) taskwait(on);
        };
        auto* const told = static_cast<part_of_loop<Number>*>(it.payload);
        *told = whole;
        told->part = half;
        std::memcpy(told + 1, argument, whole.size);
        return it;
      });
}

template <class Number>
void run_taskloop(function fn, void* data, copy_function copy, long bytes, long align, unsigned flags,
                  unsigned long amount, int priority, Number start, Number end, Number step, const void* code) {
  thread& self = thread::current();
  const std::uint64_t iterations = iterations_of(start, end, step, (flags & task_flags::up) != 0);
  if (iterations == 0 && (flags & task_flags::reduction) == 0) return;
  const bool group = (flags & task_flags::nogroup) == 0;
  if (group) {
    ompt::group_begins(self, code);
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
  const bool told = ompt::on();
  if (told) [[unlikely]]
    ompt::work_begins(self, ompt_work_taskloop, iterations, code);
  const bool deferred = (flags & task_flags::if_clause) != 0;
  constexpr unsigned differ = task_flags::is_final | task_flags::untied | task_flags::priority;
  const bool plain = copy == nullptr && (flags & differ) == 0 && !told;
  if (plain && deferred && alignment <= alignof(part_of_loop<Number>) && goes_in_parts(self, cut.tasks)) {
    const part_of_loop<Number> whole{cut, fn, size, start, step, group, {}};
    run_pieces(self, whole, {0, cut.tasks}, data);
    if (group) ompt::group_ends(self, code);
    return;
  }
  const std::size_t front = told ? sizeof(chunk) : 0;
  std::uint64_t number = 0;
  Number at = start;
  for (std::uint64_t i = 0; iterations != 0 && i < cut.tasks; ++i) {
    const Number next =
        static_cast<Number>(static_cast<std::uint64_t>(at) + cut.size(i) * static_cast<std::uint64_t>(step));
    const Number bounds[2] = {at, next};
    at = next;
    if (plain && (!deferred || runs_in_place(self))) {  // on the caller's own data, as in GOMP_task
      explicit_task& it = make_task(self, 0);
      std::memcpy(data, bounds, sizeof bounds);
      begin_included(self, it);
      if (!is_cancelled(it)) fn(data);
      end_included(self, it);
      continue;
    }
    explicit_task& it = make_task(self, told || alignment > alignof(explicit_task) ? size + front + alignment : size);
    set_body(it, fn, copy, alignment);
    if (told) [[unlikely]]
      it.abi_flags = offset_of(static_cast<char*>(it.payload) + front, alignment) + static_cast<std::uint32_t>(front);
    if ((flags & differ) != 0) {
      it.plain = false;
      it.is_final = it.is_final || (flags & task_flags::is_final) != 0;
      it.tied = (flags & task_flags::untied) == 0;
      if ((flags & task_flags::priority) != 0) it.priority = std::min(priority, largest_priority());
    }
    char* const argument = static_cast<char*>(it.payload) + it.abi_flags;
    if (copy != nullptr) copy(argument, data);
    else std::memcpy(argument, data, size);
    std::memcpy(argument, bounds, sizeof bounds);
    if (told) [[unlikely]] {
      it.body = run_told;
      *static_cast<chunk*>(it.payload) = {number, cut.size(i)};
      number += cut.size(i);
      if (deferred) ompt::submit(self, it, nullptr, code);
      else ompt::run_undeferred(self, it, nullptr, code);
    } else if (deferred) {
      submit(self, it);
    } else {
      run_included(self, it);
    }
  }
  if (told) [[unlikely]]
    ompt::work_ends(self, ompt_work_taskloop, iterations, code);
  if (group) ompt::group_ends(self, code);
}

}  // namespace

HEDDLE_OMP_ENTRY void GOMP_taskloop(function fn, void* data, copy_function copy, long bytes, long align, unsigned flags,
                                    unsigned long amount, int priority, long start, long end, long step) {
  run_taskloop<long>(fn, data, copy, bytes, align, flags, amount, priority, start, end, step,
                     __builtin_return_address(0));
}

HEDDLE_OMP_ENTRY void GOMP_taskloop_ull(function fn, void* data, copy_function copy, long bytes, long align,
                                        unsigned flags, unsigned long amount, int priority, unsigned long long start,
                                        unsigned long long end, unsigned long long step) {
  run_taskloop<unsigned long long>(fn, data, copy, bytes, align, flags, amount, priority, start, end, step,
                                   __builtin_return_address(0));
}

}  // namespace heddle::omp
