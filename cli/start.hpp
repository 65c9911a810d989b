// The process around `run`: main() of the command, and of programs that are subcommands of it.
#pragma once

namespace heddle::cli {

// Returns the exit status. `subcommand` stands before the arguments of the program, if it is not null.
int start(int argc, char** argv, const char* subcommand = nullptr);

}  // namespace heddle::cli
