// Names of functions as a person reads them.
#pragma once

#include <cstddef>
#include <string>

namespace heddle::base {

// The linker's name demangled; if that is longer than `most`, without the insides of template and parameter lists,
// outermost last, and then cut. May throw std::bad_alloc.
std::string readable(const char* symbol, std::size_t most = 100);

}  // namespace heddle::base
