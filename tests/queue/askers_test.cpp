// Requests with an address: who is served, in which order, and that each entry is had exactly once.
#include "queue/askers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "base/random.hpp"
#include "platform/platform.hpp"
#include "support/runtimes.hpp"

namespace askers_test {
namespace {

using heddle::queue::askers;
using heddle::queue::entry;
using heddle::queue::slot;
using ::testing::ElementsAre;

// Worker `self` of `workers`, with its queue.
struct office final : heddle::queue::fork_queue, askers::giver {
  office(unsigned workers, unsigned rank, std::size_t capacity)
      : all(workers), self(rank), memory(new slot[heddle::queue::slots_for(capacity)]{}) {
    heddle::queue::attach(*this, memory.get(), capacity);
  }
  bool may_give(unsigned asker) noexcept override { return refused.count(asker) == 0; }
  void given(unsigned asker) noexcept override {
    if (notes) served.push_back(asker);
  }
  bool put(entry item) {
    slot* position = bottom.load();
    position->store(item);
    bottom.store(position + 1);
    if (position + 1 < push_limit.load()) return true;
    const heddle::queue::slow_outcome outcome = heddle::queue::push(*this, position);
    if (outcome.published) all.answer(self, *this, *this);
    return outcome.done;
  }
  entry take() {
    bool published = false;
    const entry item = heddle::queue::take_newest(*this, published);
    if (published) all.answer(self, *this, *this);
    return item;
  }
  bool ask(unsigned asker) { return all.post(asker, self, *this); }
  entry box_of(unsigned rank) {
    unsigned from = 0;
    const entry item = all.take(rank, from);
    EXPECT_TRUE(item == 0 || from == self);
    return item;
  }

  askers all;
  const unsigned self;
  const std::unique_ptr<slot[]> memory;
  std::set<unsigned> refused;
  std::vector<unsigned> served;
  bool notes{true};
};

TEST(take_oldest, takes_public_and_private_entries_from_the_old_end) {
  office q(1, 0, 8);
  for (entry i = 1; i <= 5; ++i) q.put(i * 8);
  EXPECT_EQ(heddle::queue::size(q), 5u);
  heddle::queue::request(q);
  q.put(48);
  ASSERT_TRUE(heddle::queue::has_public(q));
  entry out[8];
  bool published = false;
  EXPECT_EQ(heddle::queue::take_oldest(q, out, 2, published), 2u);
  EXPECT_EQ(out[0], 8u);
  EXPECT_EQ(out[1], 16u);
  EXPECT_FALSE(heddle::queue::has_public(q));
  EXPECT_EQ(q.take(), 48u);
  EXPECT_EQ(heddle::queue::take_oldest(q, out, 8, published), 3u);
  EXPECT_EQ(out[2], 40u);
  EXPECT_FALSE(published);
  EXPECT_EQ(heddle::queue::size(q), 0u);
  EXPECT_EQ(heddle::queue::take_oldest(q, out, 8, published), 0u);
  EXPECT_EQ(q.take(), 0u);
  EXPECT_EQ(q.bottom.load(), q.base) << "begins at its base again, as after a theft";
}

TEST(take_oldest, answers_a_request_with_what_is_left) {
  office q(1, 0, 8);
  for (entry i = 1; i <= 3; ++i) q.put(i * 8);
  heddle::queue::request(q);
  entry out[8];
  bool published = false;
  EXPECT_EQ(heddle::queue::take_oldest(q, out, 1, published), 1u);
  EXPECT_TRUE(published);
  EXPECT_TRUE(heddle::queue::has_public(q));
}

TEST(askers, one_join_answers_them_all_oldest_first) {
  office q(8, 2, 16);
  for (entry i = 1; i <= 6; ++i) q.put(i * 8);
  for (const unsigned asker : {1u, 5u, 3u}) EXPECT_TRUE(q.ask(asker));
  EXPECT_FALSE(q.ask(5)) << "it stands there";
  EXPECT_EQ(q.all.count(2), 3u);
  EXPECT_TRUE(q.all.stands(5, 2));
  EXPECT_EQ(q.box_of(5), 0u) << "an owner answers at its next fork or join, not before";
  EXPECT_EQ(q.take(), 48u);
  EXPECT_EQ(q.all.count(2), 0u);
  EXPECT_THAT(q.served, ElementsAre(3, 5, 1)) << "from behind its own rank on";
  EXPECT_TRUE(q.all.has(3));
  EXPECT_EQ(q.box_of(3), 8u);
  EXPECT_FALSE(q.all.has(3));
  EXPECT_EQ(q.box_of(5), 16u);
  EXPECT_EQ(q.box_of(1), 24u);
  EXPECT_EQ(q.take(), 40u);
  EXPECT_EQ(q.take(), 32u);
  EXPECT_EQ(q.take(), 0u);
}

TEST(askers, a_request_stands_until_there_is_something) {
  office q(4, 0, 8);
  for (const unsigned asker : {1u, 2u, 3u}) q.ask(asker);
  q.put(8);
  EXPECT_THAT(q.served, ElementsAre(1));
  EXPECT_EQ(q.all.count(0), 2u);
  EXPECT_EQ(q.take(), 0u) << "it was given away";
  q.put(16);
  q.put(24);
  q.put(32);
  EXPECT_THAT(q.served, ElementsAre(1, 2, 3)) << "each push is a look at who asks";
  EXPECT_EQ(q.take(), 32u);
}

TEST(askers, a_request_may_be_taken_back) {
  office q(4, 0, 8);
  q.ask(1);
  q.ask(2);
  EXPECT_TRUE(q.all.withdraw(1, 0));
  EXPECT_FALSE(q.all.withdraw(1, 0));
  q.put(8);
  q.put(16);
  EXPECT_THAT(q.served, ElementsAre(2));
  EXPECT_FALSE(q.all.withdraw(2, 0)) << "answered";
}

TEST(askers, who_may_not_have_it_and_who_has_been_given_something_are_dropped) {
  office q(4, 0, 8);
  q.refused = {1};
  q.ask(1);
  q.ask(2);
  q.put(8);
  EXPECT_THAT(q.served, ElementsAre(2));
  EXPECT_EQ(q.all.count(0), 0u);
  q.ask(2);
  q.put(16);
  EXPECT_THAT(q.served, ElementsAre(2)) << "its box is full";
  EXPECT_EQ(q.all.count(0), 0u);
  EXPECT_EQ(q.box_of(2), 8u);
  EXPECT_EQ(q.take(), 16u);
}

TEST(askers, may_be_many) {
  constexpr unsigned workers = 1000;
  office q(workers, 130, 2 * workers);
  for (entry i = 1; i <= workers; ++i) q.put(i * 8);
  for (unsigned r = 0; r < workers; ++r) {
    if (r != q.self) q.ask(r);
  }
  EXPECT_EQ(q.all.count(q.self), workers - 1);
  EXPECT_EQ(q.take(), workers * 8);
  EXPECT_EQ(q.served.size(), workers - 1);
  EXPECT_EQ(q.served.front(), 131u);
  std::set<entry> had;
  for (unsigned r = 0; r < workers; ++r) {
    if (r != q.self) had.insert(q.box_of(r));
  }
  EXPECT_EQ(had.size(), workers - 1);
  EXPECT_EQ(had.count(0), 0u);
}

// An owner that pushes and takes at random; askers that look into their boxes, some of which ask and go away; and
// thieves that rob the queue and the boxes of others.
TEST(askers, every_entry_is_had_exactly_once) {
  constexpr unsigned workers = 5;
  const std::size_t items = 200'000u * static_cast<unsigned>(heddle_test::stress()) / (heddle_test::sanitized ? 10 : 1);
  office q(workers, 0, 64);
  q.notes = false;
  std::vector<std::atomic<int>> taken(items + 1);
  std::atomic<bool> over{false};
  std::atomic<std::size_t> given{0};
  std::vector<std::thread> crew;
  for (unsigned self = 1; self < workers; ++self) {
    crew.emplace_back([&, self] {
      heddle::base::random_source random(self);
      while (!over.load()) {
        entry item = 0;
        unsigned from = workers;
        switch (random.below(8)) {
          case 0: {
            bool left = false;
            item = heddle::queue::steal(q, left);
            break;
          }
          case 1: item = self == 1 ? heddle::queue::force_steal(q, heddle::platform::heavy_fence) : 0; break;
          case 2: item = q.all.take(random.below(workers), from); break;
          case 3:
            if (self == 2) static_cast<void>(q.all.withdraw(self, 0));
            break;
          default: q.ask(self); item = q.all.take(self, from);
        }
        if (item != 0) ++taken[item / 8];
        if (from == 0 && item != 0) given.fetch_add(1, std::memory_order_relaxed);
        if (random.below(512) == 0) std::this_thread::yield();
      }
    });
  }
  heddle::base::random_source random(99);
  std::size_t next = 1;
  while (given.load() == 0 && next <= items / 2) {  // until the crew is there
    if (q.put(next * 8)) ++next;
    else if (const entry item = q.take(); item != 0) ++taken[item / 8];
    if (next % 32 == 0) std::this_thread::yield();
  }
  while (next <= items) {
    const unsigned burst = random.below(12);
    for (unsigned i = 0; i < burst && next <= items; ++i) {
      if (q.put(next * 8)) ++next;
      else break;
    }
    for (unsigned i = random.below(12); i > 0; --i) {
      const entry item = random.below(8) == 0 ? 0 : q.take();
      if (item == 0) break;
      ++taken[item / 8];
    }
    if (random.below(16) == 0) {
      entry out[3];
      bool published = false;
      const unsigned count = heddle::queue::take_oldest(q, out, 3, published);
      for (unsigned i = 0; i < count; ++i) ++taken[out[i] / 8];
      if (published) q.all.answer(0, q, q);
      std::this_thread::yield();
    }
  }
  for (entry item = q.take(); item != 0; item = q.take()) ++taken[item / 8];
  over = true;
  for (auto& t : crew) t.join();
  for (unsigned r = 0; r < workers; ++r) {
    if (const entry item = q.box_of(r); item != 0) ++taken[item / 8];
  }
  std::size_t wrong = 0;
  for (std::size_t i = 1; i <= items; ++i) wrong += taken[i].load() != 1 ? 1 : 0;
  EXPECT_EQ(wrong, 0u);
}

}  // namespace
}  // namespace askers_test
