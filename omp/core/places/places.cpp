// The places of a machine, and the members in them.
#include "omp/core/places/places.hpp"

#include <algorithm>
#include <utility>

namespace heddle::omp {

namespace {

template <class Key>
place_list grouped(const machine_units& machine, Key key) {
  place_list places;
  std::vector<long> keys;
  for (const machine_unit& u : machine) {
    const auto k = static_cast<long>(key(u));
    const auto at = std::find(keys.begin(), keys.end(), k) - keys.begin();
    if (static_cast<std::size_t>(at) == keys.size()) {
      keys.push_back(k);
      places.emplace_back();
    }
    places[static_cast<std::size_t>(at)].push_back(u.number);
  }
  return places;
}

int wrapped(int place, const placement& where) noexcept { return where.first + (place - where.first) % where.count; }

// The beginning of part `number` of `parts` of `count` things. Parts differ by one at most, the longer ones first.
int part_begin(int count, int parts, int number) noexcept {
  return number * (count / parts) + std::min(number, count % parts);
}
// The part in which thing `i` is.
int part_with(int count, int parts, int i) noexcept {
  const int least = count / parts;
  const int longer = count % parts;
  return i < longer * (least + 1) ? i / (least + 1) : longer + (i - longer * (least + 1)) / least;
}

}  // namespace

place_list places_on(const machine_units& machine, const place_request& request, std::vector<std::string>* complaints) {
  place_list places;
  switch (request.kind) {
    case place_kind::none: return {};
    case place_kind::threads: places = grouped(machine, [](const machine_unit& u) { return u.number; }); break;
    case place_kind::cores: places = grouped(machine, [](const machine_unit& u) { return u.core; }); break;
    case place_kind::ll_caches: places = grouped(machine, [](const machine_unit& u) { return u.last_cache; }); break;
    case place_kind::numa_domains: places = grouped(machine, [](const machine_unit& u) { return u.numa; }); break;
    case place_kind::sockets: places = grouped(machine, [](const machine_unit& u) { return u.package; }); break;
    case place_kind::listed: {
      bool lacks = false;
      for (const place& wanted : request.listed) {
        place there;
        for (const int processor : wanted) {
          const bool usable =
              std::any_of(machine.begin(), machine.end(), [=](const machine_unit& u) { return u.number == processor; });
          if (usable) there.push_back(processor);
          else lacks = true;
        }
        if (!there.empty()) places.push_back(std::move(there));
      }
      if (lacks && complaints != nullptr) {
        complaints->push_back("places " + text_of(request.listed) +
                              ": without the processors that the process may not use" +
                              (places.empty() ? ", none are left, and threads are not bound" : ""));
      }
      return places;
    }
  }
  if (request.count > 0 && static_cast<std::size_t>(request.count) < places.size())
    places.resize(static_cast<std::size_t>(request.count));
  return places;
}

member_place place_of_member(const placement& where, unsigned number, unsigned size) noexcept {
  if (where.count == 0 || where.bind == bind_kind::no) return {};
  const member_place whole{0, where.first, where.count};
  const int i = static_cast<int>(number);
  const int members = static_cast<int>(size);
  const int offset = where.parent - where.first;
  switch (where.bind) {
    case bind_kind::primary: return {where.parent, whole.first, whole.count};
    case bind_kind::spread: {
      if (members > where.count) {
        const int part = part_with(members, where.count, i);
        const int at = wrapped(where.parent + part, where);
        return {at, at, 1};
      }
      // Parts are counted from the part that holds the parent's place.
      const int home = part_with(where.count, members, offset);
      const int part = (home + i) % members;
      const int begin = part_begin(where.count, members, part);
      const int end = part_begin(where.count, members, part + 1);
      return {i == 0 ? where.parent : where.first + begin, where.first + begin, end - begin};
    }
    default: {
      const int steps = members <= where.count ? i : part_with(members, where.count, i);
      return {wrapped(where.parent + steps, where), whole.first, whole.count};
    }
  }
}

placement placement_of(const member_place& outer, bind_kind bind_var, int clause) noexcept {
  if (outer.count == 0) return {};
  placement where{outer.first, outer.count, outer.place, bind_kind::no};
  // The partition is kept for regions inside that set bind-var again.
  if (bind_var == bind_kind::no) {
    return where;
  }
  where.bind = clause > 0 ? static_cast<bind_kind>(clause) : bind_var;
  if (where.bind == bind_kind::yes) where.bind = bind_kind::close;
  return where;
}

}  // namespace heddle::omp
