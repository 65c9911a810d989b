// heddle-paper: `heddle paper` executes it.
#include "cli/start.hpp"

int main(int argc, char** argv) { return heddle::cli::start(argc, argv, "paper"); }
