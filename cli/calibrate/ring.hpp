// Pointers through lines of memory, in an order that no prefetcher can follow (the method of lmbench's lat_mem_rd:
// McVoy, Staelin, USENIX 1996).
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>

namespace heddle::cli::calibrate {

// Aligned so that the system may back it with huge pages, if it does that by itself. Throws std::bad_alloc.
class buffer {
 public:
  explicit buffer(std::size_t bytes);
  char* data() const { return static_cast<char*>(memory_.get()); }

 private:
  struct freed {
    void operator()(void* memory) const { std::free(memory); }
  };
  std::unique_ptr<void, freed> memory_;
};

// Makes a ring through every line of [memory, memory + bytes). Lines are shuffled within windows of 32 pages, so that
// each address translation serves many steps, as it does in programs that work on tiles.
void* make_ring(char* memory, std::size_t bytes, std::size_t line);

// Follows the ring. Each step waits for the one before it.
[[gnu::noinline]] void* chase(void* from, std::size_t steps);

}  // namespace heddle::cli::calibrate
