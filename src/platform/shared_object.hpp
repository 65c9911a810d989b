// Shared objects that are loaded by name.
#pragma once

#include <string>

namespace heddle::platform {

// Loads the shared object for as long as the process lives. It sees no other object's symbols in place of its own.
// Returns null if it cannot be loaded; `why` then gets the reason. Must not be called in a signal handler.
void* load_shared_object(const std::string& file, std::string& why);
// Returns the address of one of the object's symbols, or null.
void* symbol_in(void* shared_object, const char* name) noexcept;

}  // namespace heddle::platform
