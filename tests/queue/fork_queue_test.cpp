// The fork queue under its owner and thieves: every entry is taken exactly
// once, by whom and in what order; with requests, forced steals and rewinding.
#include "queue/fork_queue.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "base/random.hpp"
#include "platform/platform.hpp"
#include "support/runtimes.hpp"

namespace fork_queue_test {
namespace {

using heddle::queue::entry;
using heddle::queue::slot;

struct owned_queue : heddle::queue::fork_queue {
  explicit owned_queue(std::size_t capacity) : memory(new slot[heddle::queue::slots_for(capacity)]{}) {
    heddle::queue::attach(*this, memory.get(), capacity);
  }
  std::unique_ptr<slot[]> memory;

  bool put(entry item, unsigned most = 1) {
    slot* position = bottom.load();
    position->store(item);
    bottom.store(position + 1);
    return position + 1 < push_limit.load() || heddle::queue::push(*this, position, most).done;
  }
  entry take() {
    bool published = false;
    return heddle::queue::take_newest(*this, published);
  }
};

TEST(fork_queue, owner_gets_the_newest) {
  owned_queue q(8);
  EXPECT_EQ(q.take(), 0u);
  for (entry i = 1; i <= 8; ++i) EXPECT_TRUE(q.put(i * 8));
  EXPECT_FALSE(q.put(72)) << "a full queue refuses";
  for (entry i = 8; i >= 1; --i) EXPECT_EQ(q.take(), i * 8);
  EXPECT_EQ(q.take(), 0u);
}

TEST(fork_queue, private_entries_are_not_stolen_but_given_on_request) {
  owned_queue q(8);
  bool left = false;
  q.put(8);
  q.put(16);
  EXPECT_EQ(heddle::queue::steal(q, left), 0u);
  heddle::queue::request(q);
  EXPECT_EQ(heddle::queue::steal(q, left), 0u) << "a request is answered at the next fork or join, not before";
  q.put(24);
  EXPECT_EQ(heddle::queue::steal(q, left), 8u) << "the oldest one";
  EXPECT_FALSE(left);
  EXPECT_EQ(heddle::queue::steal(q, left), 0u) << "one request, one entry";
  heddle::queue::request(q);
  EXPECT_EQ(q.take(), 24u) << "a join answers, too";
  EXPECT_EQ(heddle::queue::steal(q, left), 16u);
  EXPECT_EQ(q.take(), 0u);
}

TEST(fork_queue, several_entries_are_shown_and_taken_at_once) {
  owned_queue q(16);
  bool left = false;
  entry taken[8] = {};
  for (entry i = 1; i <= 8; ++i) q.put(i * 8);
  EXPECT_EQ(heddle::queue::steal_several(q, taken, 8, left), 0u) << "they are private";
  heddle::queue::request(q);
  slot* const position = q.bottom.load();
  position->store(72);
  q.bottom.store(position + 1);
  EXPECT_TRUE(heddle::queue::push(q, position, 5).published);
  EXPECT_EQ(heddle::queue::steal_several(q, taken, 3, left), 3u);
  EXPECT_TRUE(left);
  EXPECT_EQ(taken[0], 8u);
  EXPECT_EQ(taken[2], 24u);
  EXPECT_EQ(heddle::queue::steal_several(q, taken, 8, left), 2u) << "no more than are public";
  EXPECT_FALSE(left);
  EXPECT_EQ(taken[1], 40u);
  for (entry i = 9; i >= 6; --i) EXPECT_EQ(q.take(), i * 8);
  EXPECT_EQ(q.take(), 0u);
}

TEST(fork_queue, a_request_to_an_empty_queue_stands) {
  owned_queue q(8);
  bool left = false;
  heddle::queue::request(q);
  q.put(8);
  EXPECT_TRUE(heddle::queue::has_public(q)) << "the first fork publishes";
  EXPECT_EQ(q.take(), 8u) << "and the owner may still take it back";
  EXPECT_EQ(heddle::queue::steal(q, left), 0u);
}

TEST(fork_queue, an_owner_that_stands_in_for_sleepers_shows_an_entry_a_push) {
  owned_queue q(8);
  bool left = false;
  for (entry i = 1; i <= 3; ++i) {
    heddle::queue::stand(q);
    q.put(i * 8);
    EXPECT_FALSE(q.requested.load());
  }
  q.put(32);
  for (entry i = 1; i <= 3; ++i) EXPECT_EQ(heddle::queue::steal(q, left), i * 8);
  EXPECT_EQ(heddle::queue::steal(q, left), 0u);
  EXPECT_EQ(q.take(), 32u);
}

// Whoever switches has to announce it: the thief that asked may be asleep.
TEST(fork_queue, switching_what_is_watched_tells_of_an_answered_request) {
  owned_queue q(8);
  EXPECT_FALSE(heddle::queue::watch_every_fork(q, true));
  EXPECT_FALSE(heddle::queue::watch_every_fork(q, false));
  q.put(8);
  heddle::queue::request(q);
  EXPECT_TRUE(heddle::queue::watch_every_fork(q, true));
  EXPECT_TRUE(heddle::queue::has_public(q));
}

TEST(fork_queue, force_takes_the_oldest_private_entry) {
  owned_queue q(8);
  for (entry i = 1; i <= 3; ++i) q.put(i * 8);
  EXPECT_EQ(heddle::queue::force_steal(q, heddle::platform::heavy_fence), 8u);
  EXPECT_EQ(heddle::queue::force_steal(q, heddle::platform::heavy_fence), 16u);
  EXPECT_EQ(q.take(), 24u);
  EXPECT_EQ(q.take(), 0u);
  EXPECT_EQ(heddle::queue::force_steal(q, heddle::platform::heavy_fence), 0u);
  EXPECT_TRUE(q.put(32));
  EXPECT_EQ(q.bottom.load(), q.base + 1) << "an empty queue begins at its base again";
}

// An owner that pushes and takes at random against thieves of all kinds.
// A fork that a policy may make a task of, seen between its push and its slow path.
TEST(fork_queue, force_leaves_a_fork_that_is_held_back) {
  owned_queue q(8);
  const auto force = [&] { return heddle::queue::force_steal(q, heddle::platform::heavy_fence); };
  const auto push_unseen = [&](entry item) {
    slot* position = q.bottom.load();
    position->store(item);
    q.bottom.store(position + 1);
    return position;
  };
  q.put(8);
  heddle::queue::keep_next(q);
  slot* const held = push_unseen(16);
  EXPECT_EQ(force(), 8u) << "what was there before is taken";
  EXPECT_EQ(force(), 0u);
  q.bottom.store(held);
  EXPECT_TRUE(heddle::queue::pop(q, held).done) << "and is its owner's for certain";
  heddle::queue::keep_next(q);
  EXPECT_TRUE(heddle::queue::push(q, push_unseen(24)).done) << "an ordinary fork after all";
  EXPECT_EQ(force(), 24u);
  heddle::queue::keep_next(q);
  push_unseen(32);
  heddle::queue::keep_none(q);
  EXPECT_EQ(force(), 32u);
}

TEST(fork_queue, every_entry_is_taken_exactly_once) {
  constexpr int thieves = 3;
  const std::size_t items = 200'000u * static_cast<unsigned>(heddle_test::stress()) / (heddle_test::sanitized ? 10 : 1);
  owned_queue q(64);
  std::vector<std::atomic<int>> taken(items + 1);
  std::atomic<bool> over{false};
  std::vector<std::thread> crew;
  for (int k = 0; k < thieves; ++k) {
    crew.emplace_back([&, k] {
      heddle::base::random_source random(static_cast<unsigned>(k));
      while (!over.load()) {
        bool left = false;
        entry several[8];
        const unsigned count = heddle::queue::steal_several(q, several, 1 + random.below(8), left);
        for (unsigned i = 1; i < count; ++i) ++taken[several[i] / 8];
        entry item = count != 0 ? several[0] : 0;
        if (item == 0 && random.below(4) == 0) heddle::queue::request(q);
        if (item == 0 && random.below(64) == 0) item = heddle::queue::force_steal(q, heddle::platform::heavy_fence);
        if (item != 0) ++taken[item / 8];
        if (random.below(512) == 0) std::this_thread::yield();
      }
    });
  }
  heddle::base::random_source random(99);
  std::size_t next = 1;
  while (next <= items) {
    const unsigned burst = random.below(12);
    for (unsigned i = 0; i < burst && next <= items; ++i) {
      if (q.put(next * 8, 1 + random.below(4))) ++next;
      else break;
    }
    for (unsigned i = random.below(12); i > 0; --i) {
      const entry item = q.take();
      if (item == 0) break;
      ++taken[item / 8];
    }
  }
  for (entry item = q.take(); item != 0; item = q.take()) ++taken[item / 8];
  over = true;
  for (auto& t : crew) t.join();
  std::size_t wrong = 0;
  for (std::size_t i = 1; i <= items; ++i) wrong += taken[i].load() != 1 ? 1 : 0;
  EXPECT_EQ(wrong, 0u);
}

}  // namespace
}  // namespace fork_queue_test
