// Placement of pages on nodes: heddle/first_touch.hpp.
#include <heddle/first_touch.hpp>

#include <hwloc.h>

#include <heddle/detail/cost_model.hpp>

#include "platform/platform.hpp"

namespace heddle {

namespace {

// Returns this machine's nodes, read at the first call, or null if hwloc cannot read them. They are kept until the end.
hwloc_topology_t nodes_here() noexcept {
  static const hwloc_topology_t kept = [] {
    hwloc_topology_t t = nullptr;
    if (hwloc_topology_init(&t) != 0) return hwloc_topology_t{nullptr};
    for (const hwloc_obj_type_t none : {HWLOC_OBJ_CORE, HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE}) {
      hwloc_topology_set_type_filter(t, none, HWLOC_TYPE_FILTER_KEEP_NONE);
    }
    if (hwloc_topology_load(t) == 0) return t;
    hwloc_topology_destroy(t);
    return hwloc_topology_t{nullptr};
  }();
  return kept;
}

bool place_here(void* memory, std::size_t bytes, page_placement how, int node) noexcept {
  hwloc_topology_t t = nodes_here();
  if (t == nullptr) return false;
  hwloc_membind_policy_t policy = HWLOC_MEMBIND_FIRSTTOUCH;
  hwloc_const_bitmap_t set = hwloc_topology_get_allowed_nodeset(t);
  hwloc_bitmap_t one = nullptr;
  if (how == page_placement::interleave) policy = HWLOC_MEMBIND_INTERLEAVE;
  if (how == page_placement::bind) {
    if (node < 0 || hwloc_get_numanode_obj_by_os_index(t, static_cast<unsigned>(node)) == nullptr) return false;
    policy = HWLOC_MEMBIND_BIND;
    one = hwloc_bitmap_alloc();
    if (one == nullptr || hwloc_bitmap_only(one, static_cast<unsigned>(node)) != 0) {
      hwloc_bitmap_free(one);
      return false;
    }
    set = one;
  }
  const bool done = hwloc_set_area_membind(t, memory, bytes, set, policy, HWLOC_MEMBIND_BYNODESET) == 0;
  hwloc_bitmap_free(one);
  return done;
}

}  // namespace

bool place_pages(void* memory, std::size_t bytes, page_placement how, int node) noexcept {
  const std::size_t page = platform::page_size();
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  const std::uintptr_t first = (begin + page - 1) / page * page, end = (begin + bytes) / page * page;
  if (first >= end) return true;
  void* const pages = reinterpret_cast<void*>(first);
  if (const auto* to = detail::cost_model(); to != nullptr && to->place != nullptr) {
    const int policy = how == page_placement::interleave ? 1 : how == page_placement::bind ? 2 : 0;
    return to->place(pages, end - first, policy, node) != 0;
  }
  return place_here(pages, end - first, how, node);
}

namespace detail {

namespace {
std::size_t whole_pages(std::size_t bytes) noexcept {
  const std::size_t page = platform::page_size();
  return (std::max<std::size_t>(bytes, 1) + page - 1) / page * page;
}
}  // namespace

void* map_pages(std::size_t bytes) noexcept { return platform::reserve(whole_pages(bytes)); }

void unmap_pages(void* memory, std::size_t bytes) noexcept {
  if (const auto* to = cost_model(); to != nullptr && to->forget != nullptr) to->forget(memory, whole_pages(bytes));
  platform::release(memory, whole_pages(bytes));
}

std::size_t page_bytes() noexcept { return platform::page_size(); }

}  // namespace detail
}  // namespace heddle
