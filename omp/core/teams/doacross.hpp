// Loops whose iterations wait for each other: ordered(n), depend(sink) and depend(source).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

namespace heddle::omp {

class thread;
struct work_share;

// One of the nested loops: `trips` values from `first` by `step`, modulo 2^64.
struct doacross_loop {
  std::uint64_t first{0};
  std::uint64_t step{1};
  std::uint64_t trips{0};
};

// One bit for each iteration of the nested loops, numbered in their sequential order.
struct doacross {
  std::unique_ptr<doacross_loop[]> of;  // outermost first
  unsigned loops{0};
  std::unique_ptr<std::atomic<std::uint64_t>[]> done;
};

// Throws std::bad_alloc.
doacross* make_doacross(unsigned loops, const doacross_loop* of);
void free_doacross(doacross*& d) noexcept;

// Finds the number of the iteration whose loop variables have these values. Returns false if there is no such
// iteration, so that no thread waits for it.
bool number_of(const doacross& d, const std::uint64_t* values, std::uint64_t& number) noexcept;

// post says that the iterations which depend on `iteration` may go on.
void post(thread& self, doacross& d, std::uint64_t iteration) noexcept;
void wait_for(thread& self, doacross& d, std::uint64_t iteration);

}  // namespace heddle::omp
