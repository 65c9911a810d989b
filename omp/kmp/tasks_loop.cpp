// Entry points of the LLVM ABI: taskloop.
#include <cstring>

#include "omp/core/taskloop.hpp"
#include "omp/core/taskwait.hpp"
#include "omp/kmp/task_layout.hpp"

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

// A copy of the pattern, as its compiler wants it.
explicit_task& copy_of(thread& self, explicit_task& pattern) {
  const auto bytes = reinterpret_cast<std::size_t>(pattern.abi_word);
  explicit_task& it = make_task(self, bytes);
  std::memcpy(it.payload, pattern.payload, bytes);
  auto* const known = static_cast<known_task*>(it.payload);
  const auto* const from = static_cast<known_task*>(pattern.payload);
  if (from->shareds != nullptr)
    known->shareds =
        static_cast<char*>(it.payload) + (static_cast<char*>(from->shareds) - static_cast<char*>(pattern.payload));
  it.body = pattern.body;
  it.abi_flags = pattern.abi_flags;
  it.abi_word = pattern.abi_word;
  if (!pattern.plain) {
    it.tied = pattern.tied;
    it.is_final = it.is_final || pattern.is_final;
    it.priority = pattern.priority;
    it.plain = false;
  }
  return it;
}

void run_taskloop(void* task, bool deferred, std::uint64_t* lower, std::uint64_t* upper, std::int64_t step, bool group,
                  std::int32_t how, std::uint64_t amount, bool strict, void* dup) {
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
  if (group) begin_group(self);
  pattern.group = self.running->group;
  if (iterations != 0) {
    const loop_cut cut = cut_loop(iterations, static_cast<cut_by>(how), amount, strict, self.in->size);
    if (cut.tasks == 1 && dup == nullptr) {  // the pattern itself
      if (deferred) submit(self, pattern);
      else run_included(self, pattern);
      if (group) end_group(self);
      return;
    }
    std::uint64_t at = first;
    for (std::uint64_t i = 0; i < cut.tasks; ++i) {
      explicit_task& it = copy_of(self, pattern);
      const std::uint64_t next = at + cut.size(i) * static_cast<std::uint64_t>(step);
      std::uint64_t const end = next - static_cast<std::uint64_t>(step);
      std::memcpy(static_cast<char*>(it.payload) + lower_at, &at, sizeof at);
      std::memcpy(static_cast<char*>(it.payload) + upper_at, &end, sizeof end);
      if (dup != nullptr) reinterpret_cast<duplicate>(dup)(it.payload, task, i + 1 == cut.tasks ? 1 : 0);
      at = next;
      if (deferred) submit(self, it);
      else run_included(self, it);
    }
  }
  pattern.body(pattern, self, true);  // what it would have destroyed
  free_task(&self, pattern);
  if (group) end_group(self);
}

}  // namespace

HEDDLE_OMP_ENTRY void __kmpc_taskloop(ident*, std::int32_t, void* task, std::int32_t if_value, std::uint64_t* lower,
                                      std::uint64_t* upper, std::int64_t step, std::int32_t nogroup, std::int32_t how,
                                      std::uint64_t amount, void* dup) {
  run_taskloop(task, if_value != 0, lower, upper, step, nogroup == 0, how, amount, false, dup);
}

HEDDLE_OMP_ENTRY void __kmpc_taskloop_5(ident*, std::int32_t, void* task, std::int32_t if_value, std::uint64_t* lower,
                                        std::uint64_t* upper, std::int64_t step, std::int32_t nogroup, std::int32_t how,
                                        std::uint64_t amount, std::int32_t modifier, void* dup) {
  run_taskloop(task, if_value != 0, lower, upper, step, nogroup == 0, how, amount, modifier != 0, dup);
}

}  // namespace heddle::omp
