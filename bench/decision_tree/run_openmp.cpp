// Compiled twice: by gcc as "libgomp", by clang as "libomp".
#include "openmp_executor.hpp"
#include "process.hpp"

int main(int argc, char** argv) {
  using namespace heddle::bench::decision_tree;
  return run_process(argc, argv, HEDDLE_TREE_RUNTIME,
                     [](process_options const& options) { return openmp_executor(options.workers); });
}
