// From a machine file, completed by the defaults, to the model; with every check that needs more than one key.
#include "machine/model/assemble.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <set>

#include "machine/model/section.hpp"

namespace heddle::machine {

namespace {

struct kind_entry {
  core_kind kind;
  std::set<int> units;  // by number
  bool rest{false};     // all units that no other kind names
  const file_node* at{nullptr};
};

class assembler {
 public:
  assembler(const file_node& file, model& made) : file_(file), made_(made), top_(file, "", assumed_) {}

  void run() {
    about();
    made_.frequency = *top_.number("frequency", range::positive);
    if (made_.frequency > 50)
      refuse(top_.place("frequency"), "frequency", fmt::format("{} GHz; give GHz, not MHz", made_.frequency));
    made_.overlap = static_cast<unsigned>(*top_.whole("overlap", 1, 1024));
    made_.page_size = *top_.bytes("page_size");
    if (!std::has_single_bit(made_.page_size) || made_.page_size < 512) {
      refuse(top_.place("page_size"), "page_size", "expected a power of two, 512 or more");
    }
    made_.time_slice = *top_.number("time_slice", range::positive);
    read_cores();
    read_caches();
    read_nodes();
    read_links();
    read_costs();
    top_.finish();
    check_assumptions();
    made_.assumed.insert(made_.assumed.begin(), assumed_.begin(), assumed_.end());
  }

 private:
  void about() {
    made_.title = top_.text("title").value_or("");
    made_.sources = top_.texts("sources");
    for (const char* key : {"assumptions", "base"}) top_.has(key);
    top_.has("tree");
    top_.has("name");
  }

  // "KEY: REASON" with a key that the file has. What is inherited may speak of a key that was left behind.
  void check_assumptions() {
    const std::vector<std::string> lines = top_.texts("assumptions");
    for (std::size_t i = 0; i < lines.size(); ++i) {
      std::string_view rest(lines[i]);
      rest = rest.substr(0, rest.find(':'));
      const file_node* at = &file_;
      while (at != nullptr && !rest.empty()) {
        const std::size_t dot = std::min(rest.find('.'), rest.size());
        at = at->is == file_node::type::table ? at->find(rest.substr(0, dot)) : nullptr;
        rest.remove_prefix(std::min(dot + 1, rest.size()));
      }
      const file_node& item = top_.place("assumptions").items[i];
      if (at != nullptr && lines[i].find(':') != std::string::npos) made_.assumed.push_back(lines[i]);
      else if (!item.inherited) {
        refuse(item, "assumptions",
               fmt::format("\"{}\": expected \"KEY: REASON\" with a key of this file, like \"cache.l3.latency: "
                           "measured on a sibling\"",
                           lines[i]));
      }
    }
  }

  void read_cores() {
    const auto kinds = top_.tables("core");
    if (kinds.empty()) {
      // What hwloc says, which numbers kinds from the least efficient.
      made_.kinds.resize(made_.tree.kinds_of_core());
      for (std::size_t i = 0; i < made_.kinds.size(); ++i)
        made_.kinds[i].name = made_.kinds.size() == 1 ? "core" : fmt::format("kind {}", i);
      for (const processing_unit& u : made_.tree.units()) made_.kinds[u.kind].speed = u.speed;
      return;
    }
    std::vector<kind_entry> entries;
    double best = 0;
    for (const file_node* table : kinds) {
      section core(*table, "core", assumed_);
      kind_entry e;
      e.rest = !core.has("units");
      e.at = table;
      e.kind.name = core.text("name").value_or(fmt::format("kind {}", entries.size()));
      e.kind.speed = core.number("speed", range::positive).value_or(1);
      if (e.kind.speed > 1)
        refuse(core.place("speed"), "core.speed",
               fmt::format("is {}; speeds are relative to the fastest kind, 1 at most", e.kind.speed));
      if (!e.rest) e.units = units_in(core);
      best = std::max(best, e.kind.speed);
      core.finish();
      entries.push_back(std::move(e));
    }
    if (best != 1)
      refuse(*kinds.front(), "core.speed", fmt::format("the fastest kind has speed {}; divide all speeds by it", best));
    if (std::count_if(entries.begin(), entries.end(), [](const kind_entry& e) { return e.rest; }) > 1) {
      refuse(*entries.back().at, "core.units",
             "only one kind can be without `units`, which makes it the kind of all other units");
    }
    std::sort(entries.begin(), entries.end(), [](const kind_entry& a, const kind_entry& b) {
      return a.kind.speed != b.kind.speed ? a.kind.speed < b.kind.speed : a.at->line < b.at->line;
    });
    place_kinds(entries);
  }

  void place_kinds(const std::vector<kind_entry>& entries) {
    std::vector<unsigned> kind_of;
    std::vector<double> speeds;
    for (const kind_entry& e : entries) {
      made_.kinds.push_back(e.kind);
      speeds.push_back(e.kind.speed);
    }
    for (const processing_unit& u : made_.tree.units()) {
      int found = -1, rest = -1;
      for (std::size_t i = 0; i < entries.size(); ++i) {
        if (entries[i].rest) rest = static_cast<int>(i);
        if (!entries[i].units.contains(u.number)) continue;
        if (found >= 0) refuse(*entries[i].at, "core.units", fmt::format("unit {} belongs to two kinds", u.number));
        found = static_cast<int>(i);
      }
      if (found < 0) found = rest;
      if (found < 0)
        refuse(*entries.front().at, "core.units",
               fmt::format("unit {} belongs to no kind; leave `units` out of one", u.number));
      kind_of.push_back(static_cast<unsigned>(found));
    }
    made_.tree = made_.tree.with_kinds(kind_of, speeds);
  }

  // "0-3,8".
  std::set<int> units_in(section& core) {
    const std::string text = *core.text("units");
    std::set<int> units;
    const auto wrong = [&](std::string_view why) {
      refuse(core.place("units"), "core.units", fmt::format("\"{}\": {}", text, why));
    };
    for (std::size_t at = 0; at <= text.size();) {
      const std::size_t end = std::min(text.find(',', at), text.size());
      const std::string part = text.substr(at, end - at);
      int first = -1, last = -1, length = 0;
      if (std::sscanf(part.c_str(), "%d-%d%n", &first, &last, &length) < 2 ||
          static_cast<std::size_t>(length) != part.size()) {
        length = 0;
        if (std::sscanf(part.c_str(), "%d%n", &first, &length) < 1 || static_cast<std::size_t>(length) != part.size())
          wrong("expected a list like \"0-3,8\"");
        last = first;
      }
      if (first < 0 || last < first) wrong("expected a list like \"0-3,8\"");
      for (int number = first; number <= last; ++number) {
        if (made_.tree.unit(number) == nullptr) wrong(fmt::format("the machine has no unit {}", number));
        units.insert(number);
      }
      at = end + 1;
    }
    return units;
  }

  void read_caches() {
    std::vector<cache_info> caches(made_.tree.caches().begin(), made_.tree.caches().end());
    std::map<group_kind, bool, std::greater<>> present;  // l1 first
    for (const cache_info& c : caches) present[c.kind] = true;
    section all(*top_.table("cache"), "cache", assumed_);
    const cache_level* inner = nullptr;
    for (const group_kind kind : {group_kind::l1, group_kind::l2, group_kind::l3, group_kind::l4, group_kind::l5}) {
      const file_node* table = all.table(name(kind));
      if (!present[kind]) {
        if (table != nullptr && !table->assumed && !table->inherited)
          refuse(*table, all.path_of(name(kind)), "the tree has no such cache");
        continue;
      }
      section level(*table, all.path_of(name(kind)), assumed_);
      made_.caches.push_back({kind, *level.number("latency", range::positive)});
      describe(level, kind, caches);
      level.finish();
      const cache_level& own = made_.caches.back();
      if (made_.caches.size() > 1) inner = &made_.caches[made_.caches.size() - 2];
      if (inner != nullptr && own.latency < inner->latency) {
        refuse(level.place("latency"), level.path_of("latency"),
               fmt::format("is {} ns, less than the {} ns of {}; a cache further out answers later", own.latency,
                           inner->latency, name(inner->kind)));
      }
    }
    all.finish();
    check_capacities(caches);
    made_.tree = made_.tree.with_caches(caches);
  }

  void describe(section& level, group_kind kind, std::vector<cache_info>& caches) {
    const std::optional<std::uint64_t> size = level.bytes("size");
    const bool line_given = level.given("line"), ways_given = level.given("ways");
    for (cache_info& c : caches) {
      if (c.kind != kind) continue;
      if (size) c.capacity = *size;
      if (c.capacity == 0)
        refuse(level.place("size"), level.path_of("size"),
               "the tree does not say how large the cache is; give the size");
      if (line_given || c.line_size == 0) c.line_size = static_cast<unsigned>(*level.whole("line", 8, 4096));
      if (!std::has_single_bit(c.line_size))
        refuse(level.place("line"), level.path_of("line"), fmt::format("is {}; expected a power of two", c.line_size));
      const std::uint64_t lines = c.capacity / c.line_size;
      if (ways_given) c.associativity = ways_of(level);
      if (c.associativity == 0) {
        // By default: the most ways, up to the default's, that make whole sets.
        for (c.associativity = ways_of(level); lines % static_cast<unsigned>(c.associativity) != 0;) --c.associativity;
      }
      if (c.capacity % c.line_size != 0 ||
          (c.associativity > 0 && lines % static_cast<unsigned>(c.associativity) != 0)) {
        refuse(level.place("ways"), level.path_of("ways"),
               fmt::format(
                   "{} bytes in {} ways of {}-byte lines do not make whole sets; give ways that divide the {} lines{}",
                   c.capacity, c.associativity, c.line_size, lines,
                   ways_given ? "" : " (the present number is not from this file)"));
      }
    }
  }

  int ways_of(section& level) {
    const file_node* value = level.find("ways");
    if (value != nullptr && value->is == file_node::type::text) {
      if (value->text != "full")
        refuse(*value, level.path_of("ways"), fmt::format("\"{}\"; expected a number or \"full\"", value->text));
      return -1;
    }
    return static_cast<int>(*level.whole("ways", 1, 1u << 20));
  }

  // A cache is never smaller than one inside it.
  void check_capacities(const std::vector<cache_info>& caches) {
    const file_node& table = top_.place("cache");
    for (const cache_info& inner : caches) {
      for (const cache_info& outer : caches) {
        const bool around =
            outer.kind < inner.kind && outer.first_unit <= inner.first_unit && inner.last_unit <= outer.last_unit;
        if (!around || outer.capacity >= inner.capacity) continue;
        const file_node* level = table.find(name(outer.kind));
        const file_node* size = level != nullptr ? level->find("size") : nullptr;
        refuse(size != nullptr ? *size : top_.place("tree"),
               size != nullptr ? fmt::format("cache.{}.size", name(outer.kind)) : "tree",
               fmt::format("{} has {} bytes, less than the {} of {} inside it", name(outer.kind), outer.capacity,
                           inner.capacity, name(inner.kind)));
      }
    }
  }

  void read_memory(section& from, memory_node& node) {
    if (const auto latency = from.number("latency", range::positive)) node.latency = *latency;
    if (const auto bandwidth = from.number("bandwidth", range::not_negative)) node.bandwidth = *bandwidth;
    if (const auto channels = from.whole("channels", 1, 1024)) node.channels = static_cast<unsigned>(*channels);
    if (made_.caches.empty() || node.latency >= made_.caches.back().latency) return;
    refuse(
        from.place("latency"), from.path_of("latency"),
        fmt::format("is {} ns{}, less than the {} ns of {}", node.latency, from.given("latency") ? "" : " by default",
                    made_.caches.back().latency, name(made_.caches.back().kind)));
  }

  void read_nodes() {
    std::set<int> numbers;
    for (const processing_unit& u : made_.tree.units()) numbers.insert(u.numa);
    section memory(*top_.table("memory"), "memory", assumed_);
    for (const int number : numbers) {
      memory_node node;
      node.numa = number;
      read_memory(memory, node);
      made_.nodes.push_back(node);
    }
    memory.finish();
    std::set<int> seen;
    for (const file_node* table : top_.tables("node")) {
      section one(*table, "node", assumed_);
      memory_node& node = node_at(one, "numa");
      if (!seen.insert(node.numa).second)
        refuse(*table, "node.numa", fmt::format("node {} is described twice", node.numa));
      read_memory(one, node);
      one.finish();
    }
  }

  memory_node& node_at(section& table, std::string_view key) {
    const auto number = table.whole(key, 0, 1u << 20);
    if (!number) refuse(table.place(key), table.path_of(key), "is missing");
    const auto found = std::find_if(made_.nodes.begin(), made_.nodes.end(),
                                    [&](const memory_node& n) { return n.numa == static_cast<int>(*number); });
    if (found != made_.nodes.end()) return *found;
    std::string known;
    for (const memory_node& n : made_.nodes) known += fmt::format("{}{}", known.empty() ? "" : ", ", n.numa);
    refuse(table.place(key), table.path_of(key), fmt::format("there is no node {}; the nodes are {}", *number, known));
  }

  void read_links() {
    section all(*top_.table("links"), "links", assumed_);
    for (const memory_node& from : made_.nodes) {
      for (const memory_node& to : made_.nodes) {
        if (from.numa == to.numa) continue;
        made_.links.push_back({from.numa, to.numa, *all.number("latency", range::not_negative),
                               *all.number("bandwidth", range::not_negative)});
      }
    }
    for (const char* key : {"latency", "bandwidth"}) all.find(key);
    all.finish();
    std::set<std::pair<int, int>> seen;
    for (const file_node* table : top_.tables("link")) {
      section one(*table, "link", assumed_);
      const int from = node_at(one, "from").numa, to = node_at(one, "to").numa;
      if (from == to) refuse(*table, "link.to", fmt::format("the link leads from node {} to itself", from));
      const bool both = one.truth("both").value_or(true);
      const auto latency = one.number("latency", range::not_negative),
                 bandwidth = one.number("bandwidth", range::not_negative);
      one.finish();
      for (const auto& [a, b] : {std::pair(from, to), std::pair(to, from)}) {
        if (a == to && !both) continue;
        if (!seen.insert({a, b}).second)
          refuse(*table, "link", fmt::format("the link from node {} to node {} is described twice", a, b));
        memory_link& link = *std::find_if(made_.links.begin(), made_.links.end(),
                                          [&](const memory_link& l) { return l.from == a && l.to == b; });
        if (latency) link.latency = *latency;
        if (bandwidth) link.bandwidth = *bandwidth;
      }
    }
  }

  void read_costs() {
    section costs(*top_.table("costs"), "costs", assumed_);
    for (const cost_key& cost : cost_keys()) made_.costs.*cost.member = *costs.number(cost.name, range::not_negative);
    costs.finish();
    if (made_.costs.signal_lock <= made_.costs.signal) return;
    if (!costs.given("signal_lock")) {
      made_.costs.signal_lock = made_.costs.signal;
    } else {
      refuse(costs.place("signal_lock"), "costs.signal_lock",
             fmt::format("is {} ns, more than the {} ns of costs.signal, of which it is a part",
                         made_.costs.signal_lock, made_.costs.signal));
    }
  }

  const file_node& file_;
  model& made_;
  std::set<std::string> assumed_;
  section top_;
};

}  // namespace

void assemble(const file_node& file, model& made) { assembler(file, made).run(); }

}  // namespace heddle::machine
