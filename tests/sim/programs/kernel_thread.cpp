// Uses heddle, and starts a kernel thread of its own.
#include <thread>

#include <heddle/parallel_invoke.hpp>

int main() {
  heddle::parallel_invoke([] {}, [] {});
  std::thread([] {}).join();
}
