// The line of `heddle --help` for heddle-paper, which is a program of its own.
#pragma once

namespace heddle::cli::paper {

inline constexpr const char* about = "repeat the experiments of papers in the simulator and here, and compare";

}  // namespace heddle::cli::paper
