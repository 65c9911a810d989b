// A machine as the simulator sees it: the tree, and what everything on it costs. Completed from a TOML file; shipped
// ones lie in sim/machines/.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "machine/topology.hpp"

namespace heddle::machine {

// A kind of core, by processing_unit::kind.
struct core_kind {
  std::string name;
  double speed{1};  // work per time, relative to the fastest kind
};

// What the caches of other cores cost, by where the two ways to memory meet: at a shared level of caches, at a node's
// memory, or at a link between nodes.
struct coherence_costs {
  double transfer{0};  // ns, of a line that the other core has modified and still holds
  double upgrade{0};   // ns, of a write to a line that is here and of which the other core has a copy, too
};

// A level of caches. A line found there costs `latency` from the core, all lower levels' look-ups included. Of
// coherence: between cores that share a cache of this level and none inside it.
struct cache_level {
  group_kind kind;
  double latency{0};  // ns
  coherence_costs coherence{};
  // It has what the caches inside it lose, and what several of them share; a line from memory goes past it. The last
  // level alone.
  bool victim{false};
};

// Memory of one NUMA node. Of coherence: between cores of the node that share no cache.
struct memory_node {
  int numa{0};           // operating system's number
  double latency{0};     // ns from a core of the node, caches included
  double bandwidth{0};   // bytes per ns, all channels together; 0: unlimited
  unsigned channels{1};  // served side by side, lines interleaved over them
  coherence_costs coherence{};
};

// Traffic from node `from` to node `to`, one direction. Of coherence: a core of `to` gets the line from one of `from`.
struct memory_link {
  int from{0}, to{0};
  double latency{0};    // ns added to the memory's own
  double bandwidth{0};  // bytes per ns; 0: unlimited
  coherence_costs coherence{};
};

// What the scheduler's operations cost, ns on the fastest kind of core. `distance` of a steal: levels of the tree up to
// the common group.
struct operation_costs {
  double fork{0}, join{0};  // fast path: push, pop
  double spawn{0};          // a child thread of a group, made and started
  double thread_switch{0};
  double steal{0};            // a steal that gets something, from the nearest victim
  double steal_per_level{0};  // added for each level of distance beyond the nearest
  double failed_steal{0};     // a look at a victim without work
  double wake{0};             // futex wake, paid by the waker
  double wake_latency{0};     // until the woken kernel thread runs
  double sleep{0};            // futex wait, paid by the sleeper
  double heavy_fence{0};
  // delivery of a signal and the return from its handler, paid by the receiver: what a tick costs
  double signal{0};
  double signal_lock{0};    // of that, how long signals to other kernel threads of the process wait
  double signal_send{0};    // sending one, or setting a timer
  double kernel_switch{0};  // from one kernel thread to another on a processing unit
  double clock{0};
};

// A figure of a machine and where it is from.
struct figure {
  enum class origin : std::uint8_t { untold, measured, cited, assumed };

  std::string key;  // of the machine file, "cache.l3.latency"
  double value{0};
  origin from{origin::untold};
  double least{0}, most{0};  // assumed: between what it may lie; both 0: not told
  std::string why;           // what was measured, cited or concluded
};

struct model {
  std::string name;
  std::string title;                 // one line; may be empty
  std::vector<std::string> sources;  // where the figures are from
  topology tree;                     // the whole machine
  double frequency{1};               // cycles per ns of the fastest kind of core: the unit of cost::cycles
  unsigned overlap{1};               // cache misses of one core in flight at once, when lines follow each other
  double window{0};                  // cycles of arithmetic that a core can do while it waits for a line
  std::uint64_t page_size{4096};
  // ns that one of several kernel threads on a processing unit runs before another has its turn
  double time_slice{1e6};
  std::vector<core_kind> kinds;
  std::vector<cache_level> caches;  // innermost first
  std::vector<memory_node> nodes;
  std::vector<memory_link> links;  // every ordered pair of different nodes
  // How many latencies of the link a message of a thief takes over it, one way: clusters of computers; 0: none is sent,
  // for memory is shared.
  double link_messages{0};
  operation_costs costs;

  // Keys that were not given and come from the defaults, then those that the machine file declares as its author's
  // assumptions, as "KEY: REASON".
  std::vector<std::string> assumed;
  // Latencies, bandwidths and costs, sorted by key.
  std::vector<figure> figures;

  // A shipped name, "this" (or ""), a TOML file, an lstopo XML file (completed by a TOML file of the same name beside
  // it, if there is one), or "synthetic:DESCRIPTION"; "A+B" is machine A with figures from the TOML file or shipped
  // machine B, which then has no tree. What no source says comes from sim/machines/defaults.toml. Reads files; not for
  // time-critical code. Throws std::invalid_argument: file, line, key, why, fix.
  static model from_name(std::string_view name);
  // Names, sorted; the files are part of the program.
  static std::vector<std::string> shipped();
  // The text of a shipped machine's file, as a start for one's own; throws std::invalid_argument for an unknown name.
  static std::string_view shipped_text(std::string_view name);
};

// A cost of the machine file's table [costs] and where it is kept.
struct cost_key {
  const char* name;
  double operation_costs::* member;
  const char* what;
};
std::span<const cost_key> cost_keys() noexcept;

}  // namespace heddle::machine
