#include "sim/memory_model.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <stdexcept>
#include <utility>

#include "sim/cache_directory.hpp"
#include "sim/cache_tree.hpp"
#include "sim/memory_nodes.hpp"
#include "sim/overlap.hpp"

namespace heddle::sim {

namespace {

struct counters {
  std::uint64_t accesses{0}, misses{0}, invalidations{0};
};

// Of a unit: levels, by index, of the last cache that its core has for itself, and of its last one if cores share it.
struct reach {
  static constexpr unsigned none = ~0u;
  unsigned own{none}, shared{none};
  std::uint64_t local{0}, remote{0};  // lines out of memory
};

std::vector<reach> reaches_in(const machine::model& machine, const cache_tree& caches) {
  const auto units = machine.tree.units();
  std::vector<reach> of_unit(units.size());
  for (const machine::cache_info& c : machine.tree.caches()) {  // outwards
    if (c.capacity == 0) continue;
    const auto level = static_cast<unsigned>(std::ranges::find(caches.levels(), c.kind) - caches.levels().begin());
    const bool one_core = units[c.first_unit].core == units[c.last_unit - 1].core;
    for (unsigned unit = c.first_unit; unit < c.last_unit; ++unit) {
      (one_core ? of_unit[unit].own : of_unit[unit].shared) = level;
      if (one_core) of_unit[unit].shared = reach::none;
    }
  }
  return of_unit;
}

}  // namespace

struct memory_model::insides {
  explicit insides(const machine::model& machine);

  // Whose access it is.
  struct who {
    unsigned path_number;
    const cache_path& path;
    unsigned near;  // node
    counters* own;  // by level
    reach& far;
  };

  // Lines that were asked for and are not yet served: their tables are fetched while those before them are.
  struct planned {
    line_number line;
    bool write;
  };

  who accessor(unsigned unit) {
    return {caches.path_of(unit), caches.paths()[caches.path_of(unit)], memory.node_of_unit(unit),
            counts.data() + unit * caches.levels().size(), reaches[unit]};
  }
  double begin(double at);
  template <class Pipeline>
  void range(const who& w, std::uint64_t address, std::uint64_t bytes, bool write, Pipeline& flow);
  template <class Pipeline>
  void serve_planned(const who& w, Pipeline& flow);
  line_number first_line_of(std::uint64_t page, unsigned near);
  // The line's set in each cache of a path.
  using places = std::array<cache::location, cache_path::max_depth>;
  [[gnu::always_inline]] inline void announce(const who& w, const planned& p, places& where);
  template <class Look>
  auto in_others(const who& w, Look&& look);
  [[gnu::always_inline]] inline void announce_copies(const who& w, line_number line);
  [[gnu::always_inline]] inline double fetch_line(const who& w, line_number line, const places& where, double at);
  [[gnu::always_inline]] inline void invalidate_others(const who& w, line_number line);
  void forget_frame(page_table::frame_number frame);
  [[gnu::always_inline]] inline unsigned remove_copies(const cache_step& step, std::uint32_t block);

  static constexpr std::size_t most_planned = 512;
  static constexpr std::size_t tables_ahead = 16, copies_ahead = 8;  // lines

  unsigned page_bits;
  unsigned lines_bits;  // a page has 1 << lines_bits lines
  unsigned overlap;
  cache_tree caches;
  memory_nodes memory;
  page_table pages;
  cache_directory directory;
  bool coherent;  // several paths: writes must look at others
  page_table::frame_number covered{0};
  double latest{0}, oldest{0};
  std::vector<double> finish;
  std::vector<counters> counts;  // [unit * levels + level]
  std::vector<reach> reaches;    // of each unit
  std::size_t plan_size{0};
  planned plan[most_planned];
  places announced_places[tables_ahead];  // of line i of the plan, at i modulo the size
};

memory_model::insides::insides(const machine::model& machine)
    : page_bits(static_cast<unsigned>(std::countr_zero(machine.page_size))),
      lines_bits(0),
      overlap(std::max(1u, machine.overlap)),
      caches(machine),
      memory(machine),
      pages(memory.count(), std::uint64_t{no_line} >> (page_bits - std::min(page_bits, caches.line_bits()))),
      directory(static_cast<unsigned>(caches.paths().size())),
      coherent(caches.paths().size() > 1),
      finish(overlap),
      counts(machine.tree.units().size() * caches.levels().size()),
      reaches(reaches_in(machine, caches)) {
  if (!std::has_single_bit(machine.page_size) || page_bits < caches.line_bits()) {
    throw std::invalid_argument("machine " + machine.name + ": a page of " + std::to_string(machine.page_size) +
                                " bytes; it must be a power of two and not below the size of a cache line");
  }
  lines_bits = page_bits - caches.line_bits();
}

// The model's own tables are larger than the caches under it: what a line that is not in the innermost cache may need
// comes at once, not one after the other, and where lines are known beforehand, while others are served.
void memory_model::insides::announce(const who& w, const planned& p, places& where) {
  const line_number line = p.line;
  for (unsigned i = 0; i < w.path.depth; ++i) where[i] = w.path.steps[i].where->prefetch(line >> w.path.steps[i].shift);
  if (coherent && !p.write) directory.prefetch(line >> caches.block_shift());  // for writes range() did
}

// look(step) for each cache that is not on the accessor's path and may have
// a copy of the block; the paths through a cache come one after the other.
template <class Look>
auto memory_model::insides::in_others(const who& w, Look&& look) {
  return [&, before = std::array<const cache*, cache_path::max_depth>{}](unsigned other) mutable {
    const cache_path& path = caches.paths()[other];
    const unsigned apart = caches.apart(w.path_number, other);
    for (unsigned i = 0; i < apart; ++i) {
      if (std::exchange(before[i], path.steps[i].where) != path.steps[i].where) look(path.steps[i]);
    }
  };
}

// What invalidate_others() will look at; the directory's entry has come.
void memory_model::insides::announce_copies(const who& w, line_number line) {
  directory.for_others(line >> caches.block_shift(), w.path_number,
                       in_others(w, [&](const cache_step& step) { step.where->prefetch(line >> step.shift); }));
}

// The innermost cache had to take the line in: from where, and how long that takes.
double memory_model::insides::fetch_line(const who& w, line_number line, const places& where, double at) {
  const cache_path& path = w.path;
  if (path.depth != 0) ++w.own[path.steps[0].level].misses;
  for (unsigned i = 1; i < path.depth; ++i) {
    const cache_step& step = path.steps[i];
    ++w.own[step.level].accesses;
    if (step.where->access(line >> step.shift, where[i])) return step.latency;
    ++w.own[step.level].misses;
  }
  const unsigned node = pages.node_of(line >> lines_bits);
  ++(node == w.near ? w.far.local : w.far.remote);
  return memory.fetch(w.near, node, line >> path.fetched_shift, path.fetched_bytes, at, oldest);
}

unsigned memory_model::insides::remove_copies(const cache_step& step, std::uint32_t block) {
  const unsigned bits = caches.block_shift() - step.shift;  // lines of this cache in a block
  if (bits == 0) return step.where->remove(block) ? 1 : 0;
  unsigned removed = 0;
  for (std::uint32_t i = 0; i < 1u << bits; ++i) removed += step.where->remove_seldom((block << bits) + i) ? 1 : 0;
  return removed;
}

void memory_model::insides::invalidate_others(const who& w, line_number line) {
  const std::uint32_t block = line >> caches.block_shift();
  directory.take(block, w.path_number, in_others(w, [&](const cache_step& step) {
                   w.own[step.level].invalidations += remove_copies(step, block);
                 }));
}

double memory_model::insides::begin(double at) {
  latest = std::max(latest, at);
  oldest = std::max(0.0, latest - history);
  return std::max(at, oldest);
}

line_number memory_model::insides::first_line_of(std::uint64_t page, unsigned near) {
  const page_table::frame_number frame = pages.frame_of(page, near);
  if (frame >= covered && coherent) {
    covered = frame + 1;
    directory.cover(static_cast<std::uint32_t>(((std::uint64_t{covered} << lines_bits) - 1) >> caches.block_shift()));
  }
  return static_cast<line_number>(std::uint64_t{frame} << lines_bits);
}

// Plans the lines of a range, and serves those planned when there is no more room.
template <class Pipeline>
void memory_model::insides::range(const who& w, std::uint64_t address, std::uint64_t bytes, bool write,
                                  Pipeline& flow) {
  if (bytes == 0) return;
  const std::uint64_t last = (address + (bytes - 1)) >> caches.line_bits();
  std::uint64_t next = address >> caches.line_bits();
  if (w.path.depth != 0) w.own[w.path.steps[0].level].accesses += last - next + 1;
  const std::uint64_t page_lines = std::uint64_t{1} << lines_bits;
  while (next <= last) {
    const std::uint64_t in_page = next & (page_lines - 1);
    const std::uint64_t count =
        std::min({last - next + 1, page_lines - in_page, std::uint64_t{most_planned - plan_size}});
    const line_number line = first_line_of(next >> lines_bits, w.near) + static_cast<line_number>(in_page);
    for (std::uint64_t i = 0; i < count; ++i) plan[plan_size + i] = {line + static_cast<line_number>(i), write};
    plan_size += count;
    if (write && coherent)
      directory.prefetch(line >> caches.block_shift(),
                         (line + static_cast<line_number>(count - 1)) >> caches.block_shift());
    next += count;
    if (plan_size == most_planned) serve_planned(w, flow);
  }
}

template <class Pipeline>
void memory_model::insides::serve_planned(const who& w, Pipeline& flow) {
  const cache_step inner = w.path.steps[0];
  std::size_t announced = 0, copies_announced = 0;
  for (std::size_t i = 0; i < plan_size; ++i) {
    const auto [line, write] = plan[i];
    const double now = flow.issue();
    const bool known = i < announced;
    const places& where = announced_places[i % tables_ahead];
    if (inner.where != nullptr &&
        inner.where->access(line >> inner.shift, known ? where[0] : inner.where->locate(line >> inner.shift))) {
      flow.arrives_after(inner.latency);
    } else {
      // Lines that are found in the innermost cache need no more tables; others seldom come alone.
      const std::size_t soon = std::min(plan_size, i + tables_ahead);
      for (announced = std::max(announced, i); announced < soon; ++announced)
        announce(w, plan[announced], announced_places[announced % tables_ahead]);
      if (coherent && !write && w.path.depth != 0) {
        // the entry has hardly come
        if (plan_size == 1) directory.add_later(line >> caches.block_shift(), w.path_number);
        else directory.add(line >> caches.block_shift(), w.path_number);
      }
      flow.arrives_after(fetch_line(w, line, where, now));
    }
    if (!write || !coherent || directory.has_alone(line >> caches.block_shift(), w.path_number)) continue;
    const std::size_t soon = std::min(plan_size, i + copies_ahead);
    for (copies_announced = std::max(copies_announced, i); copies_announced < soon; ++copies_announced) {
      if (plan[copies_announced].write) announce_copies(w, plan[copies_announced].line);
    }
    invalidate_others(w, line);
  }
  plan_size = 0;
}

void memory_model::insides::forget_frame(page_table::frame_number frame) {
  const std::uint64_t first = std::uint64_t{frame} << lines_bits;
  for (std::uint64_t line = first; line < first + (std::uint64_t{1} << lines_bits);
       line += 1u << caches.block_shift()) {
    const auto block = static_cast<std::uint32_t>(line >> caches.block_shift());
    const auto remove_from = [&](unsigned path_number) {
      const cache_path& path = caches.paths()[path_number];
      for (unsigned i = 0; i < path.depth; ++i) remove_copies(path.steps[i], block);
    };
    if (coherent) directory.drop(block, remove_from);
    else remove_from(0);
  }
}

memory_model::memory_model(const machine::model& machine) : in_(std::make_unique<insides>(machine)) {}
memory_model::~memory_model() = default;

double memory_model::access(unsigned unit, std::uint64_t address, std::uint64_t bytes, bool write, double at) {
  const double start = in_->begin(at);
  pipeline flow(in_->finish, start);
  const insides::who w = in_->accessor(unit);
  in_->range(w, address, bytes, write, flow);
  in_->serve_planned(w, flow);
  return flow.end() - start;
}

double memory_model::access_rows(unsigned unit, std::span<const row_set> sets, std::uint64_t count, double at) {
  const double start = in_->begin(at);
  reordering_pipeline flow(in_->finish, start);
  const insides::who w = in_->accessor(unit);
  for (std::uint64_t row = 0; row < count; ++row) {
    for (const row_set& s : sets) in_->range(w, s.address + row * s.stride, s.bytes, s.write, flow);
  }
  in_->serve_planned(w, flow);
  return flow.end() - start;
}

void memory_model::place(std::uint64_t address, std::uint64_t bytes, page_policy policy, int node) {
  if (bytes == 0) return;
  const unsigned index = policy == page_policy::bind ? in_->memory.index_of(node) : 0;
  if (index == in_->memory.count())
    throw std::invalid_argument("no NUMA node " + std::to_string(node) + " in the modelled machine");
  in_->pages.place(address >> in_->page_bits, (address + (bytes - 1)) >> in_->page_bits, policy, index);
}

void memory_model::forget(std::uint64_t address, std::uint64_t bytes) {
  const std::uint64_t page = std::uint64_t{1} << in_->page_bits;
  const std::uint64_t first = (address >> in_->page_bits) + ((address & (page - 1)) != 0 ? 1 : 0);
  const std::uint64_t end = (address + bytes) >> in_->page_bits;
  if (first >= end) return;
  in_->pages.forget(first, end - 1, [&](page_table::frame_number frame) { in_->forget_frame(frame); });
}

std::vector<level_count> memory_model::levels_of(unsigned unit) const {
  std::vector<level_count> result;
  const auto kinds = in_->caches.levels();
  for (std::size_t level = 0; level < kinds.size(); ++level) {
    const counters& c = in_->counts[unit * kinds.size() + level];
    result.push_back({kinds[level], c.accesses, c.misses, c.invalidations});
  }
  return result;
}

reach_count memory_model::reach_of(unsigned unit) const noexcept {
  const reach& r = in_->reaches[unit];
  const counters* levels = in_->counts.data() + unit * in_->caches.levels().size();
  return {r.own == reach::none ? 0 : levels[r.own].misses,
          r.shared == reach::none ? 0 : levels[r.shared].misses,
          r.local,
          r.remote,
          r.own != reach::none,
          r.shared != reach::none};
}

std::vector<level_count> memory_model::levels() const {
  std::vector<level_count> result;
  for (const machine::group_kind kind : in_->caches.levels()) result.push_back({kind});
  for (std::size_t i = 0; i < in_->counts.size(); ++i) {
    level_count& sum = result[i % result.size()];
    sum.accesses += in_->counts[i].accesses;
    sum.misses += in_->counts[i].misses;
    sum.invalidations += in_->counts[i].invalidations;
  }
  return result;
}

std::vector<node_traffic> memory_model::nodes() const {
  std::vector<node_traffic> result;
  for (unsigned node = 0; node < in_->memory.count(); ++node) {
    result.push_back({in_->memory.numa(node), in_->memory.local_bytes(node), in_->memory.remote_bytes(node),
                      in_->pages.pages_on(node)});
  }
  return result;
}

void memory_model::reset_counts() {
  std::fill(in_->counts.begin(), in_->counts.end(), counters{});
  for (reach& r : in_->reaches) r.local = r.remote = 0;
  in_->memory.reset_counts();
}

void memory_model::flush() { in_->caches.clear(); }

std::uint64_t memory_model::host_bytes() const {
  return in_->caches.bytes() + in_->memory.bytes() + in_->pages.bytes() + in_->directory.bytes() +
         in_->counts.capacity() * sizeof(counters) + in_->reaches.capacity() * sizeof(reach);
}

}  // namespace heddle::sim
