// The harness: N kernel threads, each with a deque of the type under test, and fork_join over it.
#pragma once

#include "job.hpp"
#include "platform.hpp"
#include "steal_counters.hpp"

#include <chrono>
#include <memory>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace deque_bench {

template <class Deque>
class pool {
 public:
  explicit pool(unsigned workers, std::uint64_t patience_ticks) : patience_(patience_ticks) {
    membarrier_register();
    for (unsigned i = 0; i < workers; ++i) {
      workers_.push_back(std::make_unique<entry>());
      workers_[i]->id = i;
      workers_[i]->random = 0x9e3779b97f4a7c15u * (i + 1);
      workers_[i]->owner = this;
      workers_[i]->memory.resize(workers);
      workers_[i]->search_times.reserve(4096);
    }
    for (unsigned i = 1; i < workers; ++i) threads_.emplace_back([this, i] { helper(*workers_[i]); });
  }
  ~pool() {
    stop_.store(true);
    for (auto& t : threads_) t.join();
  }
  pool(const pool&) = delete;
  pool& operator=(const pool&) = delete;

  // Runs f on worker 0, which is the calling kernel thread. The others steal meanwhile, and are quiet outside this
  // call.
  template <class F>
  void run(F&& f) {
    deque_bench_worker = static_cast<Deque*>(workers_[0].get());
    workers_[0]->worker_started();
    active_.store(true);
    for (unsigned idle = 0; busy_.load() != threads_.size();)
      spin(idle);  // a measurement starts with all workers at work
    f();
    active_.store(false);
    workers_[0]->worker_stopped();
    for (unsigned idle = 0; busy_.load() != 0;) spin(idle);
    deque_bench_worker = nullptr;
  }

  // Returns the times from the start of each successful search of a helper to its job, in ticks. It must not be called
  // while the pool runs.
  std::vector<std::uint64_t> take_search_times() {
    std::vector<std::uint64_t> all;
    for (auto& w : workers_) {
      all.insert(all.end(), w->search_times.begin(), w->search_times.end());
      w->search_times.clear();
    }
    return all;
  }
  static unsigned worker_id() noexcept { return static_cast<entry*>(static_cast<Deque*>(worker_pointer()))->id; }

  steal_counters counters() const {
    steal_counters sum;
    for (auto& w : workers_) sum += w->counters;
    return sum;
  }
  void clear_counters() {
    for (auto& w : workers_) w->counters = {};
  }

  // Called by the owner of a job that it could not pop: works elsewhere until the job is done. A null place means that
  // the job was never queued.
  [[gnu::noinline]] static void wait(job& j, typename Deque::ticket place) noexcept {
    if (!place) return j.run();
    auto* self = static_cast<entry*>(static_cast<Deque*>(worker_pointer()));
    self->forget();
    unsigned idle = 0;
    while (!j.done()) {
      if (job* other = self->owner->find(*self)) other->run(), self->forget(), idle = 0;
      else spin(idle);
    }
  }

  // Gives the processor away after some 100 us: on a machine with other programs the worker waited
  // for may have none.
  static void spin(unsigned& idle) noexcept {
    pause();
    if (++idle > 4000) std::this_thread::yield();
  }

 private:
  struct entry : Deque {  // the deque first, so that the thread-local word points at both
    alignas(64) steal_counters counters;
    std::uint64_t random = 0;
    unsigned id = 0;
    pool* owner = nullptr;
    std::vector<victim_memory> memory;
    std::vector<std::uint64_t> search_times;
    // Begins a new search: the state that was seen before the last job says nothing about how long a victim has been
    // silent.
    void forget() noexcept {
      for (auto& m : memory) m.since = 0;
    }
  };

  job* find(entry& self) noexcept {
    if (workers_.size() < 2) return nullptr;
    self.random ^= self.random << 13;
    self.random ^= self.random >> 7;
    self.random ^= self.random << 17;
    auto v = static_cast<unsigned>(self.random % (workers_.size() - 1));
    if (v >= self.id) ++v;
    return workers_[v]->steal(self.counters, self.memory[v], patience_);
  }

  void helper(entry& self) {
    deque_bench_worker = static_cast<Deque*>(&self);
    unsigned idle = 0;
    while (!stop_.load(std::memory_order_relaxed)) {  // a flag: the join of the thread orders the rest
      if (!active_.load()) {
        if (++idle > 4000) std::this_thread::sleep_for(std::chrono::microseconds(100));
        pause();
        continue;
      }
      busy_.fetch_add(1);
      self.forget();
      self.worker_started();
      std::uint64_t start = ticks();
      idle = 0;
      while (active_.load(std::memory_order_relaxed)) {  // a hint; run waits for busy
        if (job* j = find(self)) {
          if (self.search_times.size() < self.search_times.capacity()) self.search_times.push_back(ticks() - start);
          j->run();
          self.forget();
          start = ticks();
          idle = 0;
        } else {
          spin(idle);
        }
      }
      self.worker_stopped();
      idle = 0;
      busy_.fetch_sub(1);
    }
  }

  std::uint64_t patience_;
  std::vector<std::unique_ptr<entry>> workers_;
  std::vector<std::thread> threads_;
  alignas(64) std::atomic<bool> stop_{false};
  alignas(64) std::atomic<bool> active_{false};
  alignas(64) std::atomic<unsigned> busy_{0};
};

// A small closure is copied into the frame: the original then never has its address taken and stays
// in registers.
template <class B>
inline constexpr bool copied_closure = std::is_trivially_copyable_v<B> && sizeof(B) <= 4 * sizeof(void*);

template <class B, class Ticket, bool = copied_closure<B>>
struct closure_frame : job {
  explicit closure_frame(B& b) noexcept : closure(&b) {
    prepare([](job* j) { (*static_cast<closure_frame*>(j)->closure)(); });
  }
  void call() { (*closure)(); }
  Ticket place;
  B* closure;
};
template <class B, class Ticket>
struct closure_frame<B, Ticket, true> : job {
  explicit closure_frame(B& b) noexcept : closure(b) {
    prepare([](job* j) { static_cast<closure_frame*>(j)->closure(); });
  }
  void call() { closure(); }
  Ticket place;
  B closure;
};

// Returns &object, computed anew. Otherwise the compiler keeps it in a callee-saved register across the call of a,
// which costs every function on the way a store and a load more than the addition does.
template <class T>
[[gnu::always_inline]] inline T* address_again(T& object) noexcept {
  T* address;
#if defined(__x86_64__)
  asm volatile("leaq %1, %0" : "=r"(address) : "m"(object));
#else
  address = &object;
#endif
  return address;
}

// a is called directly; b is called directly through its static type unless a thief took it.
template <class Deque, class A, class B>
[[gnu::always_inline]] inline void fork_join(A&& a, B&& b) {
  closure_frame<std::remove_cvref_t<B>, typename Deque::ticket> f(b);
  auto* before = address_again(f);
  before->place = static_cast<Deque*>(worker_pointer())->push(before);
  a();
  auto* after = address_again(f);
  if (static_cast<Deque*>(worker_pointer())->pop(after, after->place)) [[likely]]
    after->call();
  else pool<Deque>::wait(*after, after->place);
}

// The same with results: that of b passes through memory only when b was stolen.
template <class Deque, class A, class B>
[[gnu::always_inline]] inline auto fork_join_values(A&& a, B&& b) {
  using result_b = decltype(b());
  using value_b = std::remove_cvref_t<B>;
  struct frame : job {
    explicit frame(value_b& from) noexcept : closure(from) {
      prepare([](job* j) {
        auto* self = static_cast<frame*>(j);
        self->result = self->closure();
      });
    }
    typename Deque::ticket place;
    value_b closure;
    result_b result;
  };
  frame f(b);
  auto* before = address_again(f);
  before->place = static_cast<Deque*>(worker_pointer())->push(before);
  auto x = a();
  auto* after = address_again(f);
  if (static_cast<Deque*>(worker_pointer())->pop(after, after->place)) [[likely]]
    return std::pair{x, after->closure()};
  pool<Deque>::wait(*after, after->place);
  return std::pair{x, after->result};
}

}  // namespace deque_bench
