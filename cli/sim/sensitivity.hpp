// heddle sim --sensitivity: how far a result depends on figures of the machine that are assumed.
#pragma once

#include <functional>
#include <string>

namespace heddle::cli {

// Prints how `result`, of a run on the machine of that name, changes when each assumed figure has the least and the
// largest value that the machine's files allow, while the others stay. The figures that change it most come first.
// Progress is shown.
void print_sensitivity(const std::string& machine, const std::string& what,
                       const std::function<double(const std::string& machine)>& result);

}  // namespace heddle::cli
