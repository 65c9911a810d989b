// The data of a recording that the report page shows, small enough for an HTML file. Format: formats.md.
#pragma once

#include <string>
#include <vector>

#include "trace/diagnosis.hpp"
#include "trace/recording.hpp"

namespace heddle::trace {

struct page_run {
  std::string name;  // of the file
  recording what;
  std::vector<finding> findings = {};
};

// Returns the page: `pattern` with the data of all runs in the place of its mark. `figures` is a JSON array, the rows
// of `heddle sim --json`, or "[]" if there are none. Nothing in the data can end the script element that holds it.
[[nodiscard]] std::string write_page(const std::vector<page_run>& runs, const std::string& figures,
                                     std::string_view pattern);

// Returns the data alone, as a JSON object. Streams of numbers in it are base64 of LEB128.
[[nodiscard]] std::string page_data(const std::vector<page_run>& runs, const std::string& figures);

// The place in the pattern that the data replaces.
inline constexpr std::string_view page_mark = "/*heddle:data*/";

}  // namespace heddle::trace
