// Names of functions as the user wrote them.
#pragma once

#include <string>
#include <string_view>

namespace heddle::trace {

// Returns the part of a demangled name that the program's author wrote: the closure that heddle's templates call, or
// the name without heddle's namespaces. A closure's call operator is left out.
[[nodiscard]] std::string plain_name(std::string_view symbol);

}  // namespace heddle::trace
