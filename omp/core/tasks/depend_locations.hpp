// The locations of a dependence graph, by address: the accesses of a task's children there. It uses open addressing,
// and the parent's thread alone uses it. [depend:4] in omp/tasks.md.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "omp/core/tasks/depend.hpp"

namespace heddle::omp {

// A membership of a set.
struct set_link {
  depend_node* node;
  set_link* next;
};

// The object that the tasks of one mutexinoutset share.
struct exclusion {
  bool taken;  // under the graph's guard
  // The location, and locks of nodes. Used by the parent's thread, as are all fields but `taken`.
  std::uint32_t users;
};

// [depend:1] The accesses to one address are a sequence of sets. Tasks of one set need not wait for each other (in,
// inoutset), or only exclude each other, in any order (mutexinoutset). An out is a set by itself. Each task waits for
// all of the set before its own.
struct alignas(64) depend_location {
  const void* address{nullptr};
  std::uint64_t epoch{0};    // the entry is empty if this is not the table's epoch
  set_link* first{nullptr};  // the links of the current set, the oldest first
  set_link* last{nullptr};
  set_link* before{nullptr};  // the set before
  exclusion* excludes{nullptr};
  depend_kind kind{depend_kind::out};
};

class location_table {
 public:
  // The location of that address, or the unused entry where it would be. Valid until the next sweep.
  depend_location& entry_for(const void* address) noexcept { return entry_in(locations_, address); }
  bool is_used(const depend_location& p) const noexcept { return p.epoch == epoch_; }
  // Whether a sweep is due before anything can be added.
  bool is_full() const noexcept { return used_ >= most_; }
  void add(depend_location& unused, const void* address) noexcept {
    unused = {};
    unused.address = address;
    unused.epoch = epoch_;
    ++used_;
  }

  // Drops all locations for which drop(location) returns true, which is called once for each; moves the others. Grows
  // if not enough have gone, and shrinks if nearly all have: a small table stays in the first caches, and its sweep
  // costs no more for each location. Throws std::bad_alloc, before the first is dropped or after the last was.
  template <class Drop>
  void sweep(Drop drop) {
    if (others_.size() != locations_.size()) others_ = entries(locations_.size());
    const std::uint64_t before = epoch_;
    clear();
    for (depend_location& p : locations_)
      if (p.epoch == before && !drop(p)) move(p, others_);
    locations_.swap(others_);
    if (3 * used_ > 2 * most_) resize(2 * size());
    else if (size() > usual_size && 8 * used_ < most_) resize(size() / 2);
  }

  template <class Use>
  void for_each(Use use) {
    for (depend_location& p : locations_)
      if (is_used(p)) use(p);
  }
  void clear() noexcept {
    ++epoch_;
    used_ = 0;
  }
  std::size_t used() const noexcept { return used_; }
  std::size_t size() const noexcept { return locations_.size(); }

 private:
  using entries = std::vector<depend_location>;  // the size is a power of two
  static constexpr std::size_t first_size = 32;
  static constexpr std::size_t usual_size = 1024;
  static constexpr std::size_t most_of(std::size_t size) noexcept { return size / 4 * 3; }

  // Uses the upper bits of the product: addresses at equal distances, as in arrays, are spread evenly (Fibonacci
  // hashing: Knuth, volume 3, section 6.4).
  depend_location& entry_in(entries& table, const void* address) const noexcept {
    depend_location* const first = table.data();
    depend_location* p = first + (reinterpret_cast<std::uintptr_t>(address) * 0x9e3779b97f4a7c15u >> shift_);
    while (p->epoch == epoch_ && p->address != address) [[unlikely]]
      p = first + ((p - first + 1) & (table.size() - 1));
    return *p;
  }
  void move(const depend_location& from, entries& to) noexcept {
    depend_location& p = entry_in(to, from.address);
    p = from;
    p.epoch = epoch_;
    ++used_;
  }
  void resize(std::size_t size) {
    entries to(size);
    const std::uint64_t before = epoch_;
    clear();
    most_ = most_of(size);
    shift_ = 1 + std::countl_zero(size);
    for (const depend_location& p : locations_)
      if (p.epoch == before) move(p, to);
    locations_.swap(to);
  }

  entries locations_ = entries(first_size);
  // The table to which the remaining locations move; empty, or of the same size.
  entries others_;
  std::uint64_t epoch_{1};
  std::size_t used_{0};
  std::size_t most_{most_of(first_size)};
  int shift_{1 + std::countl_zero(first_size)};
};

}  // namespace heddle::omp
