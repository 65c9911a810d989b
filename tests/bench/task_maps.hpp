// Which worker runs each block of heat2d, in each iteration.
#pragma once

#include <mutex>
#include <vector>

#include "backend/heddle.hpp"
#include "heat2d/heat2d.hpp"

namespace heddle::bench {

using task_map = std::vector<int>;  // by block, row by row; -1 if not run

struct map_recorder {
  std::mutex mutex;
  std::size_t side = 0;
  task_map now;
  static inline map_recorder* active = nullptr;

  static void note(const char*, std::size_t x0, std::size_t y0, std::size_t, std::size_t) {
    const int rank = heddle::runtime::current().worker_rank();
    const std::lock_guard hold(active->mutex);
    active->now[(y0 - 1) / heat2d_block * active->side + (x0 - 1) / heat2d_block] = rank;
  }
};

// One map an iteration; n is a multiple of the block.
inline std::vector<task_map> heat2d_maps(const settings& s, std::size_t n, std::size_t iterations) {
  const heat2d_memory memory(n, touch::first);
  heddle_backend backend(s);
  map_recorder recorder;
  recorder.side = n / heat2d_block;
  map_recorder::active = &recorder;
  told::piece_of_grid = map_recorder::note;
  std::vector<task_map> maps;
  backend.run([&] {
    memory.place<heddle_backend>();
    memory.start<heddle_backend>();
    for (std::size_t i = 0; i < iterations; ++i) {
      recorder.now.assign(recorder.side * recorder.side, -1);
      heat2d_task<heddle_backend>({memory.grid(i), memory.grid(i + 1), memory.shape().stride}, 1, n + 1, 1, n + 1);
      maps.push_back(recorder.now);
    }
  });
  told::piece_of_grid = nullptr;
  return maps;
}

}  // namespace heddle::bench
