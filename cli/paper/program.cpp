#include "cli/paper/program.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "cli/paper/process.hpp"
#include "policy/registry.hpp"
#include "process/beside.hpp"

namespace heddle::cli::paper {
namespace {

constexpr const char* programs[] = {"preempt-model", "blas"};

std::string program_file(const std::string& name) {
  if (const auto file = process::find_program(process::folders_beside(), "heddle-" + name)) return *file;
  throw std::runtime_error(fmt::format(
      "heddle-{} is neither beside the command nor in ../libexec/heddle: build the target heddle_bench", name));
}

}  // namespace

std::vector<std::string> command_words(const std::string& command) {
  std::vector<std::string> words = words_of(command);
  for (const char* name : programs) {
    if (words.empty() || words.front() != name) continue;
    words.front() = program_file(name);
    return words;
  }
  words.insert(words.begin(), process::own_program());
  return words;
}

std::string shown_command(const std::string& command) {
  for (const std::string name : programs) {
    if (command == name || command.starts_with(name + " ")) return "heddle-" + command;
  }
  return "heddle " + command;
}

std::string refused_policy(const std::string& name) {
  try {
    (void)policy::make(name);
    return {};
  } catch (const std::invalid_argument& error) {
    const std::string all = error.what();
    return all.substr(0, all.find(';'));  // without the list of the valid ones
  }
}

}  // namespace heddle::cli::paper
