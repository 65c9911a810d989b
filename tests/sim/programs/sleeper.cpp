// Sleeps for an hour in several ways, and says how long that took by its clocks.
#include <ctime>

#include <chrono>
#include <cstdio>
#include <thread>

#include <heddle/cost.hpp>
#include <heddle/sleep.hpp>
#include <heddle/thread.hpp>

int main() {
  using namespace std::chrono;
  const auto begin = steady_clock::now();
  const std::time_t wall = std::time(nullptr);
  heddle::thread sleeper([] { heddle::this_thread::sleep_for(minutes(30)); });
  sleeper.join();
  std::this_thread::sleep_for(minutes(30));
  const auto took = duration_cast<seconds>(steady_clock::now() - begin).count();
  std::printf("%lld %lld\n", static_cast<long long>(took), static_cast<long long>(std::time(nullptr) - wall));
}
