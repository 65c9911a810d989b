// The texts of OMP_PLACES, GOMP_CPU_AFFINITY and KMP_AFFINITY.
#include <algorithm>
#include <optional>

#include "omp/core/places/places.hpp"
#include "omp/core/settings/text_cursor.hpp"

namespace heddle::omp {

namespace {

constexpr std::size_t most_places = std::size_t{1} << 16;

struct abstract_name {
  std::string_view name;
  place_kind kind;
};
constexpr abstract_name abstract_names[] = {{"threads", place_kind::threads},
                                            {"cores", place_kind::cores},
                                            {"ll_caches", place_kind::ll_caches},
                                            {"numa_domains", place_kind::numa_domains},
                                            {"sockets", place_kind::sockets}};

// Reads [:length[:stride]] behind a number or a place. Returns false if the text has another form.
bool read_interval(text_cursor& at, int& length, int& stride) noexcept {
  length = stride = 1;
  if (!at.take(':')) return true;
  const std::optional<int> given = at.number();
  if (!given || *given < 1) return false;
  length = *given;
  if (!at.take(':')) return true;
  const std::optional<int> step = at.number(true);
  if (!step) return false;
  stride = *step;
  return true;
}

// Reads one processor or an interval of them, or "!" and a processor that is not in the place.
bool read_processors(text_cursor& at, place& into) {
  const bool excluded = at.take('!');
  const std::optional<int> first = at.number();
  int length = 1, stride = 1;
  if (!first || (!excluded && !read_interval(at, length, stride))) return false;
  if (excluded) {
    into.erase(std::remove(into.begin(), into.end(), *first), into.end());
    return true;
  }
  for (int i = 0; i < length; ++i) {
    const long processor = *first + static_cast<long>(i) * stride;
    if (processor < 0 || processor >= most_processors) return false;
    if (std::find(into.begin(), into.end(), processor) == into.end()) into.push_back(static_cast<int>(processor));
  }
  return true;
}

bool read_place(text_cursor& at, place& into) {
  if (!at.take('{')) {  // a processor alone is a place, too
    const std::optional<int> only = at.number();
    if (only) into.push_back(*only);
    return only.has_value();
  }
  do {
    if (!read_processors(at, into)) return false;
  } while (at.take(','));
  return at.take('}') && !into.empty();
}

bool read_places(text_cursor& at, place_list& into) {
  do {
    const bool excluded = at.take('!');
    place first;
    int length = 1, stride = 1;
    if (!read_place(at, first) || (!excluded && !read_interval(at, length, stride))) return false;
    if (excluded) {
      into.erase(std::remove(into.begin(), into.end(), first), into.end());
      continue;
    }
    if (into.size() + static_cast<std::size_t>(length) > most_places) return false;
    for (int i = 0; i < length; ++i) {
      place next = first;
      for (int& processor : next) {
        const long moved = processor + static_cast<long>(i) * stride;
        if (moved < 0 || moved >= most_processors) return false;
        processor = static_cast<int>(moved);
      }
      into.push_back(std::move(next));
    }
  } while (at.take(','));
  return at.at_end() && !into.empty();
}

// Reads FIRST, FIRST-LAST or FIRST-LAST:STRIDE, the forms of the two older variables; each processor is a place.
bool read_ranges(text_cursor& at, place_list& into, char until) {
  while (!at.at_end() && !at.next_is(until)) {
    if (at.take('{')) {  // a set of a proclist
      place one;
      do {
        if (!read_processors(at, one)) return false;
      } while (at.take(','));
      if (!at.take('}') || one.empty()) return false;
      into.push_back(std::move(one));
    } else {
      const std::optional<int> first = at.number();
      if (!first) return false;
      int last = *first, stride = 1;
      if (at.take('-')) {
        const std::optional<int> given = at.number();
        if (!given || *given < *first) return false;
        last = *given;
        if (at.take(':')) {
          const std::optional<int> step = at.number();
          if (!step || *step < 1) return false;
          stride = *step;
        }
      }
      for (int processor = *first; processor <= last; processor += stride) into.push_back({processor});
    }
    at.take(',');
  }
  return !into.empty();
}

bool is_ignored_modifier(std::string_view word) noexcept {
  constexpr std::string_view known[] = {"noverbose", "warnings",   "nowarnings",  "respect",
                                        "norespect", "duplicates", "noduplicates"};
  return std::find(std::begin(known), std::end(known), word) != std::end(known);
}

std::optional<place_kind> granularity_named(std::string_view word) noexcept {
  if (word == "fine" || word == "thread") return place_kind::threads;
  if (word == "core" || word == "tile" || word == "module") return place_kind::cores;
  if (word == "die" || word == "socket" || word == "package" || word == "group") return place_kind::sockets;
  if (word == "ll_cache" || word == "l") return place_kind::ll_caches;
  if (word == "numa" || word == "node") return place_kind::numa_domains;
  return std::nullopt;
}

}  // namespace

bool parse_places(std::string_view text, place_request& request) {
  place_request read;
  text_cursor at(text);
  if (const std::string word = at.word(); !word.empty()) {
    for (const abstract_name& known : abstract_names) {
      if (word == known.name) read.kind = known.kind;
    }
    if (read.kind == place_kind::none) return false;
    if (at.take('(')) {
      const std::optional<int> count = at.number();
      if (!count || *count < 1 || !at.take(')')) return false;
      read.count = *count;
    }
    if (!at.at_end()) return false;
  } else {
    read.kind = place_kind::listed;
    if (!read_places(at, read.listed)) return false;
  }
  request = std::move(read);
  return true;
}

std::string_view places_instead_of(std::string_view text) noexcept {
  const std::string word = text_cursor(text).word();
  for (const abstract_name& known : abstract_names)
    if (word == known.name) return known.name;
  return "cores";
}

bool parse_cpu_affinity(std::string_view text, place_request& request) {
  place_request read;
  read.kind = place_kind::listed;
  text_cursor at(text);
  if (!read_ranges(at, read.listed, '\0')) return false;
  request = std::move(read);
  return true;
}

bool parse_kmp_affinity(std::string_view text, place_request& request) {
  place_request read;
  place_kind granularity = place_kind::cores;
  place_list listed;
  std::string type;
  text_cursor at(text);
  do {
    const std::string word = at.word();
    if (word.empty()) {  // the type's permutation and offset
      if (type.empty() || !at.number()) return false;
    } else if (word == "granularity") {
      if (!at.take('=')) return false;
      const std::optional<place_kind> found = granularity_named(at.word());
      static_cast<void>(at.number());  // the level of l1, l2 ...
      if (!found) return false;
      granularity = *found;
    } else if (word == "proclist") {
      if (!at.take('=') || !at.take('[') || !read_ranges(at, listed, ']') || !at.take(']')) return false;
    } else if (word == "verbose") {
      read.verbose = true;
    } else if (word == "reset" || word == "noreset") {
      read.reset = word == "reset";
    } else if (word == "none" || word == "disabled" || word == "compact" || word == "scatter" || word == "balanced" ||
               word == "explicit" || word == "physical" || word == "logical") {
      if (!type.empty()) return false;
      type = word;
    } else if (!is_ignored_modifier(word)) {
      return false;
    }
  } while (at.take(','));
  if (!at.at_end() || (type == "explicit" && listed.empty())) return false;
  if (type == "explicit" || (type.empty() && !listed.empty())) {
    read.kind = place_kind::listed;
    read.listed = std::move(listed);
    read.bind = bind_kind::close;
  } else if (type == "compact" || type == "logical") {
    read.kind = granularity;
    read.bind = bind_kind::close;
  } else if (type == "scatter" || type == "balanced" || type == "physical") {
    read.kind = granularity;
    read.bind = bind_kind::spread;
  }
  request = std::move(read);
  return true;
}

std::string ranges_of(const place& processors) {
  place sorted = processors;
  std::sort(sorted.begin(), sorted.end());
  std::string text;
  for (std::size_t i = 0; i < sorted.size();) {
    std::size_t last = i;
    while (last + 1 < sorted.size() && sorted[last + 1] == sorted[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += std::to_string(sorted[i]);
    if (last > i) text += '-' + std::to_string(sorted[last]);
    i = last + 1;
  }
  return text;
}

std::string text_of(const place_list& places) {
  std::string text;
  for (const place& p : places) {
    if (!text.empty()) text += ',';
    text += '{';
    for (std::size_t i = 0; i < p.size(); ++i) {
      if (i != 0) text += ',';
      text += std::to_string(p[i]);
    }
    text += '}';
  }
  return text;
}

std::string text_of(const place_request& request) {
  if (request.kind == place_kind::listed) return text_of(request.listed);
  for (const abstract_name& known : abstract_names) {
    if (request.kind != known.kind) continue;
    std::string text(known.name);
    if (request.count > 0) text += '(' + std::to_string(request.count) + ')';
    return text;
  }
  return "";
}

}  // namespace heddle::omp
