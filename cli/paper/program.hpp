// Programs of experiments: subcommands of heddle, and separate programs beside it.
#pragma once

#include <string>
#include <vector>

namespace heddle::cli::paper {

// Returns, for "bench heat2d --n 480", this command with these words. For "preempt-model cost" returns the program
// heddle-preempt-model, beside the command or where it is installed. Throws std::runtime_error if that is missing.
std::vector<std::string> command_words(const std::string& command);
// Returns the command as a user types it.
std::string shown_command(const std::string& command);

// Returns an empty text, or the reason why there is no such policy.
std::string refused_policy(const std::string& name);

}  // namespace heddle::cli::paper
