// Requests with an address, under schedules that differ at every atomic operation: on a queue and its askers alone, and
// in a runtime whose thieves ask by name. Argument: src/queue/README.md, [ask:1] to [ask:6].
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "queue/askers.hpp"
#include "tests/sim_explore/leaves.hpp"
#include "tests/support/asking_policy.hpp"

namespace heddle::sim {
namespace asking_test {
namespace {

// --- a queue alone -----------------------------------------------------------------------------------------------

// Worker 0 owns the queue. The others ask it, and may do something else then.
struct office final : queue::askers::giver {
  static constexpr unsigned workers = 4;
  static constexpr unsigned entries = 8;
  queue::fork_queue q;
  std::array<detail::slot, queue::slots_for(entries)> memory{};
  queue::askers all{workers};
  std::array<std::atomic<int>, entries> had{};
  std::atomic<unsigned> posted{0}, served{0};
  unsigned next{0};  // the owner's

  office() {
    queue::attach(q, memory.data(), entries);
    require(!queue::watch_every_fork(q, false));
  }
  bool may_give(unsigned) noexcept override { return true; }
  void given(unsigned) noexcept override { served.fetch_add(1); }

  void have(detail::entry item) {
    if (item != 0) require(had[item / 8 - 1].fetch_add(1) == 0);
  }
  void look_into(unsigned box) {
    unsigned from = workers;
    const detail::entry item = all.take(box, from);
    if (item != 0) require(from == 0);
    have(item);
  }
  // The inline parts of a push and a pop, and the functions that their slow paths call.
  void push() {
    detail::slot* position = q.bottom.load();
    position->store(++next * 8);
    q.bottom.store(position + 1);
    if (position + 1 < q.push_limit.load()) return;
    const queue::slow_outcome outcome = queue::push(q, position);
    require(outcome.done);
    if (outcome.published) all.answer(0, q, *this);
  }
  void pop() {
    bool published = false;
    have(queue::take_newest(q, published));
    if (published) all.answer(0, q, *this);
  }
  void end() {
    bool published = false;
    while (const detail::entry item = queue::take_newest(q, published)) have(item);
    for (unsigned box = 0; box < workers; ++box) look_into(box);
    for (unsigned i = 0; i < entries; ++i) require(had[i].load() == (i < next ? 1 : 0));
  }
};

struct visitor {
  office* at;
  unsigned rank;
};
void ask_once(void* data) {
  const auto& [at, rank] = *static_cast<visitor*>(data);
  require(at->all.post(rank, 0, at->q));
  at->posted.fetch_add(1);
}
void ask_again(void* data) {
  const auto& [at, rank] = *static_cast<visitor*>(data);
  require(at->all.post(rank, 0, at->q));
  at->posted.fetch_add(1);
  while (!at->all.has(rank)) {
    at->all.post(rank, 0, at->q);
    this_thread::pause();
  }
  require(!at->all.stands(rank, 0));
  at->look_into(rank);
}
void ask_and_look(void* data) {
  const auto& [at, rank] = *static_cast<visitor*>(data);
  for (int i = 0; i < 3; ++i) {
    at->all.post(rank, 0, at->q);
    at->look_into(rank);
  }
  at->all.withdraw(rank, 0);
}
void rob_boxes(void* data) {
  const auto& [at, rank] = *static_cast<visitor*>(data);
  for (int i = 0; i < 3; ++i) {
    for (unsigned box = 1; box < office::workers; ++box) at->look_into(box);
    bool left = false;
    at->have(queue::steal(at->q, left));
    if (i == 1) at->have(queue::force_steal(at->q, platform::heavy_fence));
  }
}

void rob_queue(void* data) {
  const auto& [at, rank] = *static_cast<visitor*>(data);
  for (int i = 0; i < 8; ++i) {
    bool left = false;
    at->have(queue::steal(at->q, left));
  }
  at->posted.fetch_add(1);
}

using visit = void (*)(void*);
void with_visitors(office& at, std::array<visit, 3> visits, void (*own)(office&)) {
  std::array<visitor, 3> who{{{&at, 1}, {&at, 2}, {&at, 3}}};
  std::array<platform::kernel_thread, 3> threads;
  for (unsigned i = 0; i < 3; ++i) require(platform::start(threads[i], visits[i], &who[i], "visitor") == 0);
  own(at);
  for (auto& t : threads) platform::join(t);
  at.end();
}

// As many entries as askers: each of them is given one, whenever it has asked; those for whom there is none yet wait
// for the next push, which cannot miss them.
void all_are_served() {
  office at;
  with_visitors(at, {ask_once, ask_once, ask_once}, [](office& o) {
    o.push();
    o.pop();
    while (o.posted.load() < 3) this_thread::pause();
    for (int i = 0; i < 4; ++i) o.push();
    require(o.served.load() == 3);
  });
}
// The entries are there, the askers come, and one join answers them all.
void all_at_once() {
  office at;
  with_visitors(at, {ask_once, ask_once, ask_once}, [](office& o) {
    for (int i = 0; i < 5; ++i) o.push();
    while (o.posted.load() < 3) this_thread::pause();
    o.pop();
    require(o.served.load() == 3 && o.all.count(0) == 0);
  });
}
// An impatient asker still has only one request.
void one_answer_each() {
  office at;
  with_visitors(at, {ask_again, ask_again, ask_again}, [](office& o) {
    while (o.posted.load() < 3) this_thread::pause();
    for (int i = 0; i < 4; ++i) o.push();
    require(o.served.load() == 3);
  });
}
// The entry that was meant for an asker is stolen before it is given, so the request stands.
void a_thief_is_quicker() {
  office at;
  with_visitors(at, {ask_once, ask_once, rob_queue}, [](office& o) {
    for (int i = 0; i < 5; ++i) o.push();
    while (o.posted.load() < 3) this_thread::pause();
    for (int i = 0; i < 3; ++i) o.push();
    require(o.served.load() == 2);
  });
}
void askers_and_robbers() {
  office at;
  with_visitors(at, {ask_and_look, ask_and_look, rob_boxes}, [](office& o) {
    for (int i = 0; i < 8; ++i) {
      o.push();
      if (i % 3 == 2) o.pop();
    }
  });
}

// --- in a runtime --------------------------------------------------------------------------------------------------

runtime_options options(const char* policy, std::size_t n) {
  runtime_options o = workers(n);
  o.policy = policy;
  return o;
}

// Only worker 0 is robbed, by one that asks and one that does not: who is given something is woken, and not the other.
void only_one_may_take_it() {
  runtime home(options("asking_one", 3));
  for (int i = 0; i < 3; ++i) {
    on(home, [] {
      if (worker::worker::current().rank != 0) return;
      meeting leaf(2);
      chain(2, leaf);
    });
  }
}
void leaves_meet() {
  runtime home(options("asking", 3));
  forks(home, 3);
}
void leaves_meet_later() {
  runtime home(options("asking", 4));
  later(home, 3);
}
// Whoever asks has found something else when it is answered: a thread of its own.
void found_something_else() {
  runtime home(options("asking", 3));
  on(home, [] {
    meeting leaf(3);
    thread other([] { this_thread::yield(); });
    tree(3, leaf);
    other.join();
  });
}

constexpr scenario scenarios[] = {{"all are served", all_are_served},
                                  {"all at once", all_at_once},
                                  {"one answer each", one_answer_each},
                                  {"a thief is quicker", a_thief_is_quicker},
                                  {"askers and robbers", askers_and_robbers},
                                  {"only one may take it", only_one_may_take_it},
                                  {"leaves meet", leaves_meet},
                                  {"leaves meet later", leaves_meet_later},
                                  {"found something else", found_something_else}};

#if !defined(HEDDLE_MUTANT)

class asked : public testing::TestWithParam<scenario> {};

TEST_P(asked, and_answered) {
  heddle_test::add_asking_policies();
  expect_right(GetParam().run);
}

INSTANTIATE_TEST_SUITE_P(scenarios, asked, testing::ValuesIn(scenarios), named);

TEST(asked, as_many_leaves_as_workers_meet) {
  heddle_test::add_asking_policies();
  for (const shape& s : shapes) {
    for (const auto& [there, leaves] : {std::pair{3, 3}, {4, 4}, {4, 3}}) {
      const verdict v = explored(s, "asking", there, leaves, schedules() / 10);
      EXPECT_FALSE(v.failed) << s.name << ", " << leaves << " leaves on " << there << " workers: schedule " << v.seed
                             << " ended with status " << v.status;
    }
  }
}

#else

TEST(asked, some_schedule_shows_the_mistake) {
  heddle_test::add_asking_policies();
  expect_found(scenarios);
}

#endif

}  // namespace
}  // namespace asking_test
}  // namespace heddle::sim
