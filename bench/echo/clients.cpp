// clients PORT CONNECTIONS ECHOES: opens the connections. Each time that a line comes on standard input, it has ECHOES
// messages answered, the same number on each connection and one at a time there, and prints the seconds that this took.
#include <sys/epoll.h>

#include <array>
#include <chrono>
#include <cstring>
#include <vector>

#include "sockets.hpp"

namespace {

struct connection {
  int descriptor;
  unsigned left;        // messages to send
  std::size_t missing;  // bytes of the answer
};

void ask(connection& c) {
  std::array<char, echo::message_bytes> message;
  message.fill(static_cast<char>('a' + c.left % 26));
  if (write(c.descriptor, message.data(), message.size()) != static_cast<ssize_t>(message.size()))
    echo::give_up("write");
  --c.left;
  c.missing = message.size();
}

// Takes the part of the answer that has come. Returns true when the answer is complete.
bool heard(connection& c) {
  std::array<char, echo::message_bytes> answer;
  const ssize_t got = read(c.descriptor, answer.data(), c.missing);
  if (got <= 0) echo::give_up("read");
  for (ssize_t i = 0; i < got; ++i) {
    if (answer[static_cast<std::size_t>(i)] == static_cast<char>('a' + (c.left + 1) % 26)) continue;
    std::fputs("an answer is not what was asked\n", stderr);
    std::exit(1);
  }
  c.missing -= static_cast<std::size_t>(got);
  return c.missing == 0;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 4) {
    std::fprintf(stderr, "usage: %s PORT CONNECTIONS ECHOES\n", arguments[0]);
    return 2;
  }
  const auto number = [&](int i) { return static_cast<unsigned>(std::strtoul(arguments[i], nullptr, 10)); };
  const unsigned connections = number(2), each = number(3) / connections;
  echo::allow_many_descriptors();
  const int all = epoll_create1(0);
  std::vector<connection> open;
  for (unsigned i = 0; i < connections; ++i) {
    const sockaddr_in address = echo::loopback(static_cast<std::uint16_t>(number(1)));
    const int descriptor = socket(AF_INET, SOCK_STREAM, 0);
    if (descriptor < 0 || connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
      echo::give_up("connect");
    echo::send_at_once(descriptor);
    open.push_back({descriptor, 1, 0});
    ask(open.back());  // once before the clock runs: the server has then accepted it
    while (!heard(open.back())) {
    }
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u32 = i;
    if (epoll_ctl(all, EPOLL_CTL_ADD, descriptor, &event) != 0) echo::give_up("epoll_ctl");
  }
  std::puts("open");
  std::fflush(stdout);
  while (std::getchar() == '\n') {
    const auto begin = std::chrono::steady_clock::now();
    unsigned busy = connections;
    for (auto& c : open) {
      c.left = each;
      ask(c);
    }
    std::array<epoll_event, 256> events;
    while (busy != 0) {
      const int ready = epoll_wait(all, events.data(), events.size(), -1);
      for (int i = 0; i < ready; ++i) {
        connection& c = open[events[static_cast<std::size_t>(i)].data.u32];
        if (!heard(c)) continue;
        if (c.left != 0) ask(c);
        else --busy;
      }
    }
    std::printf("%.6f\n", std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    std::fflush(stdout);
  }
}
