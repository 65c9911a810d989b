// The build to which a figure belongs.
#pragma once

#include <string>

namespace heddle::cli::paper {

// Returns the commit of the checkout in which this command was built, with "-dirty" behind it if the checkout has
// changes. Returns "" if there is no checkout or no git.
const std::string& commit();

// Returns a digest that changes when the programs of an experiment's command (program.hpp) are built anew. It is made
// of the contents of the programs, and of the simulator's library if they are simulated. So a run is repeated after a
// change of these, but not after a change of this command.
std::string digest_of(const std::string& command, bool simulated);

}  // namespace heddle::cli::paper
