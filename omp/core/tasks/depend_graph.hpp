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

// Memory of small objects of one type, which are given back together or one by one. LinkAt is the offset in a free
// object at which the address of the next one lies. All other contents stay until the object is taken again.
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

// A thread that makes tasks with dependences much faster than they are run would fill the caches with them. Above this
// number it runs one for each that it makes.
inline constexpr std::int32_t most_ahead = 512;
// The count of unfinished children lies in a line that others write all the time, so it is read at most once for this
// many tasks.
inline constexpr std::int32_t looks_each = 16;

struct dependences {
  // Used by the parent's thread alone, except `guard` and the fields that it guards.
  location_table locations;
  std::uint64_t serial{0};           // the serial of the newest node
  depend_node* everything{nullptr};  // the last task that named all memory; held
  // A free node still says that it has ended, because a task that is just entering may have it among its predecessors.
  small_things<depend_node, offsetof(depend_node, next)> nodes;
  small_things<further_edge> edges;
  small_things<set_link> links;
  small_things<exclusion> exclusions;
  small_things<lock_link> locks;
  // Nodes in no set any more, whose tasks had not ended when they left their last set.
  depend_node* leaving{nullptr};
  std::size_t leaving_count{0};
  std::size_t look_at{64};  // the number of leaving nodes at which they are looked through
  // While the parent's `made` is no greater than this, fewer than most_ahead of its children are unfinished. When it is
  // greater, the exact number is read, which lies in a word that others write.
  std::int32_t may_make{most_ahead};

  short_lock guard;  // guards `taken` and the list of tasks that wait for it
  depend_node* first_blocked{nullptr};
  depend_node* last_blocked{nullptr};
};

// The value of a node's list of successors when its task has ended.
inline depend_edge* closed_list() noexcept { return reinterpret_cast<depend_edge*>(std::uintptr_t{1}); }
inline bool has_ended(const depend_node& n) noexcept {
  // acquire pairs with end_node: makes visible what the task has done
  return n.successors.load(std::memory_order_acquire) == closed_list();
}

// Called by the parent's thread. Makes the node of a task that is about to enter the graph. Throws std::bad_alloc, as
// do the next functions.
[[nodiscard]] depend_node* new_node(dependences& g);
// Takes edges for the predecessors of the node. Its items count for later tasks.
void enter(dependences& g, const depend_list& list, depend_node& n);
// The same for one item. It serves a thread that only waits, and for which no task waits.
void look_at(dependences& g, const depend_item& item, depend_node& n);
// Called after all clauses: tells the predecessors of the node. Returns true if none is left; else the thread that ends
// the last one has it ready.
[[nodiscard]] bool follow_predecessors(depend_node& n) noexcept;
void drop_edges(dependences& g, depend_node& n) noexcept;

}  // namespace heddle::omp
