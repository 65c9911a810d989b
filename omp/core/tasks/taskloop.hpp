// taskloop: the division of a loop into tasks.
#pragma once

#include <algorithm>
#include <cstdint>

#include "omp/core/tasks/taskwait.hpp"

namespace heddle::omp {

// There are `tasks` pieces. The first `longer` of them have one iteration more than `each`; the last one has `last`
// iterations if that is not 0.
struct loop_cut {
  std::uint64_t tasks;
  std::uint64_t each;
  std::uint64_t longer;
  std::uint64_t last;

  std::uint64_t size(std::uint64_t i) const noexcept {
    return i + 1 == tasks && last != 0 ? last : each + (i < longer ? 1 : 0);
  }
  // The number of iterations in front of piece i.
  std::uint64_t before(std::uint64_t i) const noexcept { return i * each + std::min(i, longer); }
};

enum class cut_by : std::uint8_t { nothing, grainsize, num_tasks };

// `strict`: each piece but the last has exactly `amount` iterations; otherwise at least that and less than twice as
// many.
inline loop_cut cut_loop(std::uint64_t iterations, cut_by how, std::uint64_t amount, bool strict,
                         unsigned members) noexcept {
  if (iterations == 0) return {0, 0, 0, 0};
  // There are a few for each member, so that members end at about the same time.
  std::uint64_t tasks = members > 1 ? std::uint64_t{members} * 4 : 1;
  if (how == cut_by::num_tasks && amount != 0) tasks = amount;
  if (how == cut_by::grainsize && amount != 0) {
    if (strict) {
      tasks = (iterations - 1) / amount + 1;
      return {tasks, amount, 0, iterations - (tasks - 1) * amount};
    }
    tasks = std::max<std::uint64_t>(iterations / amount, 1);
  }
  tasks = std::min(tasks, iterations);
  return {tasks, iterations / tasks, iterations % tasks, 0};
}

// [omp_task:11] Tasks of a taskloop that a thread runs where they are made, one after the other: pieces first to end
// - 1. The part may be halved while it runs.
struct loop_part {
  std::uint64_t first;
  std::uint64_t end;
};

// Whether the tasks of a loop are to be made in parts; `tasks` is the number of pieces.
inline bool goes_in_parts(const thread& self, std::uint64_t tasks) noexcept {
  return tasks > 1 && self.in->size > 1 && self.tasks.nested < most_nested && !self.running->is_final;
}

// run(i) makes piece i and runs it. give(part) makes a task of the upper half, which calls this function, and returns
// that half.
template <class Run, class Give>
void run_part(thread& self, loop_part part, Run run, Give give) {
  member_tasks& mine = tasks_of(self);
  for (; part.first < part.end; ++part.first) {
    if (part.end - part.first > 1 && mine.has_none()) {
      const std::uint64_t middle = part.first + (part.end - part.first + 1) / 2;
      explicit_task& half = give(loop_part{middle, part.end});
      count_task(mine, half);
      queue_task(self, mine, half);
      part.end = middle;
    }
    run(part.first);
  }
}

}  // namespace heddle::omp
