#include "heddle_executor.hpp"
#include "process.hpp"

#include <heddle/cost.hpp>  // says to the simulator that the trainer tells its costs

int main(int argc, char** argv) {
  using namespace heddle::bench::decision_tree;
  return run_process(argc, argv, "heddle",
                     [](process_options const& options) { return heddle_executor(options.workers, options.policy); });
}
