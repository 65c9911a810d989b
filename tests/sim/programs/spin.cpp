// Tells for how long idle workers look for work.
#include <cstdio>
#include <cstdlib>

#include <heddle/thread.hpp>

int main() {
  heddle::thread([] {}).join();
  const char* spin = std::getenv("HEDDLE_SPIN");
  std::printf("spin %s\n", spin != nullptr ? spin : "default");
}
