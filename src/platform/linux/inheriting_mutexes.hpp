// See inheriting_mutexes.cpp.
#pragma once

namespace heddle::platform {

// Called before the first use of storage apart from kernel threads. Returns false if the program has asked for mutexes
// with priority inheritance. Otherwise it cannot ask for them from then on.
bool exclude_inheriting_mutexes() noexcept;

}  // namespace heddle::platform
