#include "cli/paper/value.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/paper/outcome.hpp"

namespace heddle::cli::paper {
namespace {

std::vector<execution> joined(std::vector<execution> a, const std::vector<execution>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

template <class Combine>
value folded(const char* name, const std::vector<value>& of, Combine combine) {
  std::string text = name;
  std::vector<execution> needs;
  const char* before = "(";
  for (const value& v : of) {
    text += before + v.text();
    before = ", ";
    needs = joined(std::move(needs), v.needs());
  }
  return value(text + ")", needs, [of, combine](const evidence& e) {
    std::vector<double> figures;
    for (const value& v : of) figures.push_back(v(e));
    return combine(figures);
  });
}

// Returns one figure of one execution.
template <class Read>
value leaf(const std::string& name, const execution& what, const std::string& more, Read read) {
  std::string text = fmt::format("{}({}, {}{}", name, what.program, what.policy, more);
  if (what.workers != 0) text += fmt::format(", {} workers", what.workers);
  return value(text + ")", {what}, [what, read](const evidence& e) { return read(e.at(what)); });
}

template <class Read>
value count(const std::string& name, const std::string& program, const std::string& policy, Read read,
            const std::string& more = {}) {
  return leaf(name, execution{.program = program, .policy = policy}, more, [read](const outcome& o) -> double {
    if (!o.has_counts) throw unavailable("only the simulator counts that");
    return read(o.counts);
  });
}

template <class Read>
value of_map(const std::string& name, const std::string& program, const std::string& policy, const std::string& more,
             Read read) {
  return leaf(name, execution{.program = program, .policy = policy, .traced = true}, more,
              [read](const outcome& o) -> double {
                if (o.map.empty()) throw unavailable("the program named no pieces of its grid in its trace");
                try {
                  return read(o.map);
                } catch (const std::out_of_range& error) {
                  throw unavailable(error.what());
                }
              });
}

std::string sweep_name(int sweep) { return sweep == -1 ? ", last sweep" : fmt::format(", sweep {}", sweep); }

}  // namespace

value operator/(const value& a, const value& b) {
  return value(
      a.as_operand() + " / " + b.as_operand(), joined(a.needs(), b.needs()),
      [a, b](const evidence& e) {
        const double below = b(e);
        if (below == 0) throw unavailable(b.text() + " is 0");
        return a(e) / below;
      },
      true);
}

value operator-(const value& a, const value& b) {
  return value(
      a.as_operand() + " - " + b.as_operand(), joined(a.needs(), b.needs()),
      [a, b](const evidence& e) { return a(e) - b(e); }, true);
}

value operator*(double factor, const value& a) {
  return value(
      fmt::format("{:g} {}", factor, a.as_operand()), a.needs(),
      [factor, a](const evidence& e) { return factor * a(e); }, true);
}

value least(std::vector<value> of) {
  return folded("least", of, [](const std::vector<double>& f) { return *std::min_element(f.begin(), f.end()); });
}

value greatest(std::vector<value> of) {
  return folded("greatest", of, [](const std::vector<double>& f) { return *std::max_element(f.begin(), f.end()); });
}

value mean(std::vector<value> of) {
  return folded("mean", of, [](const std::vector<double>& f) {
    double sum = 0;
    for (const double x : f) sum += x;
    return sum / static_cast<double>(f.size());
  });
}

value time(const std::string& program, const std::string& policy, unsigned workers) {
  return leaf("time", execution{.program = program, .policy = policy, .workers = workers}, "",
              [](const outcome& o) { return o.seconds; });
}

value speedup(const std::string& program, const std::string& policy, const std::string& base) {
  return time(base.empty() ? program : base, "serial") / time(program, policy);
}

value efficiency(const std::string& program, const std::string& policy, const std::string& base, unsigned workers) {
  const value serial = time(base.empty() ? program : base, "serial");
  const value parallel = time(program, policy, workers);
  const execution what = parallel.needs().front();
  return value(
      fmt::format("{} / {} / workers", serial.text(), parallel.text()), joined(serial.needs(), {what}),
      [serial, what](const evidence& e) {
        const outcome& o = e.at(what);
        return serial(e) / (o.seconds * o.workers);
      },
      true);
}

value misses(const std::string& program, const std::string& policy, const std::string& level) {
  return count(
      "misses", program, policy,
      [level](const counted& c) {
        const auto found = c.levels.find(level);
        if (found == c.levels.end()) throw unavailable(fmt::format("the machine has no {}", level));
        return found->second.misses;
      },
      ", " + level);
}

value accesses(const std::string& program, const std::string& policy) {
  return count("accesses", program, policy, [](const counted& c) {
    double most = 0;  // each access is one of the innermost level
    for (const auto& [name, level] : c.levels) most = std::max(most, level.accesses);
    return most;
  });
}

value remote_share(const std::string& program, const std::string& policy) {
  return count("remote share", program, policy, [](const counted& c) {
    if (c.local_bytes + c.remote_bytes == 0) throw unavailable("nothing came from memory");
    return c.remote_bytes / (c.local_bytes + c.remote_bytes);
  });
}

value least_local_bytes(const std::string& program, const std::string& policy) {
  return count("least local bytes of a node", program, policy, [](const counted& c) { return c.least_local_bytes; });
}

value noted(const std::string& program, const std::string& policy, const std::string& text) {
  return leaf("noted", execution{.program = program, .policy = policy, .traced = true}, ", \"" + text + "\"",
              [text](const outcome& o) -> double {
                const auto found = o.notes.find(text);
                if (found == o.notes.end()) throw unavailable("the policy remarked nothing like that");
                return found->second;
              });
}

value steals(const std::string& program, const std::string& policy) {
  return count("steals", program, policy, [](const counted& c) { return c.steals; });
}
value idle_share(const std::string& program, const std::string& policy) {
  return count("idle share", program, policy, [](const counted& c) { return c.idle; });
}
value overhead_share(const std::string& program, const std::string& policy) {
  return count("overhead share", program, policy, [](const counted& c) { return c.overhead; });
}
value idle_time(const std::string& program, const std::string& policy) {
  return count("idle time", program, policy, [](const counted& c) { return c.idle * c.virtual_seconds; });
}
value busy_time(const std::string& program, const std::string& policy) {
  return count("busy time", program, policy, [](const counted& c) { return c.busy * c.virtual_seconds; });
}

value stall_share(const std::string& program, const std::string& policy) {
  const execution with{.program = program, .policy = policy};
  const execution without{.program = program, .policy = policy, .free_memory = true};
  return value(fmt::format("stall share({}, {})", program, policy), {with, without},
               [with, without](const evidence& e) {
                 const outcome& a = e.at(with);
                 const outcome& b = e.at(without);
                 if (!a.has_counts || !b.has_counts) throw unavailable("only the simulator counts that");
                 return 1 - b.counts.busy * b.counts.virtual_seconds / (a.counts.busy * a.counts.virtual_seconds);
               });
}

value neighbours(const std::string& program, const std::string& policy, place same, int sweep) {
  return of_map(same == place::worker ? "neighbours on one worker" : "neighbours on one node", program, policy,
                sweep_name(sweep), [same, sweep](const task_map& m) {
                  if (same == place::worker) return m.neighbours_on_one_worker(sweep);
                  if (!m.has_nodes()) throw unavailable("it is not known which worker is on which node");
                  return m.neighbours_on_one_node(sweep);
                });
}

value moved(const std::string& program, const std::string& policy, int sweep) {
  return of_map("moved", program, policy, sweep_name(sweep), [sweep](const task_map& m) { return m.moved(sweep); });
}

value steady(const std::string& program, const std::string& policy) {
  return of_map("never moved", program, policy, "", [](const task_map& m) { return m.steady(); });
}

}  // namespace heddle::cli::paper
