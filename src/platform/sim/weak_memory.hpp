// Atomics that are weak: what a load may give by the C++ memory model, instead of what memory holds. A model of
// operations on views. Each store to a weak atomic is a message with a number; each strand has a view, the oldest
// message of each atomic that it may still read; acquire, release and fences hand views on. Rules: "Weak atomics" in
// README.md; sources and comparison: docs/decisions/0013-weak-memory.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "base/random.hpp"

namespace heddle::sim {

class weak_memory {
 public:
  weak_memory(std::uint64_t seed, const std::uint64_t& points) : random_(seed + 0x1f83d9abu), points_(points) {}

  // Atomics there are weak from now on, and until they are no longer, when the newest value is everybody's.
  void begin(const void* memory, std::size_t bytes);
  void end(const void* memory, std::size_t bytes);

  // Strand `by` does it; `order` as in the compilers' interface. What memory holds now, or held before a store, is
  // `value`. The caller changes memory.
  std::uint64_t load(unsigned by, const volatile void* at, std::uint64_t value, int order);
  void store(unsigned by, const volatile void* at, std::uint64_t before, std::uint64_t value, int order);
  // Reads the newest value and stores another one, in one step.
  void change(unsigned by, const volatile void* at, std::uint64_t before, std::uint64_t value, int order);
  // Reads the newest value: a compare-and-swap that fails.
  void look(unsigned by, const volatile void* at, std::uint64_t value, int order);
  void fence(unsigned by, int order);
  // A sequentially consistent fence of each strand, the caller's first and last.
  void heavy_fence(unsigned by);
  // What `from` has seen has been seen by `to`: it has started or joined it.
  void pass_on(unsigned from, unsigned to);

 private:
  static constexpr std::size_t longest_history = 8;
  static constexpr std::uint64_t longest_delay = 2000;  // points after which everybody sees a store

  // By place: numbers of messages; 0 where nothing is said.
  class view {
   public:
    std::uint64_t operator[](std::size_t place) const noexcept { return place < seen_.size() ? seen_[place] : 0; }
    void raise(std::size_t place, std::uint64_t message);
    void join(const view& other);

   private:
    std::vector<std::uint64_t> seen_;
  };
  struct message {
    std::uint64_t value;
    view released;        // what who reads it, and acquires, has seen
    std::uint64_t since;  // the point at which it was stored
  };
  struct location {
    std::size_t place;     // in views
    std::uint64_t oldest;  // number of the first message of those that are kept
    std::deque<message> messages;
    std::uint64_t newest() const noexcept { return oldest + messages.size() - 1; }
  };
  struct strand_view {
    view now;
    view acquired;  // by loads that are relaxed, until an acquire fence
    view released;  // at the last release fence
  };
  struct range {
    std::uintptr_t begin, end;
  };

  bool is_weak(std::uintptr_t at) const noexcept;
  strand_view& of(unsigned strand);
  location& at(std::uintptr_t address, std::uint64_t value);
  void add(location& l, std::uint64_t value, view released);
  static void take(strand_view& me, const view& released, int order);
  const view& given_by(const strand_view& me, int order) const;
  void fence_all(strand_view& me);

  base::random_source random_;
  const std::uint64_t& points_;
  std::vector<range> ranges_;
  std::unordered_map<std::uintptr_t, location> weak_;
  std::unordered_map<std::uintptr_t, view> strong_;  // of all other atomics: what their newest value has released
  std::vector<strand_view> strands_;
  view total_;  // what sequentially consistent fences have seen, and such stores
  std::size_t places_{0};
};

}  // namespace heddle::sim
