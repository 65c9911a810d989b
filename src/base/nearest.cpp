#include "base/nearest.hpp"

#include <algorithm>
#include <utility>

namespace heddle::base {

namespace {

char plain(char c) {
  if (c >= 'A' && c <= 'Z') return static_cast<char>(c - 'A' + 'a');
  return c == '-' ? '_' : c;
}

bool is_prefix(std::string_view start, std::string_view whole) {
  return start.size() <= whole.size() &&
         std::equal(start.begin(), start.end(), whole.begin(), [](char a, char b) { return plain(a) == plain(b); });
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = above[j - 1] + (plain(a[i - 1]) == plain(b[j - 1]) ? 0 : 1);
      row[j] = std::min({replaced, above[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && plain(a[i - 1]) == plain(b[j - 2]) && plain(a[i - 2]) == plain(b[j - 1])) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[b.size()];
}

std::vector<std::string> nearest_all(std::string_view name, std::span<const std::string> candidates, std::size_t most) {
  std::vector<std::pair<std::size_t, std::size_t>> near;  // distance and index of a candidate
  for (std::size_t which = 0; which < candidates.size(); ++which) {
    const std::string& candidate = candidates[which];
    const std::size_t distance = edit_distance(name, candidate);
    const std::size_t allowed = std::max<std::size_t>(1, std::max(name.size(), candidate.size()) / 3);
    // A name of one or two letters is one edit away from nearly everything.
    const bool close = distance <= allowed && distance < std::min(name.size(), candidate.size());
    if (close || (name.size() >= 2 && is_prefix(name, candidate))) near.emplace_back(distance, which);
  }
  std::sort(near.begin(), near.end());
  std::vector<std::string> names;
  for (const auto& [distance, which] : near) {
    if (names.size() < most) names.push_back(candidates[which]);
  }
  return names;
}

std::string nearest(std::string_view name, std::span<const std::string> candidates) {
  std::vector<std::string> near = nearest_all(name, candidates, 1);
  return near.empty() ? std::string() : std::move(near.front());
}

std::string did_you_mean(std::string_view name, std::span<const std::string> candidates) {
  const std::vector<std::string> near = nearest_all(name, candidates);
  return near.empty() ? std::string() : "; did you mean " + alternatives(near) + "?";
}

std::string alternatives(std::span<const std::string> names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i != 0) text += i + 1 == names.size() ? " or " : ", ";
    text += names[i];
  }
  return text;
}

}  // namespace heddle::base
