// The places of a gang's members, and the workers that they leave to others.
#include <heddle/detail/gang.hpp>
#include <heddle/semaphore.hpp>
#include <heddle/team.hpp>
#include <heddle/thread.hpp>

#include <gtest/gtest.h>

#include <unistd.h>

#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "support/preemption.hpp"
#include "support/spinning_barrier.hpp"

namespace team_members_test {
namespace {

using heddle_test::spinning_barrier;

heddle::team_options in(heddle::runtime& where, unsigned threads = 0) {
  heddle::team_options o;
  o.where = &where;
  o.threads = threads;
  return o;
}

heddle::thread_options at(heddle::runtime& where) {
  heddle::thread_options o;
  o.where = &where;
  return o;
}

// A pinned thread's seat is where it is pinned to, and it is pinned there afterwards.
TEST(seats, of_pinned_threads) {
  heddle::runtime home(heddle_test::options_for(3));
  const std::unique_ptr<heddle::detail::gang_handle, void (*)(heddle::detail::gang_handle*)> g(
      heddle::detail::make_gang(&home, 3), [](heddle::detail::gang_handle* all) { heddle::detail::free_gang(all); });
  for (int round = 0; round < 20; ++round) {
    heddle::detail::begin_gang(g.get(), 3);
    spinning_barrier step(3);
    std::atomic<unsigned> ranks{0};
    std::vector<heddle::thread> all;
    for (unsigned i = 0; i < 3; ++i) {
      heddle::thread_options o = at(home);
      if (i == 1) o.worker = 2;
      all.emplace_back(o, [&, i] {
        heddle::detail::enter_gang(g.get(), i);
        step();
        if (i == 1) {
          EXPECT_EQ(home.worker_rank(), 2);
        }
        ranks.fetch_or(1u << home.worker_rank());
        step();
        heddle::detail::leave_gang();
        heddle::this_thread::yield();
        if (i == 1) {
          EXPECT_EQ(home.worker_rank(), 2);
        }
      });
    }
    for (heddle::thread& t : all) t.join();
    EXPECT_EQ(ranks.load(), 7u);
  }
}

// The last one to come runs on the worker of one that is pinned there, and stands before it in the gang.
TEST(seats, who_enters_last_leaves_the_worker_to_who_is_pinned) {
  heddle::runtime home(heddle_test::options_for(2));
  const std::unique_ptr<heddle::detail::gang_handle, void (*)(heddle::detail::gang_handle*)> g(
      heddle::detail::make_gang(&home, 2), [](heddle::detail::gang_handle* all) { heddle::detail::free_gang(all); });
  heddle::detail::begin_gang(g.get(), 2);
  spinning_barrier step(2);
  std::atomic<bool> kept{false}, begun{false}, here{false};
  const auto until = [](const std::atomic<bool>& flag) {
    while (!flag.load()) std::this_thread::yield();
  };
  heddle::thread_options to_0 = at(home), to_1 = at(home);
  to_0.worker = 0;
  to_1.worker = 1;
  heddle::thread keeper(to_0, [&] {
    kept.store(true);
    until(here);
  });
  until(kept);
  heddle::thread pinned(to_1, [&] {
    begun.store(true);
    heddle::detail::enter_gang(g.get(), 1);
    EXPECT_EQ(home.worker_rank(), 1);
    step();
    heddle::detail::leave_gang();
  });
  until(begun);
  heddle::thread last(at(home), [&] {
    EXPECT_EQ(home.worker_rank(), 1);  // the pinned one has given it away: it is in the gang, and waits
    here.store(true);
    heddle::detail::enter_gang(g.get(), 0);
    EXPECT_EQ(home.worker_rank(), 0);
    step();
    heddle::detail::leave_gang();
  });
  last.join();
  pinned.join();
  keeper.join();
}

// A thread that leads a nested gang, and goes back to its own.
TEST(seats, of_leaders) {
  for (const unsigned workers : {1u, 2u, 3u}) {
    heddle::runtime home(heddle_test::options_for(workers));
    heddle::team outer(in(home));
    spinning_barrier last(outer.size());
    outer.run([&](heddle::team_member& self) {
      for (int round = 0; round < 5; ++round) {
        heddle::detail::gang_handle* const g = heddle::detail::make_gang(&home, workers);
        heddle::detail::begin_gang(g, workers);
        spinning_barrier step(workers);
        std::vector<heddle::thread> others;
        for (unsigned i = 1; i < workers; ++i) {
          others.emplace_back(at(home), [&, i] {
            heddle::detail::enter_gang(g, i);
            step();
            heddle::detail::leave_gang();
          });
        }
        heddle::detail::enter_gang(g, 0);
        step();
        heddle::detail::leave_gang();
        for (heddle::thread& t : others) t.join();
        heddle::detail::free_gang(g);
      }
      self.meet();
      last();
    });
  }
}

// [gang:8]: a thread of a gang becomes ready at a worker that something else keeps, and another worker sleeps.
class beside_a_sleeper : public ::testing::Test {
 protected:
  static void until(const std::atomic<bool>& flag) {
    while (!flag.load()) std::this_thread::yield();
  }
  static void until_known(const std::atomic<int>& number) {
    while (number.load() < 0) std::this_thread::yield();
  }
  static heddle::runtime_options four() {
    heddle::runtime_options o;
    o.workers = 4;
    o.bind = "off";
    return o;
  }
  // Keeps its worker, and no processor.
  void keep() {
    while (!over_.load()) usleep(1000);
  }
  // A team of two: member 0 waits for the semaphore.
  std::thread gang(heddle::semaphore& wait, std::atomic<int>& waiter_at, std::atomic<bool>& went_on,
                   const std::function<void()>& other) {
    return std::thread([this, &wait, &waiter_at, &went_on, other] {
      heddle::team_options o;
      o.threads = 2;
      o.where = &rt;
      heddle::team t(o);
      t.run([&](heddle::team_member& m) {
        if (m.number() != 0) return other();
        waiter_at.store(rt.worker_rank());
        wait.acquire();
        went_on.store(true);
      });
    });
  }
  heddle::thread pinned(int rank, std::function<void()> body) {
    heddle::thread_options o;
    o.worker = static_cast<unsigned>(rank);
    o.where = &rt;
    return heddle::thread(o, std::move(body));
  }

  heddle::runtime rt{four()};
  std::atomic<bool> over_{false};
};

// Both tests hang where they fail, until the watchdog of all tests ends them.
TEST_F(beside_a_sleeper, who_is_woken_and_finds_something_else_passes_it_on) {
  for (int round = 0; round < 20; ++round) {
    over_.store(false);
    heddle::semaphore wait(0), also(0);
    std::atomic<int> at{-1}, other_at{-1};
    std::atomic<bool> went_on{false}, kept{false}, pinned_there{false};
    std::thread g = gang(wait, at, went_on, [&] {
      other_at.store(rt.worker_rank());
      keep();
    });
    until_known(at);
    until_known(other_at);
    int free = 0;
    while (free == at.load() || free == other_at.load()) ++free;
    heddle::thread keeper = pinned(at.load(), [&] {
      kept.store(true);
      keep();
    });
    until(kept);
    heddle::thread found_instead = pinned(free, [&] {
      pinned_there.store(true);
      also.acquire();
      keep();
    });
    until(pinned_there);
    wait.release();
    also.release();
    until(went_on);  // on the one worker that has nothing
    over_.store(true);
    keeper.join();
    found_instead.join();
    g.join();
  }
}

TEST_F(beside_a_sleeper, who_gives_up_a_seat_looks_for_those_that_may_have_the_worker) {
  heddle::semaphore wait(0), wait_of_other(0), park(0);
  std::atomic<int> at{-1}, other_at{-1}, seat_at{-1}, leaver_at{-1};
  std::atomic<bool> went_on{false}, other_went_on{false}, kept{false}, leaves{false}, left{false};
  std::thread g = gang(wait, at, went_on, [&] {
    other_at.store(rt.worker_rank());
    keep();
  });
  until_known(at);
  until_known(other_at);
  // Of a second gang one waits, at the fourth worker, and one keeps the third.
  std::thread h = gang(wait_of_other, seat_at, other_went_on, [&] {
    leaver_at.store(rt.worker_rank());
    while (!leaves.load()) usleep(1000);
    heddle::thread instead = pinned(rt.worker_rank(), [&] {
      left.store(true);
      keep();
    });
    park.acquire();  // the gang is put off; what is pinned has the worker
    instead.join();
  });
  until_known(seat_at);
  until_known(leaver_at);
  heddle::thread keeper = pinned(at.load(), [&] {
    kept.store(true);
    keep();
  });
  until(kept);
  wait.release();
  leaves.store(true);
  until(left);
  until(went_on);
  over_.store(true);
  wait_of_other.release();
  park.release();
  keeper.join();
  g.join();
  h.join();
}

}  // namespace
}  // namespace team_members_test
