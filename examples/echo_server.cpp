// A server that answers many connections, each by a thread of its own that reads it like a file. A thread costs
// kilobytes, and waits without a kernel thread. The clients are threads of the same program.
#include <heddle/readiness.hpp>
#include <heddle/thread.hpp>

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <vector>

// Returns the number of bytes read from a descriptor that does not block, and 0 at its end.
ssize_t receive(int from, char* into, std::size_t most) {
  for (;;) {
    const ssize_t got = read(from, into, most);
    if (got >= 0 || errno != EAGAIN) return got;
    heddle::wait_readable(from);
  }
}

int main() {
  constexpr int connections = 100, questions = 20;
  std::vector<std::array<int, 2>> ends(connections);
  for (auto& pair : ends) {
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair.data()) != 0) return 1;
  }
  std::atomic<int> answered{0};
  {
    std::vector<heddle::jthread> all;
    for (const auto& pair : ends) {
      all.emplace_back([end = pair[1]] {  // one connection of the server
        char c;
        while (receive(end, &c, 1) == 1 && write(end, &c, 1) == 1) {
        }
        close(end);
      });
      all.emplace_back([&answered, end = pair[0]] {  // a client
        for (int i = 0; i < questions; ++i) {
          const char question = static_cast<char>(i);
          char answer = 0;
          if (write(end, &question, 1) == 1 && receive(end, &answer, 1) == 1 && answer == question) ++answered;
        }
        close(end);
      });
    }
  }
  std::printf("%d answers\n", answered.load());
  return answered == connections * questions ? 0 : 1;
}
