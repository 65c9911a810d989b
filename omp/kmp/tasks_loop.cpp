// Entry points of the LLVM ABI: taskloop.
#include <cstring>
#include <utility>

#include "omp/core/tasks/taskloop.hpp"
#include "omp/core/tasks/taskwait.hpp"
#include "omp/kmp/task_layout.hpp"
#include "omp/ompt/records.hpp"
#include "omp/ompt/sync.hpp"
#include "omp/ompt/tasks.hpp"
#include "omp/ompt/work.hpp"

struct ident;

namespace heddle::omp {

namespace {

using namespace kmp;

using duplicate = void (*)(void* to, void* from, std::int32_t last);

std::uint64_t iterations_of(std::uint64_t lower, std::uint64_t upper, std::int64_t step) noexcept {
  const auto l = static_cast<std::int64_t>(lower), u = static_cast<std::int64_t>(upper);
  if (step > 0) return l > u ? 0 : (upper - lower) / static_cast<std::uint64_t>(step) + 1;
  return l < u ? 0 : (lower - upper) / (0 - static_cast<std::uint64_t>(step)) + 1;
}

// The iterations of a task, numbered from 0. It lies behind the task's payload where a tool listens.
struct chunk {
  std::uint64_t first;
  std::uint64_t count;
};
chunk& chunk_of(explicit_task& it) noexcept {
  const std::size_t behind = (reinterpret_cast<std::size_t>(it.abi_word) + 7) & ~std::size_t{7};
  return *reinterpret_cast<chunk*>(static_cast<char*>(it.payload) + behind);
}

void run_told(explicit_task& it, thread& self, bool discard) {
  const ompt::outside code(self, it, __builtin_frame_address(0));
  auto* const known = static_cast<known_task*>(it.payload);
  if (!discard) {
    ompt::taskloop_chunk(self, chunk_of(it).first, chunk_of(it).count);
    known->entry(self.global_number, known);
  }
  if ((it.abi_flags & task_flags::destructors) != 0) known->first.destructors(self.global_number, known);
}

// A copy of the pattern, as its compiler requires it, with room for `behind` bytes behind it, aligned as a word.
explicit_task& copy_of(thread& self, explicit_task& pattern, std::size_t behind) {
  const auto bytes = reinterpret_cast<std::size_t>(pattern.abi_word);
  explicit_task& it = make_task(self, behind != 0 ? bytes + 8 + behind : bytes);
  std::memcpy(it.payload, pattern.payload, bytes);
  auto* const known = static_cast<known_task*>(it.payload);
  const auto* const from = static_cast<known_task*>(pattern.payload);
  if (from->shareds != nullptr)
    known->shareds =
        static_cast<char*>(it.payload) + (static_cast<char*>(from->shareds) - static_cast<char*>(pattern.payload));
  it.body = pattern.body;
  it.abi_flags = pattern.abi_flags;
  it.abi_word = pattern.abi_word;
  if (!pattern.tied || pattern.is_final || pattern.priority != 0) {
    it.tied = pattern.tied;
    it.is_final = it.is_final || pattern.is_final;
    it.priority = pattern.priority;
    it.plain = false;
  }
  return it;
}

// The data that all parts of a loop share. With a part, it lies behind the payload of the copy of the pattern that runs
// the part.
struct part_of_loop {
  loop_cut cut;
  task_body body;  // of the pieces
  std::uint64_t start;
  std::uint64_t step;
  std::ptrdiff_t lower_at, upper_at;
  // Whether the end of a group waits for all its tasks. If not, each part waits for those that it has given away.
  bool is_awaited;
  loop_part part;
};
part_of_loop& part_of(explicit_task& it) noexcept {
  const std::size_t behind = (reinterpret_cast<std::size_t>(it.abi_word) + 7) & ~std::size_t{7};
  return *reinterpret_cast<part_of_loop*>(static_cast<char*>(it.payload) + behind);
}

void run_pieces(thread& self, const part_of_loop& whole, const loop_part& part, explicit_task& pattern) {
  run_part(
      self, part,
      [&](std::uint64_t i) {
        explicit_task& it = copy_of(self, pattern, 0);
        it.body = whole.body;
        const std::uint64_t first = whole.start + whole.cut.before(i) * whole.step;
        const std::uint64_t last = first + (whole.cut.size(i) - 1) * whole.step;
        std::memcpy(static_cast<char*>(it.payload) + whole.lower_at, &first, sizeof first);
        std::memcpy(static_cast<char*>(it.payload) + whole.upper_at, &last, sizeof last);
        run_included(self, it);
      },
      [&](const loop_part& half) -> explicit_task& {
        explicit_task& it = copy_of(self, pattern, sizeof whole);
        it.body = [](explicit_task& task, thread& on, bool discard) {
          if (discard) return;
          run_pieces(on, part_of(task), part_of(task).part, task);
          if (!part_of(task).is_awaited) taskwait(on);
        };
        part_of(it) = whole;
        part_of(it).part = half;
        return it;
      });
}

void run_taskloop(void* task, bool deferred, std::uint64_t* lower, std::uint64_t* upper, std::int64_t step, bool group,
                  std::int32_t how, std::uint64_t amount, bool strict, void* dup, const void* code) {
  thread& self = thread::current();
  explicit_task& pattern = task_of(task);
  if ((pattern.abi_flags & task_flags::priority) != 0) {
    pattern.plain = false;
    pattern.priority = std::min(static_cast<known_task*>(task)->second.priority, largest_priority());
  }
  const std::uint64_t first = *lower;
  const std::uint64_t iterations = iterations_of(first, *upper, step);
  const std::ptrdiff_t lower_at = reinterpret_cast<char*>(lower) - static_cast<char*>(task);
  const std::ptrdiff_t upper_at = reinterpret_cast<char*>(upper) - static_cast<char*>(task);
  if (group) ompt::group_begins(self, code);
  const bool told = ompt::on();
  if (told) [[unlikely]]
    ompt::work_begins(self, ompt_work_taskloop, iterations, code);
  pattern.group = self.running->group;
  if (iterations != 0) {
    const loop_cut cut = cut_loop(iterations, static_cast<cut_by>(how), amount, strict, self.in->size);
    if (cut.tasks == 1 && dup == nullptr && !told) {  // the pattern itself
      if (deferred) submit(self, pattern);
      else run_included(self, pattern);
      if (group) end_group(self);
      return;
    }
    const bool in_parts = deferred && dup == nullptr && !told && pattern.plain &&
                          (pattern.abi_flags & task_flags::destructors) == 0 && goes_in_parts(self, cut.tasks);
    if (in_parts) {
      const part_of_loop whole{cut,      pattern.body, first, static_cast<std::uint64_t>(step),
                               lower_at, upper_at,     group, {}};
      run_pieces(self, whole, {0, cut.tasks}, pattern);
    }
    std::uint64_t at = first;
    std::uint64_t number = 0;
    for (std::uint64_t i = 0; !in_parts && i < cut.tasks; ++i) {
      explicit_task& it = copy_of(self, pattern, told ? sizeof(chunk) : 0);
      const std::uint64_t next = at + cut.size(i) * static_cast<std::uint64_t>(step);
      std::uint64_t const end = next - static_cast<std::uint64_t>(step);
      std::memcpy(static_cast<char*>(it.payload) + lower_at, &at, sizeof at);
      std::memcpy(static_cast<char*>(it.payload) + upper_at, &end, sizeof end);
      if (dup != nullptr) reinterpret_cast<duplicate>(dup)(it.payload, task, i + 1 == cut.tasks ? 1 : 0);
      at = next;
      if (told) [[unlikely]] {
        it.body = run_told;
        chunk_of(it) = {std::exchange(number, number + cut.size(i)), cut.size(i)};
        if (deferred) ompt::submit(self, it, nullptr, code);
        else ompt::run_undeferred(self, it, nullptr, code);
      } else if (deferred) {
        submit(self, it);
      } else {
        run_included(self, it);
      }
    }
  }
  pattern.body(pattern, self, true);  // the pattern's data must be destroyed
  free_task(&self, pattern);
  if (told) [[unlikely]]
    ompt::work_ends(self, ompt_work_taskloop, iterations, code);
  if (group) ompt::group_ends(self, code);
}

}  // namespace

HEDDLE_OMP_ENTRY void __kmpc_taskloop(ident*, std::int32_t, void* task, std::int32_t if_value, std::uint64_t* lower,
                                      std::uint64_t* upper, std::int64_t step, std::int32_t nogroup, std::int32_t how,
                                      std::uint64_t amount, void* dup) {
  run_taskloop(task, if_value != 0, lower, upper, step, nogroup == 0, how, amount, false, dup,
               __builtin_return_address(0));
}

HEDDLE_OMP_ENTRY void __kmpc_taskloop_5(ident*, std::int32_t, void* task, std::int32_t if_value, std::uint64_t* lower,
                                        std::uint64_t* upper, std::int64_t step, std::int32_t nogroup, std::int32_t how,
                                        std::uint64_t amount, std::int32_t modifier, void* dup) {
  run_taskloop(task, if_value != 0, lower, upper, step, nogroup == 0, how, amount, modifier != 0, dup,
               __builtin_return_address(0));
}

}  // namespace heddle::omp
