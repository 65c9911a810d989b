// The tree of memory groups: what policies know about a machine. Made from hwloc for this machine, from a file that
// lstopo wrote, or from hwloc's synthetic notation; and again, smaller, for the processing units that workers run on.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <heddle/machine.hpp>

namespace heddle::machine {

// A data or unified cache of the whole machine, also where the tree merges it with one around it.
struct cache_info {
  group_kind kind{group_kind::l1};
  std::uint64_t capacity{0};             // bytes; 0 when unknown
  unsigned line_size{0};                 // bytes; 0 when unknown
  int associativity{0};                  // ways; -1 fully associative, 0 when unknown
  unsigned first_unit{0}, last_unit{0};  // it serves units()[first_unit, last_unit)
};

inline constexpr std::size_t kinds_of_group = static_cast<std::size_t>(group_kind::unit) + 1;

struct topology_set;  // source.hpp

// Immutable; cheap to copy. All functions may be called from any context and none suspends.
//
// Shape: that of machine::view, which is what schedulers get of it.
class topology {
 public:
  // Each throws std::invalid_argument (what was asked for and why it cannot be) or std::bad_alloc.
  static topology this_machine();
  // this_machine(), read at the first call and kept (hwloc takes milliseconds). Does not throw for a machine that hwloc
  // cannot read: then it is flat, the units of the affinity mask without caches.
  static const topology& here();
  // here() is this one from now on: for the simulator, before the first runtime is made.
  static void pretend(topology other);
  static topology from_xml(const std::string& file);
  // The XML itself; `name` is what the machine is called.
  static topology from_xml_text(const std::string& text, const std::string& name);
  // This machine as lstopo would write it; "" if hwloc cannot.
  static std::string this_machine_xml();
  static topology from_synthetic(const std::string& description);
  // "synthetic:DESCRIPTION", else the name of an XML file; "": this machine.
  static topology from_name(const std::string& name);

  // The same machine under another name; with a kind and speed for each of units(); with other numbers for caches().
  // Workers keep their ranks. with_* throw std::invalid_argument when the argument does not fit the machine: one kind
  // per unit, below speeds.size(); speeds positive and finite; caches at the same places in the same order.
  topology named(std::string name) const;
  topology with_kinds(std::span<const unsigned> kind_of_unit, std::span<const double> speeds) const;
  topology with_caches(std::span<const cache_info> caches) const;
  // The same machine with latencies, ns: of lines found in each kind of cache, by group_kind (0: not known), and from
  // node to node.
  topology with_latencies(std::span<const double> of_kind, std::vector<node_latency> nodes) const;

  // The same machine with one worker on each of the given units, rank by rank; a unit may occur several times, and one
  // that the machine does not have counts as a unit without caches. Throws std::invalid_argument when `units` is empty
  // or not in the order of compact_order().
  topology for_workers(std::span<const int> units) const;

  const std::string& name() const noexcept { return *name_; }
  bool is_this_machine() const noexcept { return this_machine_; }

  // Every unit of the machine, those without a worker too, in the order of the tree.
  std::span<const processing_unit> units() const noexcept { return *units_; }
  const processing_unit* unit(int number) const noexcept;  // null: not of this machine
  // Every cache of the machine, innermost level first, then in the order of
  // the units. The simulator models these; the view's groups are what schedulers see.
  std::span<const cache_info> caches() const noexcept { return *caches_; }
  std::uint64_t memory_bytes() const noexcept { return memory_bytes_; }
  // Capacity of a node's memory, bytes; 0 when unknown or there is no such node.
  std::uint64_t node_bytes(int numa) const noexcept;
  unsigned kinds_of_core() const noexcept { return kinds_; }

  // Sorts units so that neighbours share the innermost caches possible.
  std::vector<int> compact_order(std::vector<int> units) const;

  // What schedulers see of it: the tree of groups. In a topology that is not made for workers each unit has one worker.
  // Valid as long as any copy of this topology.
  class view view() const noexcept { return {*groups_, *leaves_, *worker_units_, *node_latencies_}; }
  unsigned workers() const noexcept { return groups_->front().worker_count; }

 private:
  friend class tree_builder;
  topology() = default;

  std::shared_ptr<const std::string> name_;
  bool this_machine_{false};
  std::uint64_t memory_bytes_{0};
  unsigned kinds_{1};
  double latencies_[kinds_of_group]{};  // by group_kind
  std::shared_ptr<const std::vector<node_latency>> node_latencies_{std::make_shared<const std::vector<node_latency>>()};
  std::shared_ptr<const std::vector<processing_unit>> units_;
  std::shared_ptr<const std::vector<topology_set>> sets_;  // kept for for_workers()
  std::shared_ptr<const std::vector<cache_info>> caches_;
  std::shared_ptr<const std::vector<memory_group>> groups_;
  std::shared_ptr<const std::vector<unsigned>> leaves_;               // by rank
  std::shared_ptr<const std::vector<processing_unit>> worker_units_;  // by rank
};

}  // namespace heddle::machine
