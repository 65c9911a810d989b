// Shared objects that are loaded by name.
#pragma once

#include <string>

namespace heddle::platform {

// Loads the shared object for as long as the process lives; it sees no other's symbols in place of its own. Null: `why`
// says why not. Not in a signal handler.
void* load_shared_object(const std::string& file, std::string& why);
// The address of one of its symbols, or null.
void* symbol_in(void* shared_object, const char* name) noexcept;

}  // namespace heddle::platform
