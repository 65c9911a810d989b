// The data of a recording that the report page shows, small enough for an HTML file. Format: ../README.md.
#pragma once

#include <string>
#include <vector>

#include "tools/trace/diagnosis.hpp"
#include "trace/recording.hpp"

namespace heddle::trace {

struct page_run {
  std::string name;  // of the file
  recording what;
};

// Returns the page: `pattern` with the data of all runs in the place of its mark. `figures` is a JSON array, the rows
// of `heddle sim --json`, or "[]" if there are none. Nothing in the data can end the script element that holds it.
// `lines_of` returns the line_finder of a run's findings. If it is null, the findings name functions without lines.
[[nodiscard]] std::string write_page(const std::vector<page_run>& runs, const std::string& figures,
                                     std::string_view pattern, line_finder (*lines_of)(const recording&) = nullptr);

// Returns the data alone, as a JSON object. Streams of numbers in it are base64 of LEB128.
[[nodiscard]] std::string page_data(const std::vector<page_run>& runs, const std::string& figures,
                                    line_finder (*lines_of)(const recording&) = nullptr);

// The place in the pattern that the data replaces.
inline constexpr std::string_view page_mark = "/*heddle:data*/";

}  // namespace heddle::trace
