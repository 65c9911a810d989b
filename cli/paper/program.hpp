// Programs of experiments: subcommands of heddle, and separate programs beside it.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace heddle::cli::paper {

// Returns, for "bench heat2d --n 480", this command with these words. For "preempt-model cost" returns the program
// heddle-preempt-model, beside the command or where it is installed. Throws std::runtime_error if that is missing.
// Variables that stand before the command, as in "HEDDLE_LOOP=static bench isosurface", are left out.
std::vector<std::string> command_words(const std::string& command);
// Returns these variables.
std::vector<std::pair<std::string, std::string>> environment_of(const std::string& command);
// Returns the command as a user types it.
std::string shown_command(const std::string& command);

// Returns an empty text, or the reason why there is no such policy.
std::string refused_policy(const std::string& name);

}  // namespace heddle::cli::paper
