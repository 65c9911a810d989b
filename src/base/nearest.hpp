// Suggestions for misspelled names.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::base {

// Returns the edit distance with adjacent transpositions (optimal string alignment). ASCII case and the difference of
// '-' and '_' are ignored. Source: Damerau 1964, as the restricted recurrence.
std::size_t edit_distance(std::string_view a, std::string_view b);

// Returns at most `most` candidates that are likely to be meant, nearest first: those within a third of the length (at
// least one edit), and those with the name (two letters or more) as a prefix. Any context; allocates.
std::vector<std::string> nearest_all(std::string_view name, std::span<const std::string> candidates,
                                     std::size_t most = 3);

// Returns the first of nearest_all, or an empty string.
std::string nearest(std::string_view name, std::span<const std::string> candidates);

// Returns "; did you mean a, b or c?" with the near candidates, or "" if there are none. It is appended to a message.
std::string did_you_mean(std::string_view name, std::span<const std::string> candidates);

// Returns "a, b or c".
std::string alternatives(std::span<const std::string> names);

}  // namespace heddle::base
