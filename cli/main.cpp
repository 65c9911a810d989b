#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "cli/command.hpp"

int main(int argc, char** argv) {
  try {
    const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
    const int status = heddle::cli::run(arguments);
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
    std::fputs("heddle: standard output cannot be written\n", stderr);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "heddle: %s\n", error.what());
  }
  return 1;
}
