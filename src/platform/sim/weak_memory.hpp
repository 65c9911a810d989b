// Weak atomics: the values that a load may give by the C++ memory model, instead of the value that memory holds. This
// is a model of operations on views. Each store to a weak atomic is a message with a number. Each strand has a view,
// which says of each atomic the oldest message that the strand may still read. Acquire, release and fences hand views
// on. Rules: "Weak atomics" in README.md; sources and comparison: docs/decisions/0013-weak-memory.md.
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

  // Makes the atomics there weak. `end` makes them strong again; all strands then see the newest value.
  void begin(const void* memory, std::size_t bytes);
  void end(const void* memory, std::size_t bytes);

  // The operations of strand `by`; `order` is as in the compilers' interface. A load's `value` is the value that memory
  // holds, a store's `before` the value that memory held before. The caller changes memory.
  std::uint64_t load(unsigned by, const volatile void* at, std::uint64_t value, int order);
  void store(unsigned by, const volatile void* at, std::uint64_t before, std::uint64_t value, int order);
  // Reads the newest value and stores another one, in one step.
  void change(unsigned by, const volatile void* at, std::uint64_t before, std::uint64_t value, int order);
  // Reads the newest value, as a compare-and-swap that fails does.
  void look(unsigned by, const volatile void* at, std::uint64_t value, int order);
  void fence(unsigned by, int order);
  // A sequentially consistent fence of each strand, the caller's first and last.
  void heavy_fence(unsigned by);
  // Called when `from` has started `to`, or `to` has joined `from`: `to` has then seen all that `from` has seen.
  void pass_on(unsigned from, unsigned to);

 private:
  static constexpr std::size_t longest_history = 8;
  static constexpr std::uint64_t longest_delay = 2000;  // the points after which all strands see a store

  // The number of a message for each place; 0 if there is no entry.
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
    view released;        // what a strand that reads it and acquires has seen
    std::uint64_t since;  // the point at which it was stored
  };
  struct location {
    std::size_t place;     // in views
    std::uint64_t oldest;  // the number of the first message that is kept
    std::deque<message> messages;
    std::uint64_t newest() const noexcept { return oldest + messages.size() - 1; }
  };
  struct strand_view {
    view now;
    view acquired;  // the view acquired by relaxed loads, until an acquire fence
    view released;  // the view at the last release fence
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
  // for all other atomics: the view that their newest value has released
  std::unordered_map<std::uintptr_t, view> strong_;
  std::vector<strand_view> strands_;
  view total_;  // the view of sequentially consistent fences and stores
  std::size_t places_{0};
};

}  // namespace heddle::sim
