// The rows of `heddle sim --json` in the form for the report page.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace heddle::cli {

// Returns the rows of one file: an array, one object, an object with an array "runs", or an object a line. Throws
// std::invalid_argument with the file's name for anything else.
[[nodiscard]] nlohmann::json read_figures(const std::string& file, std::string_view text);

}  // namespace heddle::cli
