// wait_readable, wait_writable: nobody is let go too early or forgotten; time limits, stop tokens, errors, fork.
#include <heddle/readiness.hpp>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <stop_token>
#include <system_error>
#include <thread>
#include <vector>

#include "support/waiting.hpp"

namespace readiness_test {
namespace {

using namespace std::chrono_literals;

// Two connected ends that do not block.
class ends {
 public:
  ends() { EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, both_), 0); }
  ~ends() {
    for (const int one : both_) {
      if (one >= 0) close(one);
    }
  }
  ends(const ends&) = delete;
  int operator[](int i) const { return both_[i]; }
  void shut(int i) { close(std::exchange(both_[i], -1)); }

 private:
  int both_[2]{-1, -1};
};

// Waits as often as it takes; the bytes that were read, 0 at the end of the stream.
ssize_t read_some(int from, char* into, std::size_t most) {
  for (;;) {
    const ssize_t got = read(from, into, most);
    if (got >= 0 || errno != EAGAIN) return got;
    heddle::wait_readable(from);
  }
}
void write_all(int to, const char* text, std::size_t size) {
  while (size != 0) {
    const ssize_t put = write(to, text, size);
    if (put > 0) {
      text += put;
      size -= static_cast<std::size_t>(put);
    } else {
      ASSERT_EQ(errno, EAGAIN);
      heddle::wait_writable(to);
    }
  }
}

class readiness : public heddle_test::waiting {};

TEST_P(readiness, echoes_over_many_connections) {
  const int connections = 40;
  const int rounds = 10 * heddle_test::stress();
  std::vector<ends> all(connections);
  std::atomic<int> right{0};
  together(2 * connections, 0, [&](int i) {
    const ends& mine = all[static_cast<std::size_t>(i / 2)];
    for (int r = 0; r < rounds; ++r) {
      char byte = static_cast<char>(r);
      if (i % 2 == 0) {  // who asks
        write_all(mine[0], &byte, 1);
        char answer = 0;
        if (read_some(mine[0], &answer, 1) == 1 && answer == static_cast<char>(r + 1)) ++right;
      } else {  // who answers
        if (read_some(mine[1], &byte, 1) != 1) return;
        ++byte;
        write_all(mine[1], &byte, 1);
      }
    }
    progress();
  });
  EXPECT_EQ(right.load(), connections * rounds);
}

TEST_P(readiness, more_than_fits_goes_through_both_directions_at_once) {
  ends pair;
  const std::size_t size = 1 << 20;  // beyond what the kernel buffers
  std::array<std::size_t, 2> received{};
  together(3, 1, [&](int i) {  // a foreign kernel thread is one of the writers
    const int side = i % 2;
    if (i < 2) {
      std::vector<char> room(4096);
      while (received[static_cast<std::size_t>(side)] < size) {
        const ssize_t got = read_some(pair[side], room.data(), room.size());
        ASSERT_GT(got, 0);
        for (ssize_t k = 0; k < got; ++k) ASSERT_EQ(room[static_cast<std::size_t>(k)], 'x');
        received[static_cast<std::size_t>(side)] += static_cast<std::size_t>(got);
      }
    } else {
      const std::vector<char> text(size, 'x');
      write_all(pair[side], text.data(), text.size());
    }
  });
  EXPECT_EQ(received[0], size);
  EXPECT_EQ(received[1], size);
}

TEST_P(readiness, all_that_wait_for_one_descriptor_go_on) {
  ends pair;
  std::atomic<int> through{0};
  together(7, 2, [&](int i) {
    if (i != 0) {
      heddle::wait_readable(pair[1]);
      ++through;
      return;
    }
    while (write(pair[0], "x", 1) != 1) {
    }
  });
  EXPECT_EQ(through.load(), 8);
}

TEST_P(readiness, the_other_ends_close_lets_go) {
  ends pair;
  together(2, 0, [&](int i) {
    char byte;
    if (i == 0) EXPECT_EQ(read_some(pair[1], &byte, 1), 0);
    else pair.shut(0);
  });
}

TEST_P(readiness, time_limits_and_stop_requests_end_a_wait) {
  run([] {
    ends pair;
    EXPECT_FALSE(heddle::wait_readable_for(pair[0], 1ms));
    EXPECT_FALSE(heddle::wait_readable_until(pair[0], std::chrono::system_clock::now() + 1ms));
    EXPECT_TRUE(heddle::wait_writable_for(pair[0], 1h));
    std::stop_source source;
    heddle::jthread waits([&] { EXPECT_FALSE(heddle::wait_readable(pair[0], source.get_token())); });
    heddle::jthread waits_long([&] { EXPECT_FALSE(heddle::wait_readable_for(pair[0], 1h, source.get_token())); });
    heddle::this_thread::yield();
    source.request_stop();
    waits.join();
    waits_long.join();
    EXPECT_FALSE(heddle::wait_readable(pair[0], source.get_token()));  // requested already
    ASSERT_EQ(write(pair[1], "x", 1), 1);
    EXPECT_TRUE(heddle::wait_readable_for(pair[0], 1h));  // what was given up is not in the way
  });
}

TEST_P(readiness, stops_and_bytes_race) {
  run([&] {
    for (int i = 0; i < 200 * heddle_test::stress(); ++i) {
      ends pair;
      std::stop_source source;
      heddle::thread reader([&] {
        char byte;
        if (heddle::wait_readable(pair[1], source.get_token())) {
          EXPECT_EQ(read(pair[1], &byte, 1), 1);
        }
      });
      heddle::thread writer([&] { EXPECT_EQ(write(pair[0], "x", 1), 1); });
      source.request_stop();
      writer.join();
      reader.join();
    }
    progress();
  });
}

TEST(readiness_of, a_regular_file_is_always_there) {
  std::FILE* const file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  heddle::wait_readable(fileno(file));
  heddle::wait_writable(fileno(file));
  std::fclose(file);
}

TEST(readiness_of, what_is_no_descriptor_is_an_error) {
  for (const int wrong : {-1, 1 << 19, 1 << 30}) {
    try {
      heddle::wait_readable(wrong);
      ADD_FAILURE() << wrong << " was waited for";
    } catch (const std::system_error& e) {
      EXPECT_EQ(e.code().value(), EBADF) << wrong;
    }
  }
}

TEST(readiness_of, a_forked_child_has_a_watcher_of_its_own) {
  if (heddle_test::thread_sanitized) GTEST_SKIP() << "ThreadSanitizer knows no kernel threads made after a fork";
  {
    ends pair;
    ASSERT_EQ(write(pair[0], "x", 1), 1);
    heddle::wait_readable(pair[1]);  // the parent's is there
  }
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    ends pair;
    std::jthread other([&] { (void)!write(pair[0], "x", 1); });
    heddle::wait_readable(pair[1]);
    char byte = 0;
    _exit(read(pair[1], &byte, 1) == 1 && byte == 'x' ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

HEDDLE_OVER_RUNTIMES(readiness);

}  // namespace
}  // namespace readiness_test
