#include "sim/memory_model.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <stdexcept>

#include "sim/cache_tree.hpp"
#include "sim/coherence.hpp"
#include "sim/line_servers.hpp"
#include "sim/meeting_points.hpp"
#include "sim/memory_nodes.hpp"
#include "sim/overlap.hpp"

namespace heddle::sim {

namespace {

// The logarithm of the number of frames, of 1 << `block_bits` blocks each, whose numbers are scattered together. It is
// no more than a chunk of the directory has, so that the directory stays dense. It is far more than the number of page
// colours in the largest caches.
unsigned frames_scattered(unsigned block_bits) {
  constexpr unsigned most = 12;
  return std::min(most, cache_directory::chunk_bits - std::min(cache_directory::chunk_bits, block_bits));
}

}  // namespace

class memory_model::insides {
 public:
  insides(const machine::model& machine, std::uint64_t seed);

  // As in memory_model.
  double access(unsigned unit, std::uint64_t address, std::uint64_t bytes, bool write, double at, goes_on how);
  double access_rows(unsigned unit, std::span<const row_set> sets, std::uint64_t count, double at);
  void place(std::uint64_t address, std::uint64_t bytes, page_policy policy, int node);
  void forget(std::uint64_t address, std::uint64_t bytes);

  const access_counts& counts() const noexcept { return counts_; }
  std::vector<node_traffic> nodes() const;
  void reset_counts();
  void flush() {
    caches_.clear();
    coherence_.flushed();
  }
  std::uint64_t host_bytes() const;
  unsigned line_bits() const noexcept { return caches_.line_bits(); }

 private:
  // The unit that makes an access.
  struct who {
    unsigned path_number;
    const cache_path& path;
    unsigned near;                 // node
    access_counts::of_level* own;  // by level
    access_counts::of_memory& far;
  };
  // The line's set in each cache of a path.
  using places = std::array<cache::location, cache_path::max_depth>;

  // Lines that were requested and are not yet served. Their tables are fetched while the lines before them are served.
  struct planned {
    line_number line;
    bool write;
  };
  struct line_plan {
    static constexpr std::size_t most = 512;
    static constexpr std::size_t tables_ahead = 16, copies_ahead = 8, lost_ahead = 6;  // lines

    std::size_t size{0};
    planned lines[most];
    places announced[tables_ahead];  // of line i, at i modulo the size
  };

  who accessor(unsigned unit) {
    return {caches_.path_of(unit), caches_.paths()[caches_.path_of(unit)], memory_.node_of_unit(unit),
            counts_.levels_for(unit), counts_.memory_for(unit)};
  }
  double begin(double at);
  template <class Pipeline>
  void range(const who& w, std::uint64_t address, std::uint64_t bytes, bool write, Pipeline& flow);
  template <class Pipeline>
  void serve_planned(const who& w, Pipeline& flow);
  line_number first_line_of(std::uint64_t page, unsigned near);
  [[gnu::always_inline]] inline void announce(const who& w, const planned& p, places& where);
  [[gnu::always_inline]] inline double fetch_line(const who& w, line_number line, const places& where, unsigned owner,
                                                  line_number lost, double at);
  void announce_lost(const who& w, std::size_t i);
  [[gnu::noinline]] double fetch_past_victims(const who& w, line_number line, const places& where, unsigned owner,
                                              line_number lost, double at);
  double fetch_from_memory(const who& w, line_number line, double at);
  void write_back(const who& w, line_number line, double at);
  [[gnu::noinline]] double transfer(const who& w, line_number line, unsigned owner, double at);
  [[gnu::always_inline]] inline double invalidate_others(const who& w, line_number line, bool transferred, double at);

  unsigned page_bits_;
  unsigned lines_bits_;  // a page has 1 << lines_bits_ lines
  cache_tree caches_;
  memory_nodes memory_;
  page_table pages_;
  coherence coherence_;
  meeting_points meetings_;
  line_servers servers_;
  double latest_{0}, oldest_{0};
  std::vector<double> finish_;  // for the last lines: as many as overlap
  access_counts counts_;
  line_plan plan_;
};

memory_model::insides::insides(const machine::model& machine, std::uint64_t seed)
    : page_bits_(static_cast<unsigned>(std::countr_zero(machine.page_size))),
      lines_bits_(0),
      caches_(machine),
      memory_(machine),
      pages_(memory_.count(), std::uint64_t{no_line} >> (page_bits_ - std::min(page_bits_, caches_.line_bits())),
             frames_scattered(page_bits_ - std::min(page_bits_, caches_.line_bits() + caches_.block_shift())), seed),
      coherence_(caches_),
      meetings_(machine, caches_, memory_),
      finish_(std::max(1u, machine.overlap)),
      counts_(machine, caches_) {
  if (!std::has_single_bit(machine.page_size) || page_bits_ < caches_.line_bits()) {
    throw std::invalid_argument("machine " + machine.name + ": a page of " + std::to_string(machine.page_size) +
                                " bytes; it must be a power of two and not below the size of a cache line");
  }
  lines_bits_ = page_bits_ - caches_.line_bits();
}

// The model's own tables are larger than the caches under it. So the entries that a line outside the innermost cache
// may need are requested together, not one after the other. If lines are known beforehand, they are requested while
// others are served.
void memory_model::insides::announce(const who& w, const planned& p, places& where) {
  const line_number line = p.line;
  for (unsigned i = 0; i < w.path.depth; ++i) where[i] = w.path.steps[i].where->prefetch(line >> w.path.steps[i].shift);
  if (!p.write) coherence_.fetch(line);  // for writes range() did this
}

// Fetches the set of a victim cache that will take in the line that line i of the plan drives out of the cache inside
// it, as far as that can be told beforehand.
void memory_model::insides::announce_lost(const who& w, std::size_t i) {
  const cache_step& step = w.path.steps[w.path.loses];
  const line_number line = plan_.lines[i].line >> step.shift;
  const line_number lost = step.where->last_before(line, plan_.announced[i % line_plan::tables_ahead][w.path.loses]);
  if (lost != no_line) w.path.steps[w.path.depth - 1].where->prefetch(lost);
}

// Called when the innermost cache had to take the line in. Finds where it comes from, and returns how long that takes.
// `owner` is the path that has modified the line, and has the only valid copy. `lost` is the line that the innermost
// cache lost, if that cache is the last one.
double memory_model::insides::fetch_line(const who& w, line_number line, const places& where, unsigned owner,
                                         line_number lost, double at) {
  const cache_path& path = w.path;
  if (path.depth != 0) ++w.own[path.steps[0].level].misses;
  for (unsigned i = 1; i < path.depth; ++i) {
    const cache_step& step = path.steps[i];
    ++w.own[step.level].accesses;
    if (i > path.loses) return fetch_past_victims(w, line, where, owner, lost, at);
    if (i == path.loses) lost = step.where->last_before(line >> step.shift, where[i]);
    if (step.where->access(line >> step.shift, where[i]))
      return owner == coherence::nobody ? step.latency : transfer(w, line, owner, at);
    ++w.own[step.level].misses;
  }
  double took = 0;
  if (owner != coherence::nobody) {
    ++w.far.from_caches;
    took = transfer(w, line, owner, at);
  } else {
    took = fetch_from_memory(w, line, at);
  }
  if (lost != no_line && coherence_.write_back(lost << path.fetched_shift))
    write_back(w, lost << path.fetched_shift, at);
  return took;
}

double memory_model::insides::fetch_from_memory(const who& w, line_number line, double at) {
  const unsigned node = pages_.node_of(line >> lines_bits_);
  ++(node == w.near ? w.far.local : w.far.remote);
  const double took = memory_.fetch(w.near, node, line >> w.path.fetched_shift, w.path.fetched_bytes, at, oldest_);
  if (coherence_.write_back(line)) write_back(w, line, at);
  return took;
}

// The same if the last cache is a victim cache. A line that is found there leaves it, unless others have asked for it,
// too. A line that a core beside has comes from that core, and is in the victim cache from then on. The victim cache
// takes in the line that the cache inside it lost.
double memory_model::insides::fetch_past_victims(const who& w, line_number line, const places& where, unsigned owner,
                                                 line_number lost, double at) {
  const cache_step& step = w.path.steps[w.path.depth - 1];
  const line_number number = line >> step.shift;
  const auto take_in = [&](line_number one, cache::location set) {
    const line_number out = step.where->last_before(one, set);
    if (step.where->access(one, set) || out == no_line) return;
    if (coherence_.write_back(out << step.shift)) write_back(w, out << step.shift, at);
  };
  double took = step.latency;
  if (coherence_.is_shared(line, w.path_number)) {
    if (step.where->contains(number)) {
      step.where->access(number, where[w.path.depth - 1]);
      if (owner != coherence::nobody) took = transfer(w, line, owner, at);
    } else {
      ++w.own[step.level].misses;
      const unsigned beside = owner != coherence::nobody ? owner : coherence_.copy_beside(line, w.path_number);
      if (beside == coherence::nobody) {
        took = fetch_from_memory(w, line, at);
      } else {
        ++w.far.from_caches;
        if (owner != coherence::nobody) {
          took = transfer(w, line, owner, at);
        } else {
          ++w.far.transfers;
          took = meetings_.of(w.path_number, beside).transfer;
          take_in(number, where[w.path.depth - 1]);
        }
      }
    }
  } else if (!step.where->remove(number, where[w.path.depth - 1])) {
    ++w.own[step.level].misses;
    took = fetch_from_memory(w, line, at);
  }
  if (lost != no_line) take_in(lost, step.where->locate(lost));
  return took;
}

void memory_model::insides::write_back(const who& w, line_number line, double at) {
  memory_.write_back(w.near, pages_.node_of(line >> lines_bits_), line >> w.path.fetched_shift, w.path.fetched_bytes,
                     at, oldest_);
}

// Transfers the line from the caches of another core, over the link if that core is of another node, once the line is
// free.
double memory_model::insides::transfer(const who& w, line_number line, unsigned owner, double at) {
  ++w.far.transfers;
  const double latency = meetings_.of(w.path_number, owner).transfer;
  double start = servers_.serve(coherence_.block_of(line), at, latency);
  const unsigned from = meetings_.node_of(owner);
  if (from != w.near) start += memory_.carry(w.near, from, w.path.fetched_bytes, start, oldest_);
  return start - at + latency;
}

// Returns how long it takes until the last of the others' copies is gone. A line that was transferred was requested by
// the write, and came without any other copy.
double memory_model::insides::invalidate_others(const who& w, line_number line, bool transferred, double at) {
  double farthest = -1;
  coherence_.invalidate_others(line, w.path_number, [&](unsigned other, const cache_step& step, unsigned copies) {
    w.own[step.level].invalidations += copies;
    if (copies != 0) farthest = std::max(farthest, meetings_.of(w.path_number, other).upgrade);
  });
  if (transferred || farthest < 0) return 0;
  ++w.far.upgrades;
  return servers_.serve(coherence_.block_of(line), at, farthest) - at + farthest;
}

double memory_model::insides::begin(double at) {
  latest_ = std::max(latest_, at);
  oldest_ = std::max(0.0, latest_ - history);
  return std::max(at, oldest_);
}

line_number memory_model::insides::first_line_of(std::uint64_t page, unsigned near) {
  const std::uint64_t frame = pages_.frame_of(page, near);
  coherence_.cover((frame + 1) << lines_bits_);
  return static_cast<line_number>(frame << lines_bits_);
}

// Plans the lines of a range, and serves the planned ones when there is no more room.
template <class Pipeline>
void memory_model::insides::range(const who& w, std::uint64_t address, std::uint64_t bytes, bool write,
                                  Pipeline& flow) {
  if (bytes == 0) return;
  const std::uint64_t last = (address + (bytes - 1)) >> caches_.line_bits();
  std::uint64_t next = address >> caches_.line_bits();
  if (w.path.depth != 0) w.own[w.path.steps[0].level].accesses += last - next + 1;
  const std::uint64_t page_lines = std::uint64_t{1} << lines_bits_;
  while (next <= last) {
    const std::uint64_t in_page = next & (page_lines - 1);
    const std::uint64_t count =
        std::min({last - next + 1, page_lines - in_page, std::uint64_t{line_plan::most - plan_.size}});
    const line_number line = first_line_of(next >> lines_bits_, w.near) + static_cast<line_number>(in_page);
    for (std::uint64_t i = 0; i < count; ++i) plan_.lines[plan_.size + i] = {line + static_cast<line_number>(i), write};
    plan_.size += count;
    if (write) coherence_.fetch(line, line + static_cast<line_number>(count - 1));
    next += count;
    if (plan_.size == line_plan::most) serve_planned(w, flow);
  }
}

template <class Pipeline>
void memory_model::insides::serve_planned(const who& w, Pipeline& flow) {
  const cache_step inner = w.path.steps[0];
  const bool inner_loses = w.path.depth != 0 && w.path.loses == 0;
  std::size_t announced = 0, copies_announced = 0;
  for (std::size_t i = 0; i < plan_.size; ++i) {
    const auto [line, write] = plan_.lines[i];
    const double now = flow.issue();
    const bool known = i < announced;
    const places& where = plan_.announced[i % line_plan::tables_ahead];
    const line_number inner_line = line >> inner.shift;
    const cache::location place = known || inner.where == nullptr ? where[0] : inner.where->locate(inner_line);
    line_number lost = no_line;
    if (inner_loses) [[unlikely]]
      lost = inner.where->last_before(inner_line, place);
    double took = inner.latency;
    bool transferred = false;
    if (inner.where != nullptr && inner.where->access(inner_line, place)) [[likely]] {
      if (!write || coherence_.modify_alone(line, w.path_number)) [[likely]] {
        flow.arrives_after(inner.latency);
        continue;
      }
    } else {
      // Lines that are found in the innermost cache need no more tables. Lines that are not found seldom come alone.
      const std::size_t soon = std::min(plan_.size, i + line_plan::tables_ahead);
      for (announced = std::max(announced, i); announced < soon; ++announced)
        announce(w, plan_.lines[announced], plan_.announced[announced % line_plan::tables_ahead]);
      if (w.path.victim && i + line_plan::lost_ahead < announced) announce_lost(w, i + line_plan::lost_ahead);
      const unsigned owner = coherence_.owner_apart(line, w.path_number);
      transferred = owner != coherence::nobody;
      if (!write && w.path.depth != 0) coherence_.add(line, w.path_number, plan_.size != 1);
      took = fetch_line(w, line, where, owner, lost, now);
    }
    if (write && !coherence_.modify_alone(line, w.path_number)) {
      const std::size_t soon = std::min(plan_.size, i + line_plan::copies_ahead);
      for (copies_announced = std::max(copies_announced, i); copies_announced < soon; ++copies_announced) {
        if (plan_.lines[copies_announced].write)
          coherence_.fetch_copies(plan_.lines[copies_announced].line, w.path_number);
      }
      took = std::max(took, invalidate_others(w, line, transferred, now));
    }
    flow.arrives_after(took);
  }
  plan_.size = 0;
}

double memory_model::insides::access(unsigned unit, std::uint64_t address, std::uint64_t bytes, bool write, double at,
                                     goes_on how) {
  const double start = begin(at);
  const who w = accessor(unit);
  if (how != goes_on::no) {
    continued_pipeline flow(finish_.size(), how == goes_on::same_line ? w.path.steps[0].latency : -1, start);
    range(w, address, bytes, write, flow);
    serve_planned(w, flow);
    return flow.end() - start;
  }
  pipeline flow(finish_, start);
  range(w, address, bytes, write, flow);
  serve_planned(w, flow);
  return flow.end() - start;
}

double memory_model::insides::access_rows(unsigned unit, std::span<const row_set> sets, std::uint64_t count,
                                          double at) {
  const double start = begin(at);
  reordering_pipeline flow(finish_, start);
  const who w = accessor(unit);
  for (std::uint64_t row = 0; row < count; ++row) {
    for (const row_set& s : sets) range(w, s.address + row * s.stride, s.bytes, s.write, flow);
  }
  serve_planned(w, flow);
  return flow.end() - start;
}

void memory_model::insides::place(std::uint64_t address, std::uint64_t bytes, page_policy policy, int node) {
  if (bytes == 0) return;
  const unsigned index = policy == page_policy::bind ? memory_.index_of(node) : 0;
  if (index == memory_.count())
    throw std::invalid_argument("no NUMA node " + std::to_string(node) + " in the modelled machine");
  pages_.place(address >> page_bits_, (address + (bytes - 1)) >> page_bits_, policy, index);
}

void memory_model::insides::forget(std::uint64_t address, std::uint64_t bytes) {
  const std::uint64_t page = std::uint64_t{1} << page_bits_;
  const std::uint64_t first = (address >> page_bits_) + ((address & (page - 1)) != 0 ? 1 : 0);
  const std::uint64_t end = (address + bytes) >> page_bits_;
  if (first >= end) return;
  pages_.forget(first, end - 1,
                [&](std::uint64_t frame) { coherence_.forget(frame << lines_bits_, (frame + 1) << lines_bits_); });
}

std::vector<node_traffic> memory_model::insides::nodes() const {
  std::vector<node_traffic> result;
  for (unsigned node = 0; node < memory_.count(); ++node) {
    result.push_back({memory_.numa(node), memory_.local_bytes(node), memory_.remote_bytes(node), pages_.pages_on(node),
                      memory_.written_bytes(node)});
  }
  return result;
}

void memory_model::insides::reset_counts() {
  counts_.reset();
  memory_.reset_counts();
}

std::uint64_t memory_model::insides::host_bytes() const {
  return caches_.bytes() + memory_.bytes() + pages_.bytes() + coherence_.bytes() + servers_.bytes() + counts_.bytes();
}

// --- the interface -----------------------------------------------------------------------------------------------

memory_model::memory_model(const machine::model& machine, std::uint64_t seed)
    : in_(std::make_unique<insides>(machine, seed)) {}
memory_model::~memory_model() = default;

double memory_model::access(unsigned unit, std::uint64_t address, std::uint64_t bytes, bool write, double at,
                            goes_on how) {
  return in_->access(unit, address, bytes, write, at, how);
}
unsigned memory_model::line_bits() const noexcept { return in_->line_bits(); }
double memory_model::access_rows(unsigned unit, std::span<const row_set> sets, std::uint64_t count, double at) {
  return in_->access_rows(unit, sets, count, at);
}
void memory_model::place(std::uint64_t address, std::uint64_t bytes, page_policy policy, int node) {
  in_->place(address, bytes, policy, node);
}
void memory_model::forget(std::uint64_t address, std::uint64_t bytes) { in_->forget(address, bytes); }

std::vector<level_count> memory_model::levels() const { return in_->counts().levels(); }
std::vector<level_count> memory_model::levels_of(unsigned unit) const { return in_->counts().levels_of(unit); }
reach_count memory_model::reach_of(unsigned unit) const noexcept { return in_->counts().reach_of(unit); }
std::vector<node_traffic> memory_model::nodes() const { return in_->nodes(); }
void memory_model::reset_counts() { in_->reset_counts(); }
void memory_model::flush() { in_->flush(); }
std::uint64_t memory_model::host_bytes() const { return in_->host_bytes(); }

}  // namespace heddle::sim
