// Which build a figure is of.
#pragma once

#include <string>

namespace heddle::cli::paper {

// The commit of the checkout in which this command was built, "-dirty" behind it where that has changes; "" where there
// is none, or no git.
const std::string& commit();

// Changes when what a command of an experiment runs (program.hpp) is built anew: of the contents of its programs, and
// of the simulator's library if it is simulated. So a run is done again after a change, and not after one of this
// command.
std::string digest_of(const std::string& command, bool simulated);

}  // namespace heddle::cli::paper
