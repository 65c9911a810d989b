// A wait for another thread by the standard library's condition variable: it blocks the process, in which nobody else
// can run then.
#include <atomic>
#include <condition_variable>
#include <mutex>

#include <heddle/thread.hpp>

int main() {
  std::mutex mutex;
  std::condition_variable changed;
  bool ready = false;
  std::atomic<bool> waits{false};
  heddle::thread waiter([&] {
    std::unique_lock hold(mutex);
    waits = true;
    changed.wait(hold, [&] { return ready; });
  });
  heddle::thread waker([&] {
    while (!waits.load()) heddle::this_thread::yield();
    const std::lock_guard hold(mutex);
    ready = true;
    changed.notify_one();
  });
  waiter.join();
  waker.join();
}
