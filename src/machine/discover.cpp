// Conversion from hwloc to a topology.
#include <hwloc.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <limits>
#include <new>
#include <stdexcept>
#include <string_view>

#include "machine/limits.hpp"
#include "machine/source.hpp"

namespace heddle::machine {

namespace {

struct destroy {
  void operator()(hwloc_topology_t t) const { hwloc_topology_destroy(t); }
};
using handle = std::unique_ptr<hwloc_topology, destroy>;

// hwloc's time and memory grow with the square of the units. The limit is the largest number of workers
// (HEDDLE_WORKERS).
constexpr std::uint64_t most_units = 4096;
// A size with a minus sign becomes a number in hwloc that is far above this.
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 56;

// Returns how many units hwloc would make of "pack:2 l3:1(size=32MiB) [numa] pu:4": the product of the counts. It stops
// beyond the limit.
std::uint64_t units_described(std::string_view text) {
  std::uint64_t units = 1;
  unsigned inside = 0;  // depth inside attributes and attached memory
  for (std::size_t at = 0; at < text.size() && units <= most_units; ++at) {
    const char c = text[at];
    if (c == '(' || c == '[') ++inside;
    if ((c == ')' || c == ']') && inside != 0) --inside;
    const bool counts = inside == 0 && c >= '0' && c <= '9' && (at == 0 || text[at - 1] == ':' || text[at - 1] == ' ');
    if (!counts) continue;
    std::uint64_t count = 0;
    for (; at < text.size() && text[at] >= '0' && text[at] <= '9' && count <= most_units; ++at)
      count = 10 * count + static_cast<std::uint64_t>(text[at] - '0');
    --at;
    units *= count;
  }
  return units;
}

enum class origin { here, xml, xml_text, synthetic };

handle load(origin from, const std::string& argument) {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) throw std::bad_alloc();
  handle made(raw);
  if (from == origin::xml && hwloc_topology_set_xml(raw, argument.c_str()) != 0) {
    throw std::invalid_argument("machine file " + argument + ": " +
                                (errno == ENOENT ? std::strerror(errno) : "not a file written by lstopo"));
  }
  if (from == origin::xml_text &&
      hwloc_topology_set_xmlbuffer(raw, argument.c_str(), static_cast<int>(argument.size() + 1)) != 0) {
    throw std::invalid_argument("machine: the text is not one that lstopo wrote");
  }
  // hwloc takes 0 for a size of its own.
  if (from == origin::synthetic &&
      (argument.find("size=0)") != std::string::npos || argument.find("size=0 ") != std::string::npos))
    throw std::invalid_argument("machine synthetic:" + argument + ": a cache of 0 bytes; leave it out instead");
  if (from == origin::synthetic && units_described(argument) > most_units) {
    throw std::invalid_argument("machine synthetic:" + argument + ": more than " + std::to_string(most_units) +
                                " processing units");
  }
  if (from == origin::synthetic && hwloc_topology_set_synthetic(raw, argument.c_str()) != 0) {
    throw std::invalid_argument("machine synthetic:" + argument +
                                ": not hwloc's synthetic notation, for example \"pack:2 l3:1 l2:4 pu:1\"");
  }
  // Units outside the cgroup's cpuset belong to the machine, too, because they tell which units share a cache.
  unsigned long flags = HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED;
#if HWLOC_API_VERSION >= 0x00020800
  flags |= HWLOC_TOPOLOGY_FLAG_NO_DISTANCES | HWLOC_TOPOLOGY_FLAG_NO_MEMATTRS;
#endif
  hwloc_topology_set_flags(raw, flags);
  if (hwloc_topology_load(raw) != 0) {
    if (from == origin::xml) throw std::invalid_argument("machine file " + argument + ": not a file written by lstopo");
    if (from == origin::xml_text) throw std::invalid_argument("machine: the text is not one that lstopo wrote");
    throw std::invalid_argument("machine " + (argument.empty() ? "here" : argument) + ": hwloc cannot load it (" +
                                std::strerror(errno) + ")");
  }
  return made;
}

group_kind cache_kind(unsigned depth) {
  constexpr group_kind kinds[] = {group_kind::l1, group_kind::l2, group_kind::l3, group_kind::l4, group_kind::l5};
  return kinds[std::clamp(depth, 1u, 5u) - 1];
}

// Returns the units below an object as an interval of logical numbers. For a NUMA node these are the units of the
// object that it is attached to.
bool interval(hwloc_obj_t object, unsigned& first, unsigned& last) {
  if (hwloc_bitmap_iszero(object->cpuset)) return false;  // memory without processors
  while (hwloc_obj_type_is_memory(object->type)) object = object->parent;
  hwloc_obj_t left = object, right = object;
  while (left->arity != 0) left = left->first_child;
  while (right->arity != 0) right = right->last_child;
  if (left->type != HWLOC_OBJ_PU || right->type != HWLOC_OBJ_PU) return false;
  first = left->logical_index;
  last = right->logical_index + 1;
  return true;
}

void add_caches(hwloc_topology_t t, std::vector<topology_set>& sets) {
  for (int depth = 0; depth < hwloc_topology_get_depth(t); ++depth) {
    if (!hwloc_obj_type_is_dcache(hwloc_get_depth_type(t, depth))) continue;
    for (hwloc_obj_t cache = nullptr; (cache = hwloc_get_next_obj_by_depth(t, depth, cache)) != nullptr;) {
      unsigned first = 0, last = 0;
      if (!interval(cache, first, last)) continue;
      const auto& attributes = cache->attr->cache;
      sets.push_back(
          {cache_kind(attributes.depth), attributes.size, attributes.linesize, attributes.associativity, first, last});
    }
  }
}

void add_nodes(hwloc_topology_t t, std::vector<topology_set>& sets) {
  const std::size_t begin = sets.size();
  for (hwloc_obj_t node = nullptr; (node = hwloc_get_next_obj_by_type(t, HWLOC_OBJ_NUMANODE, node)) != nullptr;) {
    unsigned first = 0, last = 0;
    if (!interval(node, first, last)) continue;
    const std::uint64_t bytes = node->attr->numanode.local_memory;
    // Fast and slow memory of the same processors form one group.
    const auto same = std::find_if(sets.begin() + static_cast<std::ptrdiff_t>(begin), sets.end(),
                                   [&](const topology_set& s) { return s.first == first && s.last == last; });
    if (same != sets.end()) same->capacity += bytes;
    else sets.push_back({group_kind::numa, bytes, 0, 0, first, last});
  }
}

double number_in(const hwloc_info_s* infos, unsigned count, std::string_view name) {
  for (unsigned i = 0; i < count; ++i) {
    if (infos[i].name == name) return std::strtod(infos[i].value, nullptr);
  }
  return 0;
}

// Sets the relative speeds of the kinds of cores: by the capacity that the kernel states, else by the greatest
// frequency, else by the base frequency. A measure counts only if every kind has it. Returns the number of kinds.
unsigned set_speeds(hwloc_topology_t t, std::vector<processing_unit>& units) {
  const int count = hwloc_cpukinds_get_nr(t, 0);
  if (count <= 1) return 1;
  std::vector<std::vector<double>> measures;
  for (int kind = 0; kind < count; ++kind) {
    hwloc_info_s* infos = nullptr;
    unsigned info_count = 0;
    int efficiency = 0;
    const std::unique_ptr<hwloc_bitmap_s, decltype(&hwloc_bitmap_free)> set(hwloc_bitmap_alloc(), hwloc_bitmap_free);
    if (set == nullptr) throw std::bad_alloc();
    hwloc_cpukinds_get_info(t, static_cast<unsigned>(kind), set.get(), &efficiency, &info_count, &infos, 0);
    measures.push_back({number_in(infos, info_count, "LinuxCapacity"), number_in(infos, info_count, "FrequencyMaxMHz"),
                        number_in(infos, info_count, "FrequencyBaseMHz")});
    for (processing_unit& u : units) {
      if (hwloc_bitmap_isset(set.get(), static_cast<unsigned>(u.number))) u.kind = static_cast<unsigned>(kind);
    }
  }
  for (std::size_t which = 0; which < measures[0].size(); ++which) {
    const auto less = [&](const auto& a, const auto& b) { return a[which] < b[which]; };
    if ((*std::min_element(measures.begin(), measures.end(), less))[which] <= 0) continue;
    const double best = (*std::max_element(measures.begin(), measures.end(), less))[which];
    for (processing_unit& u : units) u.speed = measures[u.kind][which] / best;
    break;
  }
  return static_cast<unsigned>(count);
}

std::vector<processing_unit> units_of(hwloc_topology_t t) {
  std::vector<processing_unit> units;
  for (hwloc_obj_t object = nullptr; (object = hwloc_get_next_obj_by_type(t, HWLOC_OBJ_PU, object)) != nullptr;) {
    processing_unit u;
    if (object->os_index > static_cast<unsigned>(std::numeric_limits<int>::max()))
      throw std::invalid_argument("machine: a processing unit has no number (os_index), or a negative one");
    u.number = static_cast<int>(object->os_index);
    u.numa = std::max(0, hwloc_bitmap_first(object->nodeset));
    const hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(t, HWLOC_OBJ_CORE, object);
    u.core = core != nullptr ? core->logical_index : object->logical_index;
    const hwloc_obj_t package = hwloc_get_ancestor_obj_by_type(t, HWLOC_OBJ_PACKAGE, object);
    u.package = package != nullptr ? package->logical_index : 0;
    if (!units.empty() && units.back().core == u.core) u.sibling = units.back().sibling + 1;
    units.push_back(u);
  }
  return units;
}

topology convert(origin from, const std::string& argument, std::string name) {
  const handle loaded = load(from, argument);
  hwloc_topology_t t = loaded.get();
  std::vector<processing_unit> units = units_of(t);
  if (units.empty()) throw std::invalid_argument("machine " + name + ": it has no processing units");
  if (units.size() > most_units)
    throw std::invalid_argument("machine " + name + ": more than " + std::to_string(most_units) + " processing units");
  const unsigned kinds = set_speeds(t, units);
  std::vector<topology_set> sets;
  add_caches(t, sets);
  add_nodes(t, sets);
  for (const topology_set& s : sets) {
    if (s.capacity > most_bytes) {
      throw std::invalid_argument("machine " + name + ": " + (s.kind == group_kind::numa ? "a memory" : "a cache") +
                                  " of " + std::to_string(s.capacity) +
                                  " bytes, which cannot be; is its size negative?");
    }
  }
  return tree_builder::whole(std::move(name), hwloc_topology_is_thissystem(t) != 0, hwloc_get_root_obj(t)->total_memory,
                             kinds, std::move(units), std::move(sets));
}

}  // namespace

topology this_machine_by_hwloc() { return convert(origin::here, "", "this machine"); }

topology topology::this_machine() {
  std::optional<topology> read = this_machine_without_hwloc();
  return read ? *std::move(read) : this_machine_by_hwloc();
}

namespace {

std::unique_ptr<const topology>& pretended() {
  static std::unique_ptr<const topology> machine;
  return machine;
}

}  // namespace

void topology::pretend(topology other) { pretended() = std::make_unique<const topology>(std::move(other)); }

const topology& topology::here() {
  if (pretended() != nullptr) return *pretended();
  static const topology machine = [] {
    try {
      return this_machine();
    } catch (const std::invalid_argument&) {
      std::vector<processing_unit> units;
      for (const int number : affinity_mask())
        units.push_back({.number = number, .core = static_cast<unsigned>(number)});
      if (units.empty()) units.push_back({.number = 0});
      return tree_builder::whole("this machine", true, 0, 1, std::move(units), {});
    }
  }();
  return machine;
}

topology topology::from_xml(const std::string& file) { return convert(origin::xml, file, file); }
topology topology::from_xml_text(const std::string& text, const std::string& name) {
  return convert(origin::xml_text, text, name);
}
topology topology::from_synthetic(const std::string& description) {
  return convert(origin::synthetic, description, "synthetic:" + description);
}

topology topology::from_name(const std::string& name) {
  constexpr std::string_view synthetic = "synthetic:";
  if (name.empty()) return this_machine();
  if (!name.starts_with(synthetic) && !std::ifstream(name)) {
    throw std::invalid_argument(
        "machine file " + name + ": " + std::strerror(errno) +
        "; expected synthetic:DESCRIPTION or an XML file of lstopo (machines that heddle ships, and TOML files, "
        "are for heddle sim --machine and heddle topo --machine)");
  }
  return name.starts_with(synthetic) ? from_synthetic(name.substr(synthetic.size())) : from_xml(name);
}

std::string topology::this_machine_xml() {
  const handle loaded = load(origin::here, "");
  char* text = nullptr;
  int length = 0;
  if (hwloc_topology_export_xmlbuffer(loaded.get(), &text, &length, 0) != 0) return "";
  const std::unique_ptr<char, std::function<void(char*)>> freed(
      text, [&](char* t) { hwloc_free_xmlbuffer(loaded.get(), t); });
  return text;
}

}  // namespace heddle::machine
