// Names of functions in a form for people.
#pragma once

#include <cstddef>
#include <string>

namespace heddle::base {

// Returns the linker's name demangled. While the result is longer than `most`, first the insides of template lists are
// left out, then those of parameter lists, and then it is cut. May throw std::bad_alloc.
std::string readable(const char* symbol, std::size_t most = 100);

}  // namespace heddle::base
