#include "sim/memory_model.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "sim/cache_directory.hpp"
#include "sim/cache_tree.hpp"
#include "sim/memory_nodes.hpp"

namespace heddle::sim {

namespace {

struct counters {
  std::uint64_t accesses{0}, misses{0}, invalidations{0};
};

// The lines of one call: `overlap` of them are on their way at once, and they set out in order.
class pipeline {
 public:
  pipeline(std::vector<double>& finish, double start) : finish_(finish), issue_(start), end_(start) {
    std::fill(finish_.begin(), finish_.end(), start);
  }
  // When the next line sets out.
  double issue() {
    issue_ = std::max(issue_, finish_[place_]);
    return issue_;
  }
  void arrives_after(double latency) {
    const double at = issue_ + latency;
    finish_[place_] = at;
    place_ = place_ + 1 == finish_.size() ? 0 : place_ + 1;
    end_ = std::max(end_, at);
  }
  double end() const { return end_; }

 private:
  std::vector<double>& finish_;      // of the last `overlap` lines, a ring
  std::size_t place_{0};
  double issue_, end_;
};

// The lines of rows: as many are on their way at once, but a fast one does not wait for a slow one before it; only the reorder buffer
// is filled and left in order. 224 micro-operations (Skylake; Intel's optimization manual, 2.5.1), seven of them a line in a stencil
// of vectors of 32 bytes: 32 lines.
class reordering_pipeline {
 public:
  reordering_pipeline(std::vector<double>& finish, double start) : finish_(finish), issue_(start), retired_(start) {
    std::fill(finish_.begin(), finish_.end(), start);
    std::fill(std::begin(window_), std::end(window_), start);
  }
  double issue() {
    slot_ = std::min_element(finish_.begin(), finish_.end());
    issue_ = std::max({issue_, *slot_, window_[place_]});
    return issue_;
  }
  void arrives_after(double latency) {
    *slot_ = issue_ + latency;
    retired_ = std::max(retired_, *slot_);
    window_[place_] = retired_;
    place_ = (place_ + 1) % lines;
  }
  double end() const { return retired_; }

 private:
  static constexpr unsigned lines = 32;
  std::vector<double>& finish_;      // of the lines on their way
  std::vector<double>::iterator slot_;
  double window_[lines];             // when each of the last ones, and all before it, had arrived
  unsigned place_{0};
  double issue_, retired_;
};

}  // namespace

struct memory_model::insides {
  explicit insides(const machine::model& machine);

  double begin(double at);
  template <class Pipeline>
  void access(unsigned unit, std::uint64_t address, std::uint64_t bytes, bool write, Pipeline& flow);
  double fetch_line(unsigned path_number, unsigned near, counters* own, line_number line, bool takes, double at);
  void invalidate_others(unsigned writer, counters* own, line_number line);
  void forget_frame(page_table::frame_number frame);
  unsigned remove_copies(const cache_step& step, std::uint32_t block);

  unsigned page_bits;
  unsigned lines_bits;               // a page has 1 << lines_bits lines
  unsigned overlap;
  cache_tree caches;
  memory_nodes memory;
  page_table pages;
  cache_directory directory;
  bool coherent;                     // several paths: writes must look at others
  page_table::frame_number covered{0};
  double latest{0}, oldest{0};
  std::vector<double> finish;
  std::vector<counters> counts;      // [unit * levels + level]
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
      counts(machine.tree.units().size() * caches.levels().size()) {
  if (!std::has_single_bit(machine.page_size) || page_bits < caches.line_bits()) {
    throw std::invalid_argument("machine " + machine.name + ": a page of " + std::to_string(machine.page_size) +
                                " bytes; it must be a power of two and not below the size of a cache line");
  }
  lines_bits = page_bits - caches.line_bits();
}

// The innermost cache had to take the line in: from where, and how long that takes.
double memory_model::insides::fetch_line(unsigned path_number, unsigned near, counters* own, line_number line, bool takes, double at) {
  const cache_path& path = caches.paths()[path_number];
  // The model's own tables are larger than the caches under it: what may be needed comes at once, not one after the other.
  for (unsigned i = 1; i < path.depth; ++i) path.steps[i].where->prefetch(line >> path.steps[i].shift);
  if (path.depth != 0) {
    if (takes) directory.prefetch(line >> caches.block_shift());
    else if (coherent) directory.add(line >> caches.block_shift(), path_number);
    ++own[path.steps[0].level].misses;
  }
  for (unsigned i = 1; i < path.depth; ++i) {
    const cache_step& step = path.steps[i];
    ++own[step.level].accesses;
    if (step.where->access(line >> step.shift)) return step.latency;
    ++own[step.level].misses;
  }
  const unsigned shift = static_cast<unsigned>(std::countr_zero(path.fetched_bytes)) - caches.line_bits();
  return memory.fetch(near, pages.node_of(line >> lines_bits), line >> shift, path.fetched_bytes, at, oldest);
}

unsigned memory_model::insides::remove_copies(const cache_step& step, std::uint32_t block) {
  const unsigned bits = caches.block_shift() - step.shift;    // lines of this cache in a block
  unsigned removed = 0;
  for (std::uint32_t i = 0; i < 1u << bits; ++i) removed += step.where->remove((block << bits) + i) ? 1 : 0;
  return removed;
}

void memory_model::insides::invalidate_others(unsigned writer, counters* own, line_number line) {
  const std::uint32_t block = line >> caches.block_shift();
  directory.take(block, writer, [&](unsigned other) {
    const cache_path& path = caches.paths()[other];
    const unsigned apart = caches.apart(writer, other);
    for (unsigned i = 0; i < apart; ++i) path.steps[i].where->prefetch(line >> path.steps[i].shift);
    for (unsigned i = 0; i < apart; ++i) own[path.steps[i].level].invalidations += remove_copies(path.steps[i], block);
  });
}

double memory_model::insides::begin(double at) {
  latest = std::max(latest, at);
  oldest = std::max(0.0, latest - history);
  return std::max(at, oldest);
}

template <class Pipeline>
void memory_model::insides::access(unsigned unit, std::uint64_t address, std::uint64_t bytes, bool write, Pipeline& flow) {
  if (bytes == 0) return;
  const unsigned path_number = caches.path_of(unit);
  const cache_path& path = caches.paths()[path_number];
  const cache_step inner = path.steps[0];
  const unsigned near = memory.node_of_unit(unit);
  counters* const own = counts.data() + unit * caches.levels().size();
  const bool takes = write && coherent;
  const std::uint64_t last = (address + (bytes - 1)) >> caches.line_bits();
  std::uint64_t next = address >> caches.line_bits();
  if (path.depth != 0) own[inner.level].accesses += last - next + 1;
  while (next <= last) {
    const page_table::frame_number frame = pages.frame_of(next >> lines_bits, near);
    if (frame >= covered && coherent) {
      covered = frame + 1;
      directory.cover(static_cast<std::uint32_t>(((std::uint64_t{covered} << lines_bits) - 1) >> caches.block_shift()));
    }
    const std::uint64_t in_page = next & ((std::uint64_t{1} << lines_bits) - 1);
    const std::uint64_t count = std::min(last - next + 1, (std::uint64_t{1} << lines_bits) - in_page);
    line_number line = static_cast<line_number>((std::uint64_t{frame} << lines_bits) + in_page);
    for (const line_number end = line + static_cast<line_number>(count); line != end; ++line) {
      const double now = flow.issue();
      const bool found = inner.where != nullptr && inner.where->access(line >> inner.shift);
      flow.arrives_after(found ? inner.latency : fetch_line(path_number, near, own, line, takes, now));
      if (takes) invalidate_others(path_number, own, line);
    }
    next += count;
  }
}

void memory_model::insides::forget_frame(page_table::frame_number frame) {
  const std::uint64_t first = std::uint64_t{frame} << lines_bits;
  for (std::uint64_t line = first; line < first + (std::uint64_t{1} << lines_bits); line += 1u << caches.block_shift()) {
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
  in_->access(unit, address, bytes, write, flow);
  return flow.end() - start;
}

double memory_model::access_rows(unsigned unit, std::span<const row_set> sets, std::uint64_t count, double at) {
  const double start = in_->begin(at);
  reordering_pipeline flow(in_->finish, start);
  for (std::uint64_t row = 0; row < count; ++row) {
    for (const row_set& s : sets) in_->access(unit, s.address + row * s.stride, s.bytes, s.write, flow);
  }
  return flow.end() - start;
}

void memory_model::place(std::uint64_t address, std::uint64_t bytes, page_policy policy, int node) {
  if (bytes == 0) return;
  const unsigned index = policy == page_policy::bind ? in_->memory.index_of(node) : 0;
  if (index == in_->memory.count()) throw std::invalid_argument("no NUMA node " + std::to_string(node) + " in the modelled machine");
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
    result.push_back({in_->memory.numa(node), in_->memory.local_bytes(node), in_->memory.remote_bytes(node), in_->pages.pages_on(node)});
  }
  return result;
}

void memory_model::reset_counts() {
  std::fill(in_->counts.begin(), in_->counts.end(), counters{});
  in_->memory.reset_counts();
}

void memory_model::flush() { in_->caches.clear(); }

std::uint64_t memory_model::host_bytes() const {
  return in_->caches.bytes() + in_->memory.bytes() + in_->pages.bytes() + in_->directory.bytes() + in_->counts.capacity() * sizeof(counters);
}

}  // namespace heddle::sim
