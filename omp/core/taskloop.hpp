// taskloop: how a loop is cut into tasks.
#pragma once

#include <algorithm>
#include <cstdint>

namespace heddle::omp {

// `tasks` pieces, the first `longer` of them with one iteration more than `each`; the last with `last` where that is
// not 0.
struct loop_cut {
  std::uint64_t tasks;
  std::uint64_t each;
  std::uint64_t longer;
  std::uint64_t last;

  std::uint64_t size(std::uint64_t i) const noexcept {
    return i + 1 == tasks && last != 0 ? last : each + (i < longer ? 1 : 0);
  }
};

enum class cut_by : std::uint8_t { nothing, grainsize, num_tasks };

// `strict`: each piece but the last has exactly `amount` iterations, in place of at least that and less than twice.
inline loop_cut cut_loop(std::uint64_t iterations, cut_by how, std::uint64_t amount, bool strict,
                         unsigned members) noexcept {
  if (iterations == 0) return {0, 0, 0, 0};
  // A few a member, so that they end at about the same time.
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

}  // namespace heddle::omp
