// Cache levels: the tree's description, and what the file says instead or in addition.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <map>
#include <optional>

#include "machine/model/assembler.hpp"

namespace heddle::machine {

void assembler::read_caches() {
  std::vector<cache_info> caches(made_.tree.caches().begin(), made_.tree.caches().end());
  std::map<group_kind, bool, std::greater<>> present;  // l1 first
  for (const cache_info& c : caches) present[c.kind] = true;
  file_table all(*top_.table("cache"), "cache", assumed_);
  const cache_level* inner = nullptr;
  for (const group_kind kind : {group_kind::l1, group_kind::l2, group_kind::l3, group_kind::l4, group_kind::l5}) {
    const file_node* table = all.table(name(kind));
    if (!present[kind]) {
      if (table != nullptr && !table->assumed && !table->inherited)
        refuse(*table, all.path_of(name(kind)), "the tree has no such cache");
      continue;
    }
    file_table level(*table, all.path_of(name(kind)), assumed_);
    made_.caches.push_back({kind, *level.number("latency", range::positive), untold});
    read_coherence(level, made_.caches.back().coherence);
    made_.caches.back().victim = level.truth("victim").value_or(false);
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
  for (const cache_level& level : made_.caches) {
    if (!level.victim || (made_.caches.size() > 1 && &level == &made_.caches.back())) continue;
    refuse(all.place(name(level.kind)), fmt::format("cache.{}.victim", name(level.kind)),
           "a cache of what others lose is the last one, behind another one");
  }
  check_nesting(caches);
  made_.tree = made_.tree.with_caches(caches);
}

void assembler::describe(file_table& level, group_kind kind, std::vector<cache_info>& caches) {
  const std::optional<std::uint64_t> size = level.bytes("size");
  const bool line_given = level.given("line"), ways_given = level.given("ways");
  for (cache_info& c : caches) {
    if (c.kind != kind) continue;
    if (size) c.capacity = *size;
    if (c.capacity == 0)
      refuse(level.place("size"), level.path_of("size"), "the tree does not say how large the cache is; give the size");
    if (line_given || c.line_size == 0) c.line_size = static_cast<unsigned>(*level.whole("line", 8, 4096));
    if (!std::has_single_bit(c.line_size))
      refuse(level.place("line"), level.path_of("line"), fmt::format("is {}; expected a power of two", c.line_size));
    const std::uint64_t lines = c.capacity / c.line_size;
    if (ways_given) c.associativity = ways_of(level);
    if (c.associativity == 0) {
      // By default a cache has as many ways as make whole sets, up to the default's number.
      for (c.associativity = ways_of(level); lines % static_cast<unsigned>(c.associativity) != 0;) --c.associativity;
    }
    if (c.capacity % c.line_size != 0 || (c.associativity > 0 && lines % static_cast<unsigned>(c.associativity) != 0)) {
      refuse(level.place("ways"), level.path_of("ways"),
             fmt::format(
                 "{} bytes in {} ways of {}-byte lines do not make whole sets; give ways that divide the {} lines{}",
                 c.capacity, c.associativity, c.line_size, lines,
                 ways_given ? "" : " (the present number is not from this file)"));
    }
  }
}

int assembler::ways_of(file_table& level) {
  const file_node* value = level.find("ways");
  if (value != nullptr && value->is == file_node::type::text) {
    if (value->text != "full")
      refuse(*value, level.path_of("ways"), fmt::format("\"{}\"; expected a number or \"full\"", value->text));
    return -1;
  }
  return static_cast<int>(*level.whole("ways", 1, 1u << 20));
}

// Checks that a cache is never smaller than one inside it, and does not fetch less at a time.
void assembler::check_nesting(const std::vector<cache_info>& caches) {
  const auto key_of = [this](const cache_info& c, const char* key) -> const file_node* {
    const file_node* level = top_.place("cache").find(name(c.kind));
    return level != nullptr ? level->find(key) : nullptr;
  };
  for (const cache_info& inner : caches) {
    for (const cache_info& outer : caches) {
      const bool around =
          outer.kind < inner.kind && outer.first_unit <= inner.first_unit && inner.last_unit <= outer.last_unit;
      if (around && outer.capacity < inner.capacity) {
        const file_node* size = key_of(outer, "size");
        refuse(size != nullptr ? *size : top_.place("tree"),
               size != nullptr ? fmt::format("cache.{}.size", name(outer.kind)) : "tree",
               fmt::format("{} has {} bytes, less than the {} of {} inside it", name(outer.kind), outer.capacity,
                           inner.capacity, name(inner.kind)));
      }
      if (around && outer.line_size < inner.line_size) {
        const file_node* line = key_of(outer, "line");
        const bool of_inner = line == nullptr || line->assumed;
        if (of_inner) line = key_of(inner, "line");
        refuse(
            line != nullptr ? *line : top_.place("tree"),
            line != nullptr ? fmt::format("cache.{}.line", name(of_inner ? inner.kind : outer.kind)) : "tree",
            fmt::format("{} has lines of {} bytes, shorter than the {} of {} inside it; give {} the longer ones, too",
                        name(outer.kind), outer.line_size, inner.line_size, name(inner.kind), name(outer.kind)));
      }
    }
  }
}

}  // namespace heddle::machine
