// The same for targets of which many sources write texts.
#include "library.hpp"

#include <fmt/format.h>
