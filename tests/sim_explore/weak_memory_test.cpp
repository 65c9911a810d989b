// Tests of memory orders, with atomics that are weak: loads may return older values, as the C++ memory model permits
// (src/platform/sim/weak_memory.hpp). The first tests are of the model itself, on the small programs by which such
// models are distinguished. Then come the queue, the owner_lock, and how a worker falls asleep. Arguments:
// src/queue/proof.md, src/sync/README.md, src/sync/sleep.md.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <vector>

#include "platform/platform.hpp"
#include "queue/fork_queue.hpp"
#include "sync/owner_lock.hpp"
#include "tests/sim_explore/leaves.hpp"
#include "worker/runtime.hpp"

namespace heddle::sim {
namespace weak_memory_test {
namespace {

using enum std::memory_order;

using body = void (*)(void*);

void run_together(const std::vector<body>& bodies, void* data) {
  std::vector<platform::kernel_thread> all(bodies.size());
  for (std::size_t i = 0; i < all.size(); ++i) require(platform::start(all[i], bodies[i], data, "strand") == 0);
  for (auto& t : all) platform::join(t);
}

// --- the queue -----------------------------------------------------------------------------------------------------

// An owner and two thieves; whoever has an entry sees what its maker has written before it pushed it.
struct contest {
  static constexpr unsigned entries = 8;
  queue::fork_queue q;
  std::array<detail::slot, queue::slots_for(16)> memory{};
  std::array<std::atomic<unsigned>, entries> written{};  // weak
  std::array<std::atomic<int>, entries> had{};

  void have(detail::entry item) {
    if (item == 0) return;
    const auto i = static_cast<unsigned>(item / 8 - 1);
    require(written[i].load(relaxed) == i + 1);
    require(had[i].fetch_add(1, relaxed) == 0);
  }
};

// Pops after each push that `pops_after` names.
template <class Pops>
void own_as(void* data, Pops pops_after) {
  auto& c = *static_cast<contest*>(data);
  heddle_current_queue = &c.q;
  for (unsigned i = 0; i < contest::entries; ++i) {
    c.written[i].store(i + 1, relaxed);
    detail::push_or((i + 1) * 8, [](detail::fork_queue* q, detail::slot* position) {
      require(queue::push(*q, position).done);
      return position;
    });
    if (!pops_after(i)) continue;
    bool published = false;
    c.have(queue::take_newest(c.q, published));
  }
  bool published = false;
  while (const detail::entry item = queue::take_newest(c.q, published)) c.have(item);
  heddle_current_queue = nullptr;
}

void own(void* data) {
  own_as(data, [](unsigned i) { return i % 3 == 2; });
}
// The same slot again and again: what lay there before is a stale value of it.
void own_one_slot(void* data) {
  own_as(data, [](unsigned i) { return i % 4 != 3; });
}

void rob_by_force(void* data) {
  auto& c = *static_cast<contest*>(data);
  for (int i = 0; i < 10; ++i) c.have(queue::force_steal(c.q, platform::heavy_fence));
}
void rob(void* data) {
  auto& c = *static_cast<contest*>(data);
  for (int i = 0; i < 8; ++i) {
    bool left = false;
    if (i % 2 == 0) queue::request(c.q);
    c.have(queue::steal(c.q, left));
    if (i % 2 == 1) c.have(queue::force_steal(c.q, platform::heavy_fence));
  }
}

void had_once(const std::vector<body>& bodies) {
  contest c;
  queue::attach(c.q, c.memory.data(), 16);
  require(!queue::watch_every_fork(c.q, false));
  {
    const weakened limits(c.q), slots(c.memory), written(c.written);
    run_together(bodies, &c);
  }
  for (const auto& times : c.had) require(times.load() == 1);
}
void entries_are_had_once() { had_once({own, rob, rob}); }
void forced_entries_are_had_once() { had_once({own_one_slot, rob_by_force, rob_by_force}); }

// --- owner_lock ------------------------------------------------------------------------------------------------------

struct guarded {
  sync::owner_lock lock;
  std::atomic<int> value{0};  // weak
  int inside{0};

  void add() {
    require(++inside == 1);
    value.store(value.load(relaxed) + 1, relaxed);
    --inside;
  }
};

void enter(void* data) {
  auto& g = *static_cast<guarded*>(data);
  for (int i = 0; i < 4; ++i) {
    g.lock.enter();
    g.add();
    g.lock.leave();
  }
}

void visit(void* data) {
  auto& g = *static_cast<guarded*>(data);
  for (int i = 0; i < 2; ++i) {
    while (!g.lock.try_visit()) this_thread::pause();
    g.add();
    g.lock.end_visit();
  }
}

void one_at_a_time_is_inside() {
  guarded g;
  {
    const weakened lock(g.lock), value(g.value);
    run_together({enter, visit, visit}, &g);
  }
  require(g.value.load() == 8);
}

// --- a runtime
// ---------------------------------------------------------------------------------------------------------

// Queues, ready threads, and the numbers of sleepers and searchers.
struct weak_runtime {
  runtime home;
  std::vector<std::unique_ptr<weakened>> parts;

  explicit weak_runtime(std::size_t n) : home(workers(n)) {
    worker::runtime* inside = nullptr;
    on(home, [&] { inside = &worker::worker::current().home; });
    for (unsigned r = 0; r < n; ++r) {
      worker::worker& w = inside->at(r);
      add(static_cast<const detail::fork_queue*>(&w), sizeof(detail::fork_queue));
      add(w.base - 1, 64 * sizeof(detail::slot));
      add(&w.ready, sizeof w.ready);
    }
    add(&inside->sleepers().idle(), sizeof(sync::idle_set));
  }
  void add(const void* memory, std::size_t bytes) { parts.push_back(std::make_unique<weakened>(memory, bytes)); }
};

void forked_leaves_meet() {
  weak_runtime weak(3);
  forks(weak.home, 3);
}
void later_leaves_meet() {
  weak_runtime weak(3);
  later(weak.home, 3);
}
void threads_meet() {
  weak_runtime weak(3);
  threads(weak.home, 3);
}
void woken_threads_meet() {
  weak_runtime weak(3);
  woken(weak.home, 3);
}
// So small that workers fall asleep all the time.
void numbers_are_right() {
  weak_runtime weak(2);
  for (int i = 0; i < 3; ++i) {
    long value = 0;
    on(weak.home, [&] { value = fib(5); });
    require(value == 5);
  }
}

constexpr scenario scenarios[] = {{"entries are had once", entries_are_had_once},
                                  {"forced entries are had once", forced_entries_are_had_once},
                                  {"one at a time is inside", one_at_a_time_is_inside},
                                  {"forked leaves meet", forked_leaves_meet},
                                  {"later leaves meet", later_leaves_meet},
                                  {"threads meet", threads_meet},
                                  {"woken threads meet", woken_threads_meet},
                                  {"numbers are right", numbers_are_right}};

#if !defined(HEDDLE_MUTANT)

class weakly : public testing::TestWithParam<scenario> {};

TEST_P(weakly, ordered) { expect_right(GetParam().run); }

INSTANTIATE_TEST_SUITE_P(scenarios, weakly, testing::ValuesIn(scenarios), named);

// --- the model
// ---------------------------------------------------------------------------------------------------------

struct cells {
  std::atomic<int> x{0}, y{0};
  int r[4]{};
};
cells& of(void* data) { return *static_cast<cells*>(data); }

// Some schedule ends with what is asked for.
bool can_be(const std::vector<body>& bodies, bool (*seen)(const cells&)) {
  const verdict v = explore(
      [&] {
        cells c;
        {
          const weakened x(c.x), y(c.y);
          run_together(bodies, &c);
        }
        if (seen(c)) std::_Exit(9);
      },
      2000);
  EXPECT_TRUE(!v.failed || v.status == 9) << "schedule " << v.seed << " ended with status " << v.status;
  return v.failed;
}

// Store, then load the other one: both may see the old value unless something fences.
template <std::memory_order Store, std::memory_order Load, void (*First)(), void (*Second)()>
bool both_miss_each_other() {
  return can_be({[](void* d) {
                   of(d).x.store(1, Store);
                   First();
                   of(d).r[0] = of(d).y.load(Load);
                 },
                 [](void* d) {
                   of(d).y.store(1, Store);
                   Second();
                   of(d).r[1] = of(d).x.load(Load);
                 }},
                [](const cells& c) { return c.r[0] == 0 && c.r[1] == 0; });
}
void nothing() {}
void fence() { std::atomic_thread_fence(seq_cst); }
void light() { std::atomic_signal_fence(seq_cst); }

TEST(model, stores_are_delayed_but_for_fences) {
  EXPECT_TRUE((both_miss_each_other<relaxed, relaxed, nothing, nothing>()));
  EXPECT_TRUE((both_miss_each_other<release, acquire, nothing, nothing>()));
  EXPECT_TRUE((both_miss_each_other<relaxed, relaxed, fence, nothing>()));
  EXPECT_FALSE((both_miss_each_other<relaxed, relaxed, fence, fence>()));
  EXPECT_FALSE((both_miss_each_other<seq_cst, seq_cst, nothing, nothing>()));
}

TEST(model, a_heavy_fence_is_everybodys) {
  EXPECT_TRUE((both_miss_each_other<relaxed, relaxed, light, fence>()));
  EXPECT_FALSE((both_miss_each_other<relaxed, relaxed, light, platform::heavy_fence>()));
}

// Data, then a flag; who sees the flag sees the data if both sides say so.
template <std::memory_order Store, std::memory_order Load, void (*Before)(), void (*After)()>
bool the_data_is_missed() {
  return can_be({[](void* d) {
                   of(d).x.store(1, relaxed);
                   Before();
                   of(d).y.store(1, Store);
                 },
                 [](void* d) {
                   of(d).r[0] = of(d).y.load(Load);
                   After();
                   of(d).r[1] = of(d).x.load(relaxed);
                 }},
                [](const cells& c) { return c.r[0] == 1 && c.r[1] == 0; });
}
void release_fence() { std::atomic_thread_fence(release); }
void acquire_fence() { std::atomic_thread_fence(acquire); }

TEST(model, release_and_acquire_hand_on_what_was_seen) {
  EXPECT_TRUE((the_data_is_missed<relaxed, acquire, nothing, nothing>()));
  EXPECT_TRUE((the_data_is_missed<release, relaxed, nothing, nothing>()));
  EXPECT_FALSE((the_data_is_missed<release, acquire, nothing, nothing>()));
  EXPECT_TRUE((the_data_is_missed<relaxed, relaxed, release_fence, nothing>()));
  EXPECT_FALSE((the_data_is_missed<relaxed, relaxed, release_fence, acquire_fence>()));
}

TEST(model, a_strand_sees_a_word_in_one_order) {
  EXPECT_FALSE(can_be({[](void* d) {
                         of(d).x.store(1, relaxed);
                         of(d).x.store(2, relaxed);
                       },
                       [](void* d) {
                         of(d).r[0] = of(d).x.load(relaxed);
                         of(d).r[1] = of(d).x.load(relaxed);
                       }},
                      [](const cells& c) { return c.r[0] > c.r[1]; }));
}

TEST(model, a_release_sequence_goes_on_through_changes) {
  const auto missed = [](body between) {
    return can_be({[](void* d) {
                     of(d).x.store(1, relaxed);
                     of(d).y.store(1, release);
                   },
                   between,
                   [](void* d) {
                     of(d).r[0] = of(d).y.load(acquire);
                     of(d).r[1] = of(d).x.load(relaxed);
                   }},
                  [](const cells& c) { return c.r[0] == 2 && c.r[1] == 0; });
  };
  EXPECT_FALSE(missed([](void* d) {
    int expected = 1;
    of(d).y.compare_exchange_strong(expected, 2, relaxed);
  }));
  EXPECT_TRUE(missed([](void* d) {
    if (of(d).y.load(relaxed) == 1) of(d).y.store(2, relaxed);
  }));
}

// Two see the stores of two others in different orders, unless all is sequentially consistent.
template <std::memory_order Store, std::memory_order Load>
bool orders_differ() {
  return can_be({[](void* d) { of(d).x.store(1, Store); }, [](void* d) { of(d).y.store(1, Store); },
                 [](void* d) {
                   of(d).r[0] = of(d).x.load(Load);
                   of(d).r[1] = of(d).y.load(Load);
                 },
                 [](void* d) {
                   of(d).r[2] = of(d).y.load(Load);
                   of(d).r[3] = of(d).x.load(Load);
                 }},
                [](const cells& c) { return c.r[0] == 1 && c.r[1] == 0 && c.r[2] == 1 && c.r[3] == 0; });
}
TEST(model, there_is_one_order_of_what_is_sequentially_consistent) {
  EXPECT_TRUE((orders_differ<release, acquire>()));
  EXPECT_FALSE((orders_differ<seq_cst, seq_cst>()));
}

TEST(model, changes_are_lost_by_nobody) {
  const auto add = [](void* d) {
    for (int i = 0; i < 3; ++i) of(d).x.fetch_add(1, relaxed);
  };
  EXPECT_FALSE(can_be({add, add}, [](const cells& c) { return c.x.load(relaxed) != 6; }));
}

#else

TEST(weakly, some_schedule_shows_the_mistake) { expect_found(scenarios); }

#endif

}  // namespace
}  // namespace weak_memory_test
}  // namespace heddle::sim
