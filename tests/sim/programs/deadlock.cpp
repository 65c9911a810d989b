// Two threads take two mutexes in opposite orders, and wait until both have one.
#include <heddle/cost.hpp>
#include <heddle/latch.hpp>
#include <heddle/mutex.hpp>
#include <heddle/thread.hpp>

int main() {
  heddle::mutex first, second;
  heddle::latch both(2);
  const auto take = [&both](heddle::mutex& a, heddle::mutex& b) {
    a.lock();
    both.arrive_and_wait();
    b.lock();
  };
  heddle::thread one([&] { take(first, second); });
  heddle::thread two([&] { take(second, first); });
  one.join();
  two.join();
}
