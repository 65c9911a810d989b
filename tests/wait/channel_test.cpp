// channel: every value once and in order, capacity, closing, time limits.
#include <heddle/channel.hpp>

#include <algorithm>
#include <atomic>
#include <memory>
#include <numeric>
#include <string>

#include "support/waiting.hpp"

namespace channel_test {
namespace {

using namespace std::chrono_literals;

class channels : public heddle_test::waiting {};

TEST_P(channels, every_value_arrives_once_and_in_its_senders_order) {
  for (std::size_t capacity : {std::size_t{0}, std::size_t{1}, std::size_t{7}, heddle::channel<int>::unbounded}) {
    heddle::channel<int> c(capacity);
    constexpr int senders = 4, receivers = 4;
    const int each = 200 * heddle_test::stress();
    std::atomic<int> still_sending{senders};
    std::vector<std::vector<int>> got(receivers);
    together(6, 2, [&](int i) {
      heddle_test::chance dice(i);
      if (i % 2 == 0) {
        for (int k = 0; k < each; ++k) {
          EXPECT_TRUE(c.send(i / 2 * each + k));
          dice.maybe_yield();
        }
        if (--still_sending == 0) c.close();
      } else {
        for (int value : c) {
          got[i / 2].push_back(value);
          dice.maybe_yield();
        }
      }
      progress();
    });
    std::vector<int> seen(senders * each, 0);
    for (const auto& list : got) {
      std::vector<int> last(senders, -1);
      for (int value : list) {
        ++seen[value];
        EXPECT_LT(last[value / each], value % each);
        last[value / each] = value % each;
      }
    }
    EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), senders * each);
  }
}

TEST_P(channels, a_send_waits_for_room) {
  heddle::channel<int> c(2);
  run([&] {
    EXPECT_TRUE(c.try_send(1));
    EXPECT_TRUE(c.send(2));
    EXPECT_FALSE(c.try_send(3));
    std::atomic<bool> sent{false};
    heddle::thread sender([&] {
      EXPECT_TRUE(c.send(3));
      sent = true;
    });
    for (int i = 0; i < 20; ++i) heddle::this_thread::yield();
    EXPECT_FALSE(sent.load());
    EXPECT_EQ(c.size(), 2u);
    EXPECT_EQ(c.receive(), 1);
    sender.join();
    EXPECT_EQ(c.receive(), 2);
    EXPECT_EQ(c.receive(), 3);
    EXPECT_EQ(c.try_receive(), std::nullopt);
  });
}

TEST_P(channels, without_capacity_a_send_waits_for_its_receiver) {
  heddle::channel<std::string> c(0);
  run([&] {
    EXPECT_FALSE(c.try_send("nobody is there"));
    bool received = false;
    heddle::thread receiver([&] {
      heddle::this_thread::yield();
      auto text = c.receive();
      received = text == "a message that is long enough to be on the heap";
    });
    EXPECT_TRUE(c.send("a message that is long enough to be on the heap"));
    EXPECT_EQ(c.size(), 0u);
    receiver.join();
    EXPECT_TRUE(received);
  });
}

TEST_P(channels, closing_ends_waits_and_keeps_what_was_sent) {
  heddle::channel<int> c(3), empty(0);
  run([&] {
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(c.send(i));
    std::vector<heddle::thread> all;
    std::atomic<int> refused{0}, ended{0};
    for (int i = 0; i < 3; ++i) {
      all.emplace_back([&] { refused += !c.send(99); });
      all.emplace_back([&] { ended += !empty.receive().has_value(); });
    }
    for (int i = 0; i < 10; ++i) heddle::this_thread::yield();
    c.close();
    empty.close();
    c.close();
    for (auto& t : all) t.join();
    EXPECT_EQ(refused.load(), 3);
    EXPECT_EQ(ended.load(), 3);
    EXPECT_TRUE(c.is_closed());
    EXPECT_FALSE(c.send(4));
    EXPECT_FALSE(c.try_send(4));
    for (int i = 0; i < 3; ++i) EXPECT_EQ(c.receive(), i);
    EXPECT_EQ(c.receive(), std::nullopt);
    EXPECT_EQ(c.try_receive_for(1h), std::nullopt);
  });
}

TEST_P(channels, a_time_limit_ends_the_wait_and_gives_the_value_back) {
  heddle::channel<std::unique_ptr<int>> c(1);
  together(2, 1, [&](int) { EXPECT_EQ(c.try_receive_for(1ms), std::nullopt); });
  EXPECT_TRUE(c.send(std::make_unique<int>(1)));
  together(2, 1, [&](int i) {
    auto value = std::make_unique<int>(i);
    EXPECT_FALSE(c.try_send_for(std::move(value), 1ms));
    ASSERT_NE(value, nullptr);
    EXPECT_EQ(*value, i);
    EXPECT_FALSE(c.try_send(std::move(value)));
    EXPECT_NE(value, nullptr);
  });
  EXPECT_EQ(**c.try_receive_until(std::chrono::system_clock::now() + 1h), 1);
}

TEST_P(channels, time_limits_and_values_compete) {
  for (std::size_t capacity : {std::size_t{0}, std::size_t{2}}) {
    heddle::channel<int> c(capacity);
    std::atomic<long> sent{0}, received{0};
    together(6, 2, [&](int i) {
      heddle_test::chance dice(i);
      for (int k = 0; k < 200 * heddle_test::stress(); ++k) {
        const auto limit = std::chrono::microseconds(dice.below(30));
        if (i % 2 == 0) {
          if (c.try_send_for(int{k}, limit)) sent += k;
        } else if (auto value = c.try_receive_for(limit)) {
          received += *value;
        }
      }
      progress();
    });
    while (auto value = c.try_receive()) received += *value;
    EXPECT_EQ(sent.load(), received.load());
  }
}

TEST_P(channels, a_stop_ends_waits_and_gives_the_value_back) {
  heddle::channel<int> empty(4);
  heddle::channel<std::string> full(1);
  EXPECT_TRUE(full.send("first"));
  std::stop_source stop;
  std::atomic<int> ended{0};
  together(4, 2, [&](int i) {
    if (i == 5) {
      stop.request_stop();
    } else if (i % 2 == 0) {
      EXPECT_EQ(i == 0 ? empty.receive(stop.get_token()) : empty.try_receive_for(1h, stop.get_token()), std::nullopt);
      ++ended;
    } else {
      std::string value = "a value that is long enough to be on the heap";
      EXPECT_FALSE(i == 1 ? full.send(std::move(value), stop.get_token())
                          : full.try_send_for(std::move(value), 1h, stop.get_token()));
      EXPECT_EQ(value, "a value that is long enough to be on the heap");
      ++ended;
    }
    progress();
  });
  EXPECT_EQ(ended.load(), 5);
  EXPECT_FALSE(empty.send(3, stop.get_token())) << "there is room, but the stop counts first";
  EXPECT_TRUE(empty.send(3));
  EXPECT_EQ(empty.receive(stop.get_token()), std::nullopt) << "a value is there, but the stop counts first";
  EXPECT_EQ(empty.receive(), 3);
  EXPECT_EQ(full.receive(), "first");
}

// Neither loop ever has to wait for long, so the looks before their waits are what ends them.
TEST_P(channels, a_stop_ends_loops_that_need_not_wait) {
  run([&] {
    heddle::channel<int> c(heddle::channel<int>::unbounded);
    std::stop_source stop;
    heddle::latch under_way(2);
    heddle::jthread sender([&] {
      for (int sent = 0; c.send(int{sent}, stop.get_token()); ++sent) {
        if (sent == 100) under_way.count_down();
        if (sent % 100 == 99) heddle::this_thread::yield();
      }
    });
    heddle::jthread receiver([&] {
      int received = 0;
      while (c.receive(stop.get_token())) {
        if (++received == 100) under_way.count_down();
      }
    });
    under_way.wait();
    stop.request_stop();
    sender.join();
    receiver.join();
    progress();
  });
}

TEST_P(channels, stops_and_values_compete) {
  for (std::size_t capacity : {std::size_t{0}, std::size_t{2}}) {
    heddle::channel<int> c(capacity);
    std::atomic<long> sent{0}, received{0};
    for (int round = 0; round < 20 * heddle_test::stress(); ++round) {
      std::stop_source stop;
      together(4, 1, [&](int i) {
        heddle_test::chance dice(round * 5 + i);
        if (i == 4) {
          stop.request_stop();
        } else if (i % 2 == 0) {
          for (int k = 0; k < 5; ++k) {
            if (c.send(int{k}, stop.get_token())) sent += k;
            dice.maybe_yield();
          }
        } else {
          while (auto value = c.receive(stop.get_token())) received += *value;
        }
      });
      progress();
    }
    while (auto value = c.try_receive()) received += *value;
    EXPECT_EQ(sent.load(), received.load());
  }
}

// Values of all sizes, more of them than a segment holds, with senders that wait for room at every border of one.
template <class T>
void check_many(std::size_t capacity, int count) {
  heddle::channel<T> c(capacity);
  heddle::thread sender([&] {
    for (int i = 0; i < count; ++i) EXPECT_TRUE(c.send(T(i)));
    c.close();
  });
  int expected = 0;
  for (const T& value : c) EXPECT_EQ(value, T(expected++));
  EXPECT_EQ(expected, count);
  sender.join();
}

struct wide {
  explicit wide(int i) : a{i, -i, i} {}
  long a[3];
  bool operator==(const wide&) const = default;
};
struct text {
  explicit text(int i) : value(std::to_string(i)) {}
  std::string value;
  bool operator==(const text&) const = default;
};

TEST_P(channels, many_values_of_every_size) {
  run([] {
    for (std::size_t capacity : {std::size_t{0}, std::size_t{1}, std::size_t{5}, std::size_t{124}, std::size_t{1000},
                                 heddle::channel<int>::unbounded}) {
      check_many<signed char>(capacity, 120);
      check_many<int>(capacity, 1000);
      check_many<wide>(capacity, 1000);
      check_many<text>(capacity, 300);
    }
  });
}

// A thread that looks for more than one place or value at a time must go on with fewer, because the other side may not
// move before it does.
TEST_P(channels, less_than_a_batch_is_enough_to_go_on) {
  constexpr int capacity = 64;
  const auto until = [](auto reached) {
    while (!reached()) heddle::this_thread::yield();
  };
  for (int taken : {1, 15, 16, 17, 40}) {
    heddle::channel<int> c(capacity);
    std::atomic<int> sent{0};
    together(1, 1, [&](int i) {
      if (i == 0) {
        for (int k = 0; k < capacity + taken; ++k) {
          EXPECT_TRUE(c.send(k));
          ++sent;
        }
      } else {
        until([&] { return sent == capacity; });
        for (int k = 0; k < taken; ++k) EXPECT_EQ(c.receive(), k);
        until([&] { return sent == capacity + taken; });
        for (int k = 0; k < capacity; ++k) EXPECT_EQ(c.try_receive(), taken + k) << "not there at once";
        EXPECT_EQ(c.try_receive(), std::nullopt);
      }
    });
    progress();
    std::atomic<int> received{0};
    together(1, 1, [&](int i) {
      for (int k = 0; k < 20 * heddle_test::stress(); ++k) {
        if (i == 0) {
          EXPECT_TRUE(c.send(k));
          until([&] { return received == k + 1; });
        } else {
          EXPECT_EQ(c.receive(), k);
          ++received;
        }
      }
    });
    progress();
  }
}

TEST_P(channels, values_left_over_are_destroyed) {
  auto counted = std::make_shared<int>(0);
  {
    heddle::channel<std::shared_ptr<int>> c(heddle::channel<int>::unbounded);
    for (int i = 0; i < 10; ++i) c.send(counted);
    EXPECT_EQ(counted.use_count(), 11);
    c.receive();
  }
  EXPECT_EQ(counted.use_count(), 1);
}

TEST_P(channels, a_pipeline_of_threads) {
  // the prime sieve: each stage passes on what its prime does not divide
  std::vector<int> primes;
  run([&] {
    std::vector<std::unique_ptr<heddle::channel<int>>> stages;
    std::vector<heddle::thread> threads;
    stages.push_back(std::make_unique<heddle::channel<int>>(0));
    threads.emplace_back([&out = *stages[0]] {
      for (int i = 2; i < 200; ++i) out.send(i);
      out.close();
    });
    for (;;) {
      heddle::channel<int>& in = *stages.back();
      const std::optional<int> prime = in.receive();
      if (!prime) break;
      primes.push_back(*prime);
      stages.push_back(std::make_unique<heddle::channel<int>>(0));
      threads.emplace_back([&in, &out = *stages.back(), p = *prime] {
        for (int value : in) {
          if (value % p != 0) out.send(value);
        }
        out.close();
      });
    }
    for (auto& t : threads) t.join();
  });
  EXPECT_EQ(primes.size(), 46u);
  EXPECT_EQ(primes.back(), 199);
}

HEDDLE_OVER_RUNTIMES(channels);

}  // namespace
}  // namespace channel_test
