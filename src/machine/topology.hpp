// The tree of memory groups, which is all that policies know about a machine. It is made from hwloc for this machine,
// from a file that lstopo wrote, or from hwloc's synthetic notation. A smaller one is then made for the processing
// units that workers run on.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <heddle/machine.hpp>

namespace heddle::machine {

// A data or unified cache of the whole machine, even if the tree merges it with a cache around it.
struct cache_info {
  group_kind kind{group_kind::l1};
  std::uint64_t capacity{0};             // in bytes; 0 if unknown
  unsigned line_size{0};                 // in bytes; 0 if unknown
  int associativity{0};                  // ways; -1 if fully associative, 0 if unknown
  unsigned first_unit{0}, last_unit{0};  // it serves units()[first_unit, last_unit)
};

inline constexpr std::size_t kinds_of_group = static_cast<std::size_t>(group_kind::unit) + 1;

struct topology_set;  // source.hpp

// Immutable, and cheap to copy. All functions may be called from any context, and none suspends.
//
// The shape of the tree is that of machine::view, through which schedulers see it.
class topology {
 public:
  // Each function throws std::invalid_argument (what was asked for and why it cannot be) or std::bad_alloc.
  static topology this_machine();
  // Returns this_machine(), read at the first call and kept. It does not throw for a machine
  // that hwloc cannot read; then the topology is flat, with the units of the affinity mask and no caches.
  static const topology& here();
  // Makes here() return `other`. It is for the simulator, before the first runtime is made.
  static void pretend(topology other);
  static topology from_xml(const std::string& file);
  // Takes the XML itself; `name` becomes the machine's name.
  static topology from_xml_text(const std::string& text, const std::string& name);
  // Returns this machine as lstopo would write it, or "" if hwloc cannot.
  static std::string this_machine_xml();
  static topology from_synthetic(const std::string& description);
  // Takes "synthetic:DESCRIPTION", or the name of an XML file, or "" for this machine.
  static topology from_name(const std::string& name);

  // These return the same machine under another name, with a kind and speed for each of units(), or with other numbers
  // for caches(). Workers keep their ranks. The with_* functions throw std::invalid_argument if the argument does not
  // fit the machine: there must be one kind for each unit, below speeds.size(); speeds must be positive and finite;
  // caches must be at the same places in the same order.
  topology named(std::string name) const;
  topology with_kinds(std::span<const unsigned> kind_of_unit, std::span<const double> speeds) const;
  topology with_caches(std::span<const cache_info> caches) const;
  // Returns the same machine with latencies in ns: of lines found in each kind of cache, by group_kind (0 if not
  // known), and from node to node.
  topology with_latencies(std::span<const double> of_kind, std::vector<node_latency> nodes) const;

  // Returns the same machine with one worker on each of the given units, rank by rank. A unit may occur several times,
  // and a unit that the machine does not have counts as one without caches. Throws std::invalid_argument if `units` is
  // empty or not in the order of compact_order().
  topology for_workers(std::span<const int> units) const;

  const std::string& name() const noexcept { return *name_; }
  bool is_this_machine() const noexcept { return this_machine_; }

  // Returns every unit of the machine, including those without a worker, in the order of the tree.
  std::span<const processing_unit> units() const noexcept { return *units_; }
  const processing_unit* unit(int number) const noexcept;  // null if it is not a unit of this machine
  // Returns every cache of the machine, innermost level first, then in the order of the units. The simulator models
  // these caches; schedulers see the view's groups.
  std::span<const cache_info> caches() const noexcept { return *caches_; }
  std::uint64_t memory_bytes() const noexcept { return memory_bytes_; }
  // Returns the capacity of a node's memory in bytes, or 0 if it is unknown or there is no such node.
  std::uint64_t node_bytes(int numa) const noexcept;
  unsigned kinds_of_core() const noexcept { return kinds_; }

  // Sorts units so that neighbours share the innermost caches possible.
  std::vector<int> compact_order(std::vector<int> units) const;

  // Returns the tree of groups, which is what schedulers see. In a topology that is not made for workers each unit has
  // one worker. The view is valid as long as any copy of this topology.
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
