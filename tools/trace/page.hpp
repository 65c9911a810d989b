// What the report page shows of a recording, small enough for an HTML file; format: formats.md.
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

// The page: `pattern` with the data of all runs in the place of its mark. `figures` is a JSON array: the rows of
// `heddle sim --json`; "[]" when there are none. Nothing in the data can end the script element that holds it.
// `lines_of` gives what finds the lines of a run's findings; null: they name functions alone.
[[nodiscard]] std::string write_page(const std::vector<page_run>& runs, const std::string& figures,
                                     std::string_view pattern, line_finder (*lines_of)(const recording&) = nullptr);

// The data alone: a JSON object. Streams of numbers in it are base64 of LEB128.
[[nodiscard]] std::string page_data(const std::vector<page_run>& runs, const std::string& figures,
                                    line_finder (*lines_of)(const recording&) = nullptr);

// Where the pattern takes the data.
inline constexpr std::string_view page_mark = "/*heddle:data*/";

}  // namespace heddle::trace
