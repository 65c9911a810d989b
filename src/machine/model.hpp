// A machine as the simulator sees it: the tree, and the costs of everything on it. It is completed from a TOML file;
// the shipped files lie in sim/machines/.
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

// The costs of the caches of other cores. They depend on where the two cores' ways to memory meet: at a shared level of
// caches, at a node's memory, or at a link between nodes.
struct coherence_costs {
  double transfer{0};  // ns for a line that the other core has modified and still holds
  double upgrade{0};   // ns for a write to a line that is here and of which the other core has a copy, too
};

// A level of caches. A line found there costs `latency` from the core, including the look-ups of all lower levels.
// `coherence` holds between cores that share a cache of this level but none inside it.
struct cache_level {
  group_kind kind;
  double latency{0};  // ns
  coherence_costs coherence{};
  // True if this level holds what the caches inside it evict, and what several of them share; a line from memory goes
  // past it. No level but the last may be one.
  bool victim{false};
};

// The memory of one NUMA node. Its coherence costs hold between cores of the node that share no cache.
struct memory_node {
  int numa{0};           // the operating system's number
  double latency{0};     // ns from a core of the node, caches included
  double bandwidth{0};   // bytes per ns, all channels together; 0 means unlimited
  unsigned channels{1};  // served side by side; lines are interleaved over them
  coherence_costs coherence{};
};

// Traffic from node `from` to node `to`, in one direction. Its coherence costs hold when a core of `to` gets the line
// from a core of `from`.
struct memory_link {
  int from{0}, to{0};
  double latency{0};    // ns, added to the memory's own latency
  double bandwidth{0};  // bytes per ns; 0 means unlimited
  coherence_costs coherence{};
};

// The costs of the scheduler's operations, in ns on the fastest kind of core. The `distance` of a steal is the number
// of levels of the tree up to the common group.
struct operation_costs {
  double fork{0}, join{0};  // fast path: push, pop
  double spawn{0};          // a child thread of a group, made and started
  double thread_switch{0};
  double steal{0};            // a successful steal from the nearest victim
  double steal_per_level{0};  // added for each level of distance beyond the nearest
  double failed_steal{0};     // a look at a victim that has no work
  double wake{0};             // futex wake, paid by the waker
  double wake_latency{0};     // until the woken kernel thread runs
  double sleep{0};            // futex wait, paid by the sleeper
  double heavy_fence{0};
  // The delivery of a signal and the return from its handler, paid by the receiver. This is the cost of a tick.
  double signal{0};
  double signal_lock{0};    // the part of `signal` for which signals to other kernel threads of the process wait
  double signal_send{0};    // sending one, or setting a timer
  double kernel_switch{0};  // from one kernel thread to another on a processing unit
  double clock{0};
};

// A figure of a machine, with its origin.
struct figure {
  enum class origin : std::uint8_t { untold, measured, cited, assumed };

  std::string key;  // as in the machine file, "cache.l3.latency"
  double value{0};
  origin from{origin::untold};
  double least{0}, most{0};  // the range of an assumed figure; both 0 if not told
  std::string why;           // how it was measured, cited or concluded
};

struct model {
  std::string name;
  std::string title;                 // one line; may be empty
  std::vector<std::string> sources;  // the sources of the figures
  topology tree;                     // the whole machine
  double frequency{1};               // cycles per ns of the fastest kind of core: the unit of cost::cycles
  unsigned overlap{1};               // cache misses of one core in flight at once, when lines follow each other
  double window{0};                  // cycles of arithmetic that a core can do while it waits for a line
  std::uint64_t page_size{4096};
  // The ns for which one of several kernel threads on a processing unit runs before another one runs.
  double time_slice{1e6};
  std::vector<core_kind> kinds;
  std::vector<cache_level> caches;  // innermost first
  std::vector<memory_node> nodes;
  std::vector<memory_link> links;  // every ordered pair of different nodes
  // The time of a thief's one-way message over the link, in latencies of the link. It is for clusters of computers. 0
  // means that no message is sent, because memory is shared.
  double link_messages{0};
  operation_costs costs;

  // The keys that were not given and come from the defaults, then the keys that the machine file declares as its
  // author's assumptions, as "KEY: REASON".
  std::vector<std::string> assumed;
  // Latencies, bandwidths and costs, sorted by key.
  std::vector<figure> figures;

  // Makes a model from a name: a shipped name, "this" (or ""), a TOML file, an lstopo XML file (completed by a TOML
  // file of the same name beside it, if there is one), or "synthetic:DESCRIPTION". "A+B" is machine A with figures from
  // the TOML file or shipped machine B, which then has no tree. Values that no source gives come from
  // sim/machines/defaults.toml. Reads files; not for time-critical code. Throws std::invalid_argument: file, line, key,
  // why, fix.
  static model from_name(std::string_view name);
  // Returns the names of the shipped machines, sorted. The files are part of the program.
  static std::vector<std::string> shipped();
  // Returns the text of a shipped machine's file, as a start for a file of one's own. Throws std::invalid_argument for
  // an unknown name.
  static std::string_view shipped_text(std::string_view name);
};

// A cost in the machine file's table [costs], and the member that holds it.
struct cost_key {
  const char* name;
  double operation_costs::* member;
  const char* what;
};
std::span<const cost_key> cost_keys() noexcept;

}  // namespace heddle::machine
