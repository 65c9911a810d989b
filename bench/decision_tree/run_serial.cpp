#include "process.hpp"

int main(int argc, char** argv) {
  using namespace heddle::bench::decision_tree;
  return run_process(argc, argv, "serial", [](process_options const&) { return serial_executor(); });
}
