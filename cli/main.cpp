#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "policy/registry.hpp"

namespace {

// This must be done first, because the command checks the names of policies and lists them.
void load_plugins() {
  const char* const files = std::getenv("HEDDLE_POLICY_PLUGIN");
  if (files == nullptr) return;
  try {
    heddle::policy::load_plugins(files);
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument("HEDDLE_POLICY_PLUGIN=" + std::string(files) + ": " + error.what());
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
    load_plugins();
    const int status = heddle::cli::run(arguments);
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
    std::fputs("heddle: standard output cannot be written\n", stderr);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "heddle: %s\n", error.what());
  }
  return 1;
}
