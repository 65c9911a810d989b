// The recording is gone through once, in order of time. Every thread carries the
// length of the longest path to its present point; time on a worker lengthens that
// path; forks copy it and joins take the larger one: dag.md.
#include "trace/dag.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <unordered_map>

#include "trace/dag_outliers.hpp"
#include "trace/replay.hpp"

namespace heddle::trace {
namespace {

constexpr double span_coefficient = 1.7;  // Cilkview, section 5
constexpr std::uint32_t no_node = ~std::uint32_t{0};

// The longest path to some point of the program, with and without burden, and its last stretch.
struct path {
  double span = 0;
  double burdened = 0;
  std::uint32_t node = no_node;

  void join(const path& other) {
    if (other.span > span) {
      span = other.span;
      node = other.node;
    }
    burdened = std::max(burdened, other.burdened);
  }
  [[nodiscard]] path with_burden(double ns) const { return {span, burdened + ns, node}; }
};

struct node {
  std::uint32_t before;
  std::uint32_t function;
  std::uint16_t worker;
  std::uint64_t begin_ns, end_ns;
};

struct child_record {
  double hint;
  double work;
  std::uint32_t function;
};

struct group {
  path ended;       // the longest of the children that have ended
  double hint = 0;  // the group's own
  double spawn_hints = 0;
  std::vector<std::uint64_t> children;
  std::vector<child_record> done;
};

// A task or a second half that its thread is inside of.
struct frame {
  std::uint64_t task = 0;
  std::uint32_t function = 0;
  bool half = false;       // second half of a fork, run by the forker
  path before;             // half: the end of the first half
  double work_before = 0;  // the thread's work when it began
};

struct thread_state {
  path at;
  path woken;              // the longest path of those who woke it since it parked
  bool was_woken = false;  // that path is in `at`, and nothing ran since
  double work = 0;         // of what is joined into it
  std::vector<frame> inside;
  std::vector<std::uint32_t> regions;
  std::uint64_t group = 0;  // key of the group that it is a child of; 0: none
  double hint = std::nan("");
};

class builder : public replay_visitor {
 public:
  builder(const recording& what, const dag_options& options, dag_summary& into)
      : what_(what), options_(options), into_(into), event_ns_(options.event_ns) {
    const auto recorded = [&](const char* name) {
      const auto known = what.attributes.find(name);
      return known == what.attributes.end() ? 0 : std::strtod(known->second.c_str(), nullptr);
    };
    if (event_ns_ < 0) {
      event_ns_ = recorded("event_ns");
      fork_extra_ns_ = recorded("fork_ns");
    }
    const auto forks = what_.attributes.find("forks");
    into_.forks_traced = forks != what_.attributes.end() && forks->second == "all";
    for (const worker_log& log : what.workers) into_.lost += log.lost;
    function("(outside tasks)");  // number 0
  }

  void event(const record& r) override {
    if (r.worker == foreign_worker) return;
    lane& on = lanes_[r.worker];
    charge(on, r);
    thread_state* self = on.running ? &threads_[on.thread] : nullptr;
    switch (r.event) {
      case event::thread_switch_in: {
        on.thread = r.a;
        on.running = true;
        thread_state& t = threads_[r.a];
        t.was_woken = t.woken.span > 0;
        t.at.join(t.woken);
        t.woken = {};
        break;
      }
      case event::thread_park:
      case event::blocking_begin:
        if (self != nullptr) on.left = self->at;
        on.running = false;
        break;
      case event::worker_stop:
      case event::idle_begin: on.running = false; break;
      case event::thread_wake:
        if (self != nullptr) threads_[r.a].woken.join(self->at);
        break;
      case event::thread_create: {
        ++into_.threads;
        thread_state fresh;
        if (self != nullptr) fresh.at = self->at;
        threads_[r.a] = std::move(fresh);
        break;
      }
      case event::thread_join:
        if (self != nullptr && r.a != on.thread) {
          const auto other = threads_.find(r.a);
          if (other == threads_.end()) break;
          self->at.join(other->second.at.with_burden(options_.burden_ns));
          self->work += other->second.work;
          threads_.erase(other);
        }
        break;
      case event::fork:
        ++into_.forks;
        if (self != nullptr) forks_[r.a] = {self->at, {}, 0, false, function_at(r.b), self->inside.size()};
        break;
      case event::second_half:
        if (self != nullptr) begin_half(*self, r.a);
        break;
      case event::join:
        if (self != nullptr) end_fork(*self, r.a);
        break;
      case event::steal_success: {
        ++into_.steals;
        const lane& victim = lanes_[static_cast<std::uint16_t>(r.arg)];
        // Of a fork that is not in the recording: about the point where its forker was.
        if (!forks_.contains(r.b)) stolen_[r.b] = victim.running ? threads_[victim.thread].at : victim.left;
        break;
      }
      case event::task_begin:
        if (self != nullptr) begin_task(on, *self, r);
        break;
      case event::task_end:
        if (self != nullptr) end_task(*self, r.a);
        break;
      case event::spawn:
        if (self != nullptr) spawn(*self, r);
        break;
      case event::group_begin: {
        group& g = groups_[group_key(r.arg)];
        g = {};
        g.hint = std::bit_cast<double>(r.a);
        break;
      }
      case event::group_end:
        if (self != nullptr) end_group(*self, group_key(r.arg));
        break;
      case event::region_begin:
        if (self != nullptr) {
          self->regions.push_back(
              function(r.arg < what_.texts.size() ? what_.texts[r.arg] : fmt::format("region {}", r.arg)));
        }
        break;
      case event::region_end:
        if (self != nullptr && !self->regions.empty()) self->regions.pop_back();
        break;
      default: break;
    }
  }

  void finish() {
    path longest;
    for (const auto& [id, t] : threads_) longest.join(t.at);
    longest.join(ended_);
    into_.span_ns = longest.span;
    into_.burdened_span_ns = std::max(longest.burdened, longest.span);
    trace_back(longest.node);
    for (function_profile& f : profiles_) {
      if (f.count != 0 || f.own_ns > 0) into_.functions.push_back(std::move(f));
    }
    std::sort(into_.functions.begin(), into_.functions.end(), [](const function_profile& a, const function_profile& b) {
      return std::max(a.work_ns, a.own_ns) > std::max(b.work_ns, b.own_ns);
    });
  }

 private:
  struct lane {
    std::uint64_t last = 0;
    std::uint64_t thread = 0;
    bool running = false;
    path left;  // the thread that left last
  };
  struct fork_state {
    path at;      // the fork
    path end;     // the stolen half's end
    double work;  // the stolen half's
    bool ended;
    std::uint32_t function;
    std::size_t depth;  // frames of the forker at the fork
  };

  static std::uint64_t group_key(std::uint32_t id) { return std::uint64_t{id} + 1; }

  std::uint32_t function(std::string name) {
    const auto [at, fresh] = numbers_.try_emplace(std::move(name), static_cast<std::uint32_t>(profiles_.size()));
    if (fresh) {
      profiles_.emplace_back();
      profiles_.back().name = at->first;
    }
    return at->second;
  }
  std::uint32_t function_at(std::uint64_t address) {
    if (address == 0) return 0;
    const auto [known, fresh] = by_address_.try_emplace(address, 0);
    if (fresh) {
      const auto symbol = what_.symbols.find(address);
      known->second =
          function(symbol == what_.symbols.end() ? fmt::format("{:#x}", address) : plain_name(symbol->second));
    }
    return known->second;
  }

  static std::uint32_t function_of(const thread_state& t) {
    if (!t.regions.empty()) return t.regions.back();
    return t.inside.empty() ? 0 : t.inside.back().function;
  }

  // The time since the last event on this worker belongs to the thread that runs there.
  void charge(lane& on, const record& r) {
    const std::uint64_t since = on.last;
    on.last = r.ns;
    if (!on.running || r.ns <= since) return;
    const bool traced_fork = r.event == event::fork || r.event == event::second_half;
    const double tracing = event_ns_ + (traced_fork && into_.forks_traced ? fork_extra_ns_ / 2 : 0);
    const double ns = std::max(0.0, static_cast<double>(r.ns - since) - tracing);
    thread_state& t = threads_[on.thread];
    const std::uint32_t f = function_of(t);
    into_.work_ns += ns;
    profiles_[f].own_ns += ns;
    t.work += ns;
    t.at.span += ns;
    t.at.burdened += ns;
    t.was_woken = false;
    nodes_.push_back({t.at.node, f, r.worker, since, r.ns});
    t.at.node = static_cast<std::uint32_t>(nodes_.size() - 1);
  }

  void begin_half(thread_state& self, std::uint64_t job) {
    const auto fork = forks_.find(job);
    if (fork == forks_.end()) return;
    leave_halves(self, fork->second.depth);
    frame f;
    f.task = job;
    f.function = fork->second.function;
    f.half = true;
    f.before = self.at;
    f.work_before = self.work;
    ++profiles_[f.function].count;
    self.at = fork->second.at.with_burden(options_.burden_ns);
    self.inside.push_back(std::move(f));
  }

  // Second halves that were dropped because the first one threw have no join: they end with what is around them.
  void leave_halves(thread_state& self, std::size_t depth) {
    while (self.inside.size() > depth && self.inside.back().half) {
      const frame& f = self.inside.back();
      self.at.join(f.before.with_burden(options_.burden_ns));
      profiles_[f.function].work_ns += self.work - f.work_before;
      forks_.erase(f.task);
      self.inside.pop_back();
    }
  }

  void end_fork(thread_state& self, std::uint64_t job) {
    const auto fork = forks_.find(job);
    if (fork == forks_.end()) return;
    const fork_state state = fork->second;
    leave_halves(self, state.depth);  // the half of this fork, too, if the forker ran it
    if (!state.ended) return;
    // The return edge. Who was woken by the other half has that path in it already.
    if (!self.was_woken) self.at = self.at.with_burden(options_.burden_ns);
    self.at.join(state.end);
    self.work += state.work;
    forks_.erase(job);
  }

  void begin_task(lane& on, thread_state& self, const record& r) {
    frame f;
    f.task = r.a;
    f.function = function_at(r.b);
    f.work_before = self.work;
    if (r.arg == 0) {  // a job: it begins where it was forked, and its thread has no past
      const auto fork = forks_.find(r.a);
      if (fork != forks_.end()) {
        self.at = fork->second.at.with_burden(options_.burden_ns);
      } else {
        const auto stolen = stolen_.find(r.a);
        self.at = (stolen != stolen_.end() ? stolen->second : on.left).with_burden(options_.burden_ns);
        forks_[r.a] = {self.at, {}, 0, false, f.function, 0};
      }
      stolen_.erase(r.a);
      self.inside.clear();
      self.work = f.work_before = 0;
    }
    ++profiles_[f.function].count;
    self.inside.push_back(std::move(f));
  }

  void end_task(thread_state& self, std::uint64_t task) {
    const auto inner = std::find_if(self.inside.rbegin(), self.inside.rend(),
                                    [&](const frame& f) { return !f.half && f.task == task; });
    if (inner == self.inside.rend()) return;
    const double work = self.work - inner->work_before;
    const std::uint32_t of = inner->function;
    profiles_[of].work_ns += work;
    self.inside.resize(static_cast<std::size_t>(self.inside.rend() - inner) - 1);
    if (const auto fork = forks_.find(task); fork != forks_.end()) {
      fork->second.end = self.at;
      fork->second.work = work;
      fork->second.ended = true;
      ended_.join(self.at);
    } else if (const auto g = groups_.find(self.group); g != groups_.end()) {
      g->second.ended.join(self.at.with_burden(options_.burden_ns));
      g->second.done.push_back({self.hint, self.work, of});
    }
  }

  void spawn(thread_state& self, const record& r) {
    ++into_.spawns;
    thread_state child;
    child.at = self.at;
    child.group = group_key(r.arg);
    child.hint = std::bit_cast<double>(r.b);
    self.at = self.at.with_burden(options_.burden_ns);
    threads_[r.a] = std::move(child);
  }

  void end_group(thread_state& self, std::uint64_t key) {
    const auto found = groups_.find(key);
    if (found == groups_.end()) return;
    group& g = found->second;
    self.at.join(g.ended);
    for (const child_record& c : g.done) self.work += c.work;
    compare_hints(g);
    groups_.erase(found);
  }

  // Hints are ratios: each child's share of the hints against its share of the work.
  void compare_hints(const group& g) {
    double hints = 0, work = 0;
    for (const child_record& c : g.done) {
      if (!(c.hint >= 0) || !std::isfinite(c.hint)) return;
      hints += c.hint;
      work += c.work;
    }
    if (g.done.size() < 2 || !(hints > 0) || !(work > 0)) return;
    for (const child_record& c : g.done) {
      const double told = c.hint / hints;
      const double seen = c.work / work;
      function_profile& f = profiles_[c.function];
      ++f.hinted;
      // What is small either way misleads nobody.
      if (std::max(told, seen) < 0.5 / static_cast<double>(g.done.size())) continue;
      const double factor = told > 0 && seen > 0 ? std::max(told / seen, seen / told) : 1e9;
      if (factor > 2) ++f.wrong;
      f.worst = std::max(f.worst, factor);
    }
  }

  void trace_back(std::uint32_t at) {
    std::vector<std::vector<double>> lengths(profiles_.size());
    if (!simulated(what_)) {
      for (const node& n : nodes_) lengths[n.function].push_back(static_cast<double>(n.end_ns - n.begin_ns));
    }
    const std::vector<double> limits = longest_usual(lengths);
    for (; at != no_node; at = nodes_[at].before) {
      const node& n = nodes_[at];
      const auto length = static_cast<double>(n.end_ns - n.begin_ns);
      profiles_[n.function].on_path_ns += length;
      if (length > limits[n.function]) {
        ++into_.outliers;
        into_.outlier_ns += length;
      }
      if (!into_.path.empty()) {
        path_segment& later = into_.path.back();
        if (later.worker == n.worker && later.begin_ns == n.end_ns && later.name == profiles_[n.function].name) {
          later.begin_ns = n.begin_ns;
          continue;
        }
      }
      into_.path.push_back({n.worker, n.begin_ns, n.end_ns, profiles_[n.function].name});
    }
    std::reverse(into_.path.begin(), into_.path.end());
  }

  const recording& what_;
  const dag_options& options_;
  dag_summary& into_;
  double event_ns_;
  double fork_extra_ns_ = 0;
  std::unordered_map<std::uint16_t, lane> lanes_;
  std::unordered_map<std::uint64_t, thread_state> threads_;
  std::unordered_map<std::uint64_t, fork_state> forks_;
  std::unordered_map<std::uint64_t, path> stolen_;
  std::unordered_map<std::uint64_t, group> groups_;
  std::vector<node> nodes_;
  std::map<std::string, std::uint32_t> numbers_;
  std::unordered_map<std::uint64_t, std::uint32_t> by_address_;
  std::vector<function_profile> profiles_;
  path ended_;
};

}  // namespace

dag_summary analyse(const recording& what, const dag_options& options) {
  dag_summary dag;
  builder b(what, options, dag);
  replay(what, b);
  b.finish();
  const std::uint64_t cuts = dag.forks + dag.spawns;
  dag.grain_ns = dag.work_ns / static_cast<double>(cuts + 1);
  dag.scheduling_ns =
      static_cast<double>(dag.forks) * options.fork_ns + static_cast<double>(dag.spawns) * options.spawn_ns;
  for (const unsigned p : options.workers) {
    speedup_estimate e;
    e.workers = p;
    e.most = std::min<double>(p, dag.parallelism());
    const double time = dag.work_ns / p + span_coefficient * dag.burdened_span_ns * (1 - 1.0 / p);
    e.least = time > 0 ? std::min(e.most, dag.work_ns / time) : 0;
    dag.speedups.push_back(e);
  }
  dag.warnings = dag_warnings(dag);
  return dag;
}

}  // namespace heddle::trace
