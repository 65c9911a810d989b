// For tests that run a program on a modelled machine.
#pragma once

#include <filesystem>

#include <gtest/gtest.h>

// Skips the test if the simulated form of its program is not there.
#define SKIP_WITHOUT_SIMULATOR(program) \
  if (!std::filesystem::exists(program)) GTEST_SKIP() << "the simulator is not built (sanitizers exclude it)"
