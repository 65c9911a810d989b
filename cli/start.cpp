#include "cli/start.hpp"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "policy/registry.hpp"

namespace heddle::cli {
namespace {

// This must be done first, because the command checks the names of policies and lists them.
void load_plugins() {
  const char* const files = std::getenv("HEDDLE_POLICY_PLUGIN");
  if (files == nullptr) return;
  try {
    policy::load_plugins(files);
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument("HEDDLE_POLICY_PLUGIN=" + std::string(files) + ": " + error.what());
  }
}

}  // namespace

int start(int argc, char** argv, const char* subcommand) {
  try {
    std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
    if (subcommand != nullptr) arguments.insert(arguments.begin(), subcommand);
    load_plugins();
    const int status = run(arguments);
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
    std::fputs("heddle: standard output cannot be written\n", stderr);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "heddle: %s\n", error.what());
  }
  return 1;
}

}  // namespace heddle::cli
