// The functions of TCP over the loopback that both servers and the clients need.
#pragma once

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace echo {

constexpr std::size_t message_bytes = 64;

[[noreturn]] inline void give_up(const char* what) {
  std::perror(what);
  std::exit(1);
}

inline sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

inline void send_at_once(int connection) {
  const int one = 1;
  setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
}

inline void allow_many_descriptors() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

// A listening socket at a port of the system's choice, which is written to standard output.
inline int listen_somewhere(int flags) {
  allow_many_descriptors();
  const int listening = socket(AF_INET, SOCK_STREAM | flags, 0);
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  if (listening < 0 || bind(listening, reinterpret_cast<sockaddr*>(&address), size) != 0) give_up("bind");
  if (listen(listening, 4096) != 0) give_up("listen");
  getsockname(listening, reinterpret_cast<sockaddr*>(&address), &size);
  std::printf("%d\n", ntohs(address.sin_port));
  std::fflush(stdout);
  return listening;
}

}  // namespace echo
