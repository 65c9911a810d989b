#pragma once

#include <fstream>
#include <string>

namespace heddle_test {

// How many kernel threads the process has. A listing of /proc/self/task is no count, because the system cuts it short
// if a thread ends meanwhile.
inline long kernel_threads() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word && word != "Threads:") {
  }
  long count = 0;
  status >> count;
  return count;
}

}  // namespace heddle_test
