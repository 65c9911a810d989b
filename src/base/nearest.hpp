// Suggestions for misspelled names.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::base {

// Edit distance with adjacent transpositions (optimal string alignment), ASCII case and the difference of '-' and '_'
// ignored. Source: Damerau 1964, as the restricted recurrence.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The candidates near enough to be what was meant, nearest first, at most `most`: within a third of the length (at
// least one edit), or with the name (two letters or more) as a prefix. Any context; allocates.
std::vector<std::string> nearest_all(std::string_view name, std::span<const std::string> candidates,
                                     std::size_t most = 3);

// The first of nearest_all, or an empty string.
std::string nearest(std::string_view name, std::span<const std::string> candidates);

// "; did you mean a, b or c?" of the near candidates, "" when there are none: to be put behind a message.
std::string did_you_mean(std::string_view name, std::span<const std::string> candidates);

// "a, b or c".
std::string alternatives(std::span<const std::string> names);

}  // namespace heddle::base
