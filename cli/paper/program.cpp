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

bool is_variable(const std::string& word) { return word.starts_with("HEDDLE_") && word.find('=') != word.npos; }

}  // namespace

std::vector<std::pair<std::string, std::string>> environment_of(const std::string& command) {
  std::vector<std::pair<std::string, std::string>> all;
  for (const std::string& word : words_of(command)) {
    if (!is_variable(word)) break;
    const std::size_t end = word.find('=');
    all.emplace_back(word.substr(0, end), word.substr(end + 1));
  }
  return all;
}

std::vector<std::string> command_words(const std::string& command) {
  std::vector<std::string> words = words_of(command);
  words.erase(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(environment_of(command).size()));
  for (const char* name : programs) {
    if (words.empty() || words.front() != name) continue;
    words.front() = program_file(name);
    return words;
  }
  const auto heddle = process::find_program(process::folders_beside(), "heddle");
  if (!heddle) throw std::runtime_error("the command heddle is not beside " + process::own_program());
  words.insert(words.begin(), *heddle);
  return words;
}

std::string shown_command(const std::string& command) {
  if (is_variable(command.substr(0, command.find(' ')))) {
    const std::size_t end = command.find(' ');
    return command.substr(0, end + 1) + shown_command(command.substr(end + 1));
  }
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
