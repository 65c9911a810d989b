#include "omp/core/teams/thread.hpp"

#include <pthread.h>

#include <cstdio>
#include <cstdlib>

#include <heddle/detail/residents.hpp>

#include "omp/core/places/binding.hpp"
#include "omp/core/settings/environment.hpp"
#include "omp/core/teams/members.hpp"
#include "omp/core/teams/team.hpp"
#include "omp/core/teams/threadprivate.hpp"
#include "omp/ompt/regions.hpp"

namespace heddle::omp {

namespace {

constexpr int most_threads = 1 << 16;

// The existing descriptors, by their numbers. They are never freed, because a thread that wakes another may come late.
// Each entry is written once, by the first thread that takes the number.
constinit std::atomic<thread*> descriptors[most_threads]{};
// One bit for each number that is taken.
constinit std::atomic<std::uint64_t> taken[most_threads / 64]{};

// Takes the lowest free number. Lock-free, because its caller may be preempted anywhere.
int take_number() noexcept {
  for (int word = 0; word < most_threads / 64; ++word) {
    std::uint64_t bits = taken[word].load(std::memory_order_relaxed);  // relaxed: confirmed by the exchange
    while (~bits != 0) {
      const int bit = __builtin_ctzll(~bits);
      // seq_cst pairs with thread::drop: the descriptor is as its last thread left it
      if (taken[word].compare_exchange_weak(bits, bits | std::uint64_t{1} << bit)) return word * 64 + bit;
    }
  }
  std::fprintf(stderr, "heddle: OpenMP: more than %d threads\n", most_threads);
  std::_Exit(1);
}

// Called when a foreign kernel thread ends. It is never called for main, whose end is the process's.
void end_foreign(void* of) {
  thread& self = *static_cast<thread*>(of);
  dismiss_teams(self);
  if (ompt::on()) [[unlikely]]
    ompt::initial_thread_ends(self);
  if (self.counts) active_count::awake.fetch_sub(1);
  delete std::exchange(self.root, nullptr);
  thread::drop(self);
  (void)current_slot.keep(nullptr);
}

// Made when the library is loaded: the guard of a variable in a function could be taken at a fork(), and the child
// would wait for it for ever.
const pthread_key_t key_of_foreign = [] {
  pthread_key_t made{};
  if (pthread_key_create(&made, end_foreign) != 0) {
    std::fprintf(stderr, "heddle: OpenMP: no pthread key is left\n");
    std::_Exit(1);
  }
  return made;
}();

// Called in the child. Only the forking thread goes on, and its teams' members do not exist there. Their state stays in
// memory that nothing uses.
void after_fork() {
  active_count::awake.store(0);
  forget_members();
  co_location::forget_all();
  thread* const self = thread::current_or_null();
  if (self == nullptr) return;
  unbind_caller(*self);  // the child's workers are where the thread that makes them may be
  self->kept = nullptr;
  for (team* t = self->in; t != nullptr; t = t->outer) {
    if (t->leader == self) t->deeper = nullptr;
    t->manned = 1;
    t->is_gang = false;
    t->tasks.after_fork();
    static_cast<void>(t->beside.release());
    t->gang = nullptr;
    t->gang_room = 0;
  }
  if (self->counts) active_count::awake.store(1);
}

[[maybe_unused]] const bool told_of_forks = pthread_atfork(nullptr, nullptr, after_fork) == 0;

}  // namespace

thread* thread::of(int global_number) noexcept {
  if (global_number < 0 || global_number >= most_threads) return nullptr;
  return descriptors[global_number].load();
}

thread& thread::make() {
  const int number = take_number();
  thread* t = descriptors[number].load();
  if (t == nullptr) {
    t = new thread;
    t->global_number = number;
    descriptors[number].store(t);
  }
  return *t;
}

void thread::drop(thread& t) noexcept {
  end_privates(t);
  t.in = nullptr;
  t.running = nullptr;
  t.number = 0;
  t.stops.store(false, std::memory_order_relaxed);  // relaxed: published with the number
  t.go.store(0, std::memory_order_relaxed);
  t.counts = false;
  t.home.store(nullptr, std::memory_order_relaxed);  // as in end_adopted
  t.next = {};
  t.work = {};
  t.kept_at = &t.kept;
  t.bound = t.placed = -1;
  t.preemptive = t.is_in_gang = false;
  t.parker.share_processor(false);
  t.parker.leave_processor();
  taken[t.global_number / 64].fetch_and(~(std::uint64_t{1} << (t.global_number % 64)));
}

// [thread:3]. Called when no thread of that runtime is alive but members of kept teams.
void thread::end_adopted(heddle::runtime& home) noexcept {
  for (std::atomic<thread*>& place : descriptors) {
    thread* const t = place.load();
    // relaxed: the leaders of that runtime have ended, and the census has seen it
    if (t == nullptr || t->home.load(std::memory_order_relaxed) != &home) continue;
    dismiss_teams(*t);
    if (ompt::on()) [[unlikely]]
      ompt::initial_thread_ends(*t);
    if (t->counts) active_count::awake.fetch_sub(1);
    delete std::exchange(t->root, nullptr);
    drop(*t);
  }
}

thread& thread::adopt() noexcept {
  thread& t = make();
  if (is_user_level()) {
    t.home.store(&heddle::runtime::current(), std::memory_order_relaxed);  // as in end_adopted
    heddle::detail::end_residents_by(end_adopted);
  }
  t.root = new team;
  t.root->leader = &t;
  make_room(*t.root, 1);
  t.root->members[0] = &t;
  t.root->manned = 1;
  t.root->variables = initial_variables();
  t.root->tasks.prepare(1);
  t.root->shares.begin();
  begin_part(t, *t.root, 0);
  if (!is_user_level()) pthread_setspecific(key_of_foreign, &t);
  bind_for_good(t);
  if (ompt::on()) [[unlikely]]
    ompt::initial_thread_begins(t);
  return t;
}

void count_in(thread& self) noexcept {
  if (self.counts) return;
  self.counts = true;
  if (active_count::processors.load(std::memory_order_relaxed) == 0)  // every thread writes the same number
    active_count::processors.store(static_cast<int>(heddle::runtime::current().workers()), std::memory_order_relaxed);
  active_count::awake.fetch_add(1);
}

}  // namespace heddle::omp
