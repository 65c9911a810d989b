// The same echo server, written by hand: one kernel thread around epoll.
#include <sys/epoll.h>

#include <array>
#include <cerrno>

#include "sockets.hpp"

int main() {
  const int listening = echo::listen_somewhere(SOCK_NONBLOCK);
  const int all = epoll_create1(0);
  const auto watch = [all](int descriptor) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = descriptor;
    if (epoll_ctl(all, EPOLL_CTL_ADD, descriptor, &event) != 0) echo::give_up("epoll_ctl");
  };
  watch(listening);
  std::array<epoll_event, 256> events;
  std::array<char, 4096> bytes;
  for (;;) {
    const int ready = epoll_wait(all, events.data(), events.size(), -1);
    for (int i = 0; i < ready; ++i) {
      const int descriptor = events[static_cast<std::size_t>(i)].data.fd;
      if (descriptor == listening) {
        int connection;
        while ((connection = accept4(listening, nullptr, nullptr, SOCK_NONBLOCK)) >= 0) {
          echo::send_at_once(connection);
          watch(connection);
        }
        continue;
      }
      const ssize_t got = read(descriptor, bytes.data(), bytes.size());
      if (got < 0 && errno == EAGAIN) continue;
      if (got <= 0 || write(descriptor, bytes.data(), static_cast<std::size_t>(got)) != got) close(descriptor);
    }
  }
}
