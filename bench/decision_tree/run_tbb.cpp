#include "process.hpp"
#include "tbb_executor.hpp"

int main(int argc, char** argv) {
  using namespace heddle::bench::decision_tree;
  return run_process(argc, argv, "tbb", [](process_options const& options) { return tbb_executor(options.workers); });
}
