// A flag and a condition variable, the flag set without the mutex: in some schedules the waiter never wakes.
#include <atomic>

#include <heddle/condition_variable.hpp>
#include <heddle/cost.hpp>
#include <heddle/mutex.hpp>
#include <heddle/thread.hpp>

int main() {
  heddle::mutex mutex;
  heddle::condition_variable changed;
  std::atomic<bool> ready{false};
  heddle::thread waiter([&] {
    std::unique_lock hold(mutex);
    while (!ready.load()) changed.wait(hold);
  });
  heddle::thread waker([&] {
    ready.store(true);
    changed.notify_one();
  });
  waiter.join();
  waker.join();
}
