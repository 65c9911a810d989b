// Runs a command line as a user types it.
#pragma once

#include <string>

#include "process/run.hpp"

namespace heddle_test {

// Its standard output is kept; "2>&1" keeps both streams.
inline heddle::process::ended shell(const std::string& line) {
  return heddle::process::run({"/bin/sh", "-c", line}, {.output = heddle::process::stream::kept});
}

}  // namespace heddle_test
