// Programs of experiments: subcommands of heddle, and programs of their own beside it.
#pragma once

#include <string>
#include <vector>

namespace heddle::cli::paper {

// "bench heat2d --n 480": this command with these words. "preempt-model cost": the program heddle-preempt-model, from
// beside the command or where it is installed. Throws std::runtime_error if that is not there.
std::vector<std::string> command_words(const std::string& command);
// As one types it.
std::string shown_command(const std::string& command);

// Empty, or why this policy is none.
std::string refused_policy(const std::string& name);

}  // namespace heddle::cli::paper
