/// Placement of pages on a machine with several NUMA nodes: with the worker that will use them, over all nodes in turn,
/// or on one node.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <ranges>
#include <type_traits>
#include <utility>

#include <heddle/detail/cost_model.hpp>
#include <heddle/detail/loop_named.hpp>
#include <heddle/detail/loop_tree.hpp>
#include <heddle/export.hpp>
#include <heddle/loop_options.hpp>

namespace heddle {

/// The rule that decides on which node a page is made.
enum class page_placement {
  first_touch,  ///< the node of the processor that touches it first; this is the system's default
  interleave,   ///< the nodes in turn, page by page
  bind          ///< one node
};

/// Sets the placement `how` for the pages that lie wholly in [memory, memory + bytes) and have not been touched yet.
/// Pages that exist stay where they are. For `bind`, `node` is the operating system's number of the node. Returns false
/// if the system refuses, for instance for a node that does not exist; nothing has changed then. In `heddle sim` the
/// nodes are those of the modelled machine. Thread context: any; does not suspend. Source: hwloc's memory binding, on
/// Linux mbind(2).
HEDDLE_API bool place_pages(void* memory, std::size_t bytes, page_placement how, int node = 0) noexcept;

namespace detail {

// Returns fresh pages, zero and untouched, or null if the system refuses.
HEDDLE_API void* map_pages(std::size_t bytes) noexcept;
HEDDLE_API void unmap_pages(void* memory, std::size_t bytes) noexcept;
HEDDLE_API std::size_t page_bytes() noexcept;

// Touches each page whose first byte lies in the bytes of elements [low, high). If the memory begins within a page, its
// first byte counts as that page's first byte.
struct touch_work {
  using result = nothing_returned;
  std::uintptr_t memory;
  std::size_t element, page;

  void operator()(result&, std::size_t low, std::size_t high) const noexcept {
    const std::uintptr_t first = memory + low * element, last = memory + high * element;
    for (std::uintptr_t at = low == 0 ? first : (first + page - 1) / page * page; at < last;
         at = (at / page + 1) * page) {
      volatile char* byte = reinterpret_cast<volatile char*>(at);
      if (const auto* to = cost_model(); to != nullptr) [[unlikely]]
        to->access(reinterpret_cast<const void*>(at), 1, 1);
      *byte = *byte;  // a read alone would map the page of zeros that all processes share
    }
  }
  static result combine(result, result) noexcept { return {}; }
  static result nothing() noexcept { return {}; }
};

inline void touch_elements(void* memory, std::size_t count, std::size_t element, const loop_options& options) {
  const std::size_t page = page_bytes();
  if (count == 0) return;
  touch_work work{reinterpret_cast<std::uintptr_t>(memory), element, page};
  if (options.schedule.how != loop_schedule::kind::adaptive)
    return run_by_name(work, count, options.schedule, options.stop, element);
  // The loop uses no site of the program, because the time of page faults says nothing about later loops, and no such
  // loop is inline.
  loop_site unknown;
  const std::size_t grain =
      options.grain != 0 ? options.grain : std::max({page / element, count / 1024, std::size_t{1}});
  run_loop(work, count, unknown, grain, options.stop,
           options.bytes_per_iteration != 0 ? options.bytes_per_iteration : element);
}

}  // namespace detail

/// Touches the pages of a contiguous range in a parallel loop. The loop is laid out like parallel_for over the same
/// range with the same options. So a policy that lays equal loops out in the same way (adws) finds each page on the
/// node of the worker that will access it. Under other policies the pages are spread like the pieces of that loop. The
/// contents stay as they are. Pages that were touched before do not move, so call it before the memory is filled.
///
/// Other threads must not write elements meanwhile. Suspension and thread context are those of parallel_for_range.
template <std::ranges::contiguous_range Range>
void first_touch(Range&& range, const loop_options& options = {}) {
  detail::touch_elements(
      const_cast<void*>(static_cast<const volatile void*>(std::to_address(std::ranges::begin(range)))),
      static_cast<std::size_t>(std::ranges::distance(range)), sizeof(std::ranges::range_value_t<Range>), options);
}

/// An allocator whose memory consists of pages of its own. They are placed as `How` says before they are used; for
/// first_touch, first_touch() runs over all of them. `std::vector<double, first_touch_allocator<double>> v(n)` is ready
/// for parallel_for over v.
///
/// Elements made without arguments are default-initialised (new T, not new T()), so that a vector of numbers made with
/// a size alone is not written again by the one thread that makes it. Such elements are zero, because the system gives
/// zero pages. The allocator takes whole pages, so it is for large arrays. It never takes huge pages, which would bring
/// the parts of several workers to one node. allocate() may suspend for first_touch, and throws std::bad_alloc.
template <class T, page_placement How = page_placement::first_touch>
class placed_allocator {
  static_assert(How != page_placement::bind, "heddle: which node? use place_pages");

 public:
  using value_type = T;
  template <class U>
  struct rebind {
    using other = placed_allocator<U, How>;
  };

  placed_allocator() noexcept = default;
  template <class U>
  placed_allocator(const placed_allocator<U, How>&) noexcept {}

  T* allocate(std::size_t n) {
    if (n > static_cast<std::size_t>(-1) / 2 / sizeof(T)) throw std::bad_alloc();
    void* const memory = detail::map_pages(n * sizeof(T));
    if (memory == nullptr) throw std::bad_alloc();
    if constexpr (How == page_placement::interleave) {
      place_pages(memory, n * sizeof(T), How);  // a system that refuses leaves them where they are made
    } else {
      try {
        detail::touch_elements(memory, n, sizeof(T), {});
      } catch (...) {
        detail::unmap_pages(memory, n * sizeof(T));
        throw;
      }
    }
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t n) noexcept { detail::unmap_pages(memory, n * sizeof(T)); }

  template <class U>
  void construct(U* at) noexcept(std::is_nothrow_default_constructible_v<U>) {
    ::new (static_cast<void*>(at)) U;
  }
  template <class U, class... Arguments>
  void construct(U* at, Arguments&&... arguments) {
    ::new (static_cast<void*>(at)) U(std::forward<Arguments>(arguments)...);
  }
  friend bool operator==(const placed_allocator&, const placed_allocator&) noexcept { return true; }
};

template <class T>
using first_touch_allocator = placed_allocator<T, page_placement::first_touch>;
template <class T>
using interleaved_allocator = placed_allocator<T, page_placement::interleave>;

}  // namespace heddle
