// Control blocks of light threads. They are made without a stack, with room for a small closure below, in slabs of
// their own. README.md, "Light threads".
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "fiber/reserved_list.hpp"
#include "fiber/thread.hpp"

namespace heddle::fiber {

// Free blocks, in chains of up to `in_chain`. A worker takes or gives back a whole chain, without walking through it.
// The pool's mutex must be held. Blocks are used again, and are not given back to the system before the pool ends.
class light_threads {
 public:
  static constexpr std::size_t room = 64;  // bytes for the closure, at the block's alignment
  static constexpr unsigned in_chain = 64;

  light_threads() = default;
  ~light_threads();
  light_threads(const light_threads&) = delete;
  light_threads& operator=(const light_threads&) = delete;

  // Returns a chain through `next`, whose length is in its first block (`length`), or null if there is no memory. New
  // blocks are numbered from `last_id` on.
  [[nodiscard]] thread* take_chain(stack_pool& pool, std::uint64_t& last_id) noexcept;
  [[nodiscard]] thread* take_one(stack_pool& pool, std::uint64_t& last_id) noexcept;
  void give_chain(thread* first, unsigned length) noexcept;
  void give_one(thread& t) noexcept;

  static unsigned length(const thread& first) noexcept { return first.ties.chain_length; }
  std::size_t out() const noexcept { return out_; }    // taken and not given back
  std::size_t made() const noexcept { return made_; }  // ever made
  // Returns by how many blocks the next take may raise made(), or 0 if it finds free ones.
  unsigned to_be_made() const noexcept {
    return chains_ != nullptr ? 0 : std::clamp<unsigned>(static_cast<unsigned>(made_), 8, in_chain);
  }

 private:
  static constexpr std::size_t stride = room + sizeof(thread);
  static constexpr std::size_t least_slab = std::size_t{64} << 10, greatest_slab = std::size_t{4} << 20;
  struct slab {
    void* memory;
    std::size_t bytes;
  };
  [[nodiscard]] bool grow() noexcept;

  thread* chains_{nullptr};  // linked through `newer`
  char* fresh_{nullptr};     // the part of the newest slab that was never used
  char* fresh_end_{nullptr};
  reserved_list<slab> slabs_;
  std::size_t out_{0};
  std::size_t made_{0};
};

}  // namespace heddle::fiber
