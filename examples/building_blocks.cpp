// Building blocks of runtimes, teams and lock-free structures: event count, cancellable barrier, poller, machine view,
// pinned threads that know their number.
#include <heddle/cancellable_barrier.hpp>
#include <heddle/event_count.hpp>
#include <heddle/machine.hpp>
#include <heddle/poller.hpp>
#include <heddle/runtime.hpp>
#include <heddle/task_group.hpp>
#include <heddle/thread.hpp>
#include <heddle/thread_slot.hpp>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <vector>

// A flag that is raised once. Threads that need it sleep until then.
class gate {
 public:
  void open() {
    open_.store(true);
    changed_.notify_all();
  }
  void pass() {
    changed_.await([this] { return open_.load(); });
  }

 private:
  std::atomic<bool> open_{false};
  heddle::event_count changed_;
};

// The steps of a team, until one of its members has found the wanted number.
int search(int members, int wanted) {
  heddle::cancellable_barrier step(members);
  std::vector<heddle::thread> team;
  std::atomic<int> found{-1};
  for (int self = 0; self < members; ++self) {
    team.emplace_back([&, self] {
      for (int i = self;; i += members) {
        if (i == wanted) {
          found = i;
          step.cancel();
        }
        if (!step.arrive_and_wait()) return;
      }
    });
  }
  for (heddle::thread& t : team) t.join();
  return found;
}

struct member {
  int number;
};
const heddle::thread_slot<const member> this_member;

int number_of_caller() { return this_member.get() == nullptr ? -1 : this_member.get()->number; }

// Each member stays on its worker, and the functions that it calls know its number.
int sum_of_numbers(unsigned members) {
  std::atomic<int> sum{0};
  std::vector<heddle::thread> team;
  for (unsigned i = 0; i < members; ++i) {
    heddle::thread_options at;
    at.worker = static_cast<std::uint16_t>(i % heddle::runtime::current().workers());
    team.emplace_back(at, [&sum, i] {
      const member self{static_cast<int>(i)};
      const heddle::thread_slot<const member>::scope bound(this_member, &self);
      heddle::this_thread::yield();
      sum += number_of_caller();
    });
  }
  for (heddle::thread& t : team) t.join();
  return sum;
}

// A device that completes requests without a notification. (Here the look itself completes them.)
class device {
 public:
  struct request {
    std::atomic<bool> done{false};
  };
  void post(request& r) {
    const std::lock_guard hold(lock_);
    posted_.push_back(&r);
  }
  // Like MPI_Testsome, returns how many requests were completed since the last look.
  int test() {
    const std::lock_guard hold(lock_);
    const auto completed = static_cast<int>(posted_.size());
    for (request* r : posted_) r->done = true;
    posted_.clear();
    return completed;
  }

 private:
  std::mutex lock_;
  std::vector<request*> posted_;
};

// A thread that waits for a request sleeps. The runtime looks at the device meanwhile.
class messages {
 public:
  void exchange() {
    device::request r;
    device_.post(r);
    const heddle::poller::interest waits(poller_);
    changed_.await([&] { return r.done.load(); });
  }

 private:
  device device_;
  heddle::event_count changed_;
  heddle::poller poller_{[this] {
    const int found = device_.test();
    if (found != 0) changed_.notify_all();
    return found;
  }};
};

int main() {
  gate start;
  std::atomic<int> passed{0};
  std::vector<heddle::thread> all;
  for (int i = 0; i < 4; ++i) {
    all.emplace_back([&] {
      start.pass();
      ++passed;
    });
  }
  start.open();
  for (heddle::thread& t : all) t.join();

  messages sent;
  heddle::task_group exchanges;
  std::atomic<int> exchanged{0};
  for (int i = 0; i < 10; ++i) {
    exchanges.run([&] {
      sent.exchange();
      ++exchanged;
    });
  }
  exchanges.wait();

  const heddle::machine::view machine = heddle::runtime::current().machine();
  for (unsigned worker = 0; worker < machine.workers(); ++worker) {
    const heddle::machine::memory_group* shared = machine.shared_cache_of(worker);
    if (shared == nullptr) std::printf("worker %u shares no cache\n", worker);
    else std::printf("worker %u shares its %s with %u others\n", worker, name(shared->kind), shared->worker_count - 1);
  }
  return passed == 4 && search(3, 100) == 100 && exchanged == 10 && sum_of_numbers(5) == 10 && number_of_caller() == -1
             ? 0
             : 1;
}
