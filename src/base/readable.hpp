// Names of functions as a person reads them.
#pragma once

#include <cstddef>
#include <string>

namespace heddle::base {

// The linker's name demangled. While that is longer than `most`, the insides of template lists are left out, then those
// of parameter lists, and then it is cut. May throw std::bad_alloc.
std::string readable(const char* symbol, std::size_t most = 100);

}  // namespace heddle::base
