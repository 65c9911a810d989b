#include "cli/start.hpp"

int main(int argc, char** argv) { return heddle::cli::start(argc, argv); }
