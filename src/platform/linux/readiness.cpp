#include <poll.h>
#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "platform/platform.hpp"

namespace heddle::platform {

int open_queue(readiness_queue& out) noexcept {
  out.descriptor = epoll_create1(EPOLL_CLOEXEC);
  return out.descriptor < 0 ? errno : 0;
}

int arm(const readiness_queue& queue, int descriptor, std::uint32_t asked, bool read, bool write) noexcept {
  epoll_event wanted{};
  wanted.events = (read ? EPOLLIN | EPOLLRDHUP : 0u) | (write ? EPOLLOUT : 0u) | EPOLLONESHOT;
  wanted.data.u64 = static_cast<std::uint64_t>(asked) << 32 | static_cast<std::uint32_t>(descriptor);
  // A descriptor leaves the queue by itself when it is closed, and its number may then be in use again.
  if (epoll_ctl(queue.descriptor, EPOLL_CTL_MOD, descriptor, &wanted) == 0) return 0;
  if (errno != ENOENT) return errno;
  return epoll_ctl(queue.descriptor, EPOLL_CTL_ADD, descriptor, &wanted) == 0 ? 0 : errno;
}

unsigned wait_for_ready(const readiness_queue& queue, ready_descriptor* out, unsigned most) noexcept {
  std::array<epoll_event, 256> events;
  const int count =
      epoll_wait(queue.descriptor, events.data(), static_cast<int>(std::min<std::size_t>(most, events.size())), -1);
  for (int i = 0; i < count; ++i) {
    const std::uint32_t e = events[static_cast<std::size_t>(i)].events;
    const std::uint64_t data = events[static_cast<std::size_t>(i)].data.u64;
    const bool both = (e & (EPOLLERR | EPOLLHUP)) != 0;
    out[i] = {static_cast<int>(static_cast<std::uint32_t>(data)), static_cast<std::uint32_t>(data >> 32),
              both || (e & (EPOLLIN | EPOLLRDHUP)) != 0, both || (e & EPOLLOUT) != 0};
  }
  return count < 0 ? 0 : static_cast<unsigned>(count);  // EINTR
}

int look(int descriptor, bool write) noexcept {
  pollfd one{descriptor, static_cast<short>(write ? POLLOUT : POLLIN | POLLRDHUP), 0};
  if (poll(&one, 1, 0) < 0) return errno == EINTR ? 0 : -errno;
  if ((one.revents & POLLNVAL) != 0) return -EBADF;
  return one.revents != 0 ? 1 : 0;
}

}  // namespace heddle::platform
