// heddle sim --sensitivity: how far a result rests on figures of the machine that are assumed.
#pragma once

#include <functional>
#include <string>

namespace heddle::cli {

// Prints how `result`, of a run on the machine of that name, moves when each assumed figure has the least and the most
// value that the machine's files allow, the others staying; those that move it most come first. Progress is shown.
void print_sensitivity(const std::string& machine, const std::string& what,
                       const std::function<double(const std::string& machine)>& result);

}  // namespace heddle::cli
