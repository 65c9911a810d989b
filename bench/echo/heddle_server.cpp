// An echo server by heddle: a thread for each connection. It waits by
// wait_readable; with the argument "blocking" it reads inside heddle::blocking.
#include <heddle/blocking.hpp>
#include <heddle/readiness.hpp>
#include <heddle/thread.hpp>

#include <array>
#include <cerrno>
#include <string_view>

#include "sockets.hpp"

namespace {

// 0 at the end of the connection.
ssize_t receive(int connection, char* into, std::size_t most, bool by_blocking) {
  if (by_blocking) return heddle::blocking([&] { return read(connection, into, most); });
  for (;;) {
    const ssize_t got = read(connection, into, most);
    if (got >= 0 || errno != EAGAIN) return got;
    heddle::wait_readable(connection);
  }
}

// Answers are short and come one at a time: they always find room.
void answer(int connection, bool by_blocking) {
  std::array<char, 4096> bytes;
  for (;;) {
    const ssize_t got = receive(connection, bytes.data(), bytes.size(), by_blocking);
    if (got <= 0 || write(connection, bytes.data(), static_cast<std::size_t>(got)) != got) break;
  }
  close(connection);
}

}  // namespace

int main(int count, char** arguments) {
  const bool by_blocking = count > 1 && std::string_view(arguments[1]) == "blocking";
  const int listening = echo::listen_somewhere(0);
  for (;;) {
    const int connection = accept4(listening, nullptr, nullptr, by_blocking ? 0 : SOCK_NONBLOCK);
    if (connection < 0) echo::give_up("accept");
    echo::send_at_once(connection);
    heddle::thread([connection, by_blocking] { answer(connection, by_blocking); }).detach();
  }
}
