// The small part of JSON that trace/ writes.
#pragma once

#include <string>
#include <string_view>

namespace heddle::trace {

// Returns the text as a JSON string with its quotes. Bytes that are not UTF-8 become U+FFFD, because a reader would
// refuse the whole file.
[[nodiscard]] std::string json_string(std::string_view text);

}  // namespace heddle::trace
