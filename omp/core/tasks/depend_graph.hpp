// The insides of a dependence graph, by address: locations, sets and edges. The parent's thread alone adds to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "omp/core/locks/short_lock.hpp"
#include "omp/core/tasks/depend.hpp"
#include "omp/core/tasks/depend_locations.hpp"

namespace heddle::omp {

struct lock_link {
  exclusion* what;
  lock_link* next;
};

// Memory of small things of one type, which are given back together or one by one. LinkAt: where in a free one the
// address of the next one lies; all else is as it was until the thing is taken again.
template <class T, std::size_t LinkAt = 0>
class small_things {
 public:
  T* take() {
    if (free_ != nullptr) [[likely]] {
      T* const it = free_;
      free_ = *link(it);
      return it;
    }
    if (used_ == chunks_.size() * each) chunks_.push_back(std::make_unique_for_overwrite<room[]>(each));
    T* const it = reinterpret_cast<T*>(chunks_[used_ / each][used_ % each].bytes);
    ++used_;
    return it;
  }
  void put(T* it) noexcept {
    *link(it) = free_;
    free_ = it;
  }
  void put_all() noexcept {
    free_ = nullptr;
    used_ = 0;
  }

 private:
  static constexpr std::size_t each = 64;
  struct room {
    alignas(T) std::byte bytes[sizeof(T) < sizeof(T*) ? sizeof(T*) : sizeof(T)];
  };
  static T** link(T* it) noexcept { return reinterpret_cast<T**>(reinterpret_cast<std::byte*>(it) + LinkAt); }
  std::vector<std::unique_ptr<room[]>> chunks_;
  std::size_t used_{0};
  T* free_{nullptr};
};

// Who makes tasks with dependences much faster than they are run would fill the caches with them: above so many it runs
// one for each that it makes.
inline constexpr std::int32_t most_ahead = 512;
// How far it is ahead is read in a line that others write all the time: once for so many at the most.
inline constexpr std::int32_t looks_each = 16;

struct dependences {
  // The parent's thread alone, but for `guard` and what it guards.
  location_table locations;
  std::uint64_t serial{0};           // of the newest node
  depend_node* everything{nullptr};  // the last task that named all memory; held
  // A free node says still that it has ended: a task that is just entering may have it among its predecessors.
  small_things<depend_node, offsetof(depend_node, next)> nodes;
  small_things<further_edge> edges;
  small_things<set_link> links;
  small_things<exclusion> exclusions;
  small_things<lock_link> locks;
  depend_node* leaving{nullptr};  // in no set any more, but not ended when they left the last one
  std::size_t leaving_count{0};
  std::size_t look_at{64};  // so many of them are looked through
  // Of the parent's children fewer than most_ahead are unfinished while its `made` is no greater. The exact number is
  // read when it is, for others write the word that it is read from.
  std::int32_t may_make{most_ahead};

  short_lock guard;  // of `taken` and of the list of those that wait for that
  depend_node* first_blocked{nullptr};
  depend_node* last_blocked{nullptr};
};

// What a node's list of successors is when its task has ended.
inline depend_edge* closed_list() noexcept { return reinterpret_cast<depend_edge*>(std::uintptr_t{1}); }
inline bool has_ended(const depend_node& n) noexcept {
  // acquire pairs with end_node: what the task has done
  return n.successors.load(std::memory_order_acquire) == closed_list();
}

// The parent's thread. Of a task that is about to enter the graph. Throws std::bad_alloc, as the next ones.
[[nodiscard]] depend_node* new_node(dependences& g);
// Takes edges for the predecessors of the node. What it names counts for later ones.
void enter(dependences& g, const depend_list& list, depend_node& n);
// The same, of one item, for somebody who only waits, and for whom nobody waits.
void look_at(dependences& g, const depend_item& item, depend_node& n);
// After all clauses: the predecessors learn of the node. True: none is left; else who ends the last has it ready.
[[nodiscard]] bool follow_predecessors(depend_node& n) noexcept;
void drop_edges(dependences& g, depend_node& n) noexcept;

}  // namespace heddle::omp
