// The little JSON that trace/ writes.
#pragma once

#include <string>
#include <string_view>

namespace heddle::trace {

// The text as a JSON string with its quotes. Bytes that are not UTF-8 become U+FFFD, for a reader
// would refuse the whole file.
[[nodiscard]] std::string json_string(std::string_view text);

}  // namespace heddle::trace
