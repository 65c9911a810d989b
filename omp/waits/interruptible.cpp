// Calls that the kernel never restarts after a signal (signal(7)), so a tick would end them with EINTR. A member waits
// in them on a kernel thread that it keeps meanwhile, where no tick comes; a signal of the program's own still ends
// them. Each first asks whether it would wait at all.
#include <poll.h>
#include <sys/epoll.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>

#include <cerrno>

#include "omp/waits/member.hpp"
#include "omp/waits/real.hpp"

using namespace heddle::omp::waits;

namespace {

bool is_zero(const timespec* limit) noexcept { return limit != nullptr && limit->tv_sec == 0 && limit->tv_nsec == 0; }

// Returns true if the descriptor is ready, or if it cannot be asked; the call itself says what is wrong then.
bool is_ready(int descriptor, short events) {
  pollfd one{descriptor, events, 0};
  return real::poll(&one, 1, 0) != 0;
}

// Sockets with a time limit (SO_RCVTIMEO, SO_SNDTIMEO) are not restarted.
template <class Call>
auto on_socket(int descriptor, short events, Call call) {
  return is_ready(descriptor, events) ? call() : in_kernel(call);
}

}  // namespace

HEDDLE_OMP_ENTRY int poll(pollfd* all, nfds_t count, int limit) {
  if (!is_member() || limit == 0) return real::poll(all, count, limit);
  if (const int ready = real::poll(all, count, 0); ready != 0) return ready;
  return in_kernel([=] { return real::poll(all, count, limit); });
}

HEDDLE_OMP_ENTRY int ppoll(pollfd* all, nfds_t count, const timespec* limit, const sigset_t* blocked) {
  if (!is_member() || is_zero(limit)) return real::ppoll(all, count, limit, blocked);
  return in_kernel([=] { return real::ppoll(all, count, limit, blocked); });
}

// What glibc's headers call in their place with _FORTIFY_SOURCE.
HEDDLE_OMP_ENTRY int __poll_chk(pollfd* all, nfds_t count, int limit, std::size_t bytes) {
  if (!is_member() || limit == 0 || bytes / sizeof(pollfd) < count) return real::__poll_chk(all, count, limit, bytes);
  return poll(all, count, limit);
}
HEDDLE_OMP_ENTRY int __ppoll_chk(pollfd* all, nfds_t count, const timespec* limit, const sigset_t* blocked,
                                 std::size_t bytes) {
  if (!is_member() || bytes / sizeof(pollfd) < count) return real::__ppoll_chk(all, count, limit, blocked, bytes);
  return ppoll(all, count, limit, blocked);
}

HEDDLE_OMP_ENTRY int select(int count, fd_set* read, fd_set* write, fd_set* other, timeval* limit) {
  if (!is_member() || (limit != nullptr && limit->tv_sec == 0 && limit->tv_usec == 0))
    return real::select(count, read, write, other, limit);
  return in_kernel([=] { return real::select(count, read, write, other, limit); });
}

HEDDLE_OMP_ENTRY int pselect(int count, fd_set* read, fd_set* write, fd_set* other, const timespec* limit,
                             const sigset_t* blocked) {
  if (!is_member() || is_zero(limit)) return real::pselect(count, read, write, other, limit, blocked);
  return in_kernel([=] { return real::pselect(count, read, write, other, limit, blocked); });
}

HEDDLE_OMP_ENTRY int epoll_wait(int queue, epoll_event* out, int most, int limit) {
  if (!is_member() || limit == 0) return real::epoll_wait(queue, out, most, limit);
  if (const int ready = real::epoll_wait(queue, out, most, 0); ready != 0) return ready;
  return in_kernel([=] { return real::epoll_wait(queue, out, most, limit); });
}

HEDDLE_OMP_ENTRY int epoll_pwait(int queue, epoll_event* out, int most, int limit, const sigset_t* blocked) {
  if (!is_member() || limit == 0) return real::epoll_pwait(queue, out, most, limit, blocked);
  return in_kernel([=] { return real::epoll_pwait(queue, out, most, limit, blocked); });
}

HEDDLE_OMP_ENTRY int epoll_pwait2(int queue, epoll_event* out, int most, const timespec* limit,
                                  const sigset_t* blocked) {
  if (!is_member() || is_zero(limit)) return real::epoll_pwait2(queue, out, most, limit, blocked);
  return in_kernel([=] { return real::epoll_pwait2(queue, out, most, limit, blocked); });
}

HEDDLE_OMP_ENTRY ssize_t msgrcv(int queue, void* message, std::size_t bytes, long type, int flags) {
  if (!is_member() || (flags & IPC_NOWAIT) != 0) return real::msgrcv(queue, message, bytes, type, flags);
  const int before = errno;
  const ssize_t now = real::msgrcv(queue, message, bytes, type, flags | IPC_NOWAIT);
  if (now >= 0 || errno != ENOMSG) return now;
  errno = before;
  return in_kernel([=] { return real::msgrcv(queue, message, bytes, type, flags); });
}

HEDDLE_OMP_ENTRY int msgsnd(int queue, const void* message, std::size_t bytes, int flags) {
  if (!is_member() || (flags & IPC_NOWAIT) != 0) return real::msgsnd(queue, message, bytes, flags);
  return in_kernel([=] { return real::msgsnd(queue, message, bytes, flags); });
}

HEDDLE_OMP_ENTRY int semop(int set, sembuf* operations, std::size_t count) noexcept {
  if (!is_member()) return real::semop(set, operations, count);
  return in_kernel([=] { return real::semop(set, operations, count); });
}

HEDDLE_OMP_ENTRY int semtimedop(int set, sembuf* operations, std::size_t count, const timespec* limit) noexcept {
  if (!is_member()) return real::semtimedop(set, operations, count, limit);
  return in_kernel([=] { return real::semtimedop(set, operations, count, limit); });
}

HEDDLE_OMP_ENTRY int sigtimedwait(const sigset_t* wanted, siginfo_t* out, const timespec* limit) {
  if (!is_member() || is_zero(limit)) return real::sigtimedwait(wanted, out, limit);
  return in_kernel([=] { return real::sigtimedwait(wanted, out, limit); });
}

HEDDLE_OMP_ENTRY int sigwaitinfo(const sigset_t* wanted, siginfo_t* out) {
  if (!is_member()) return real::sigwaitinfo(wanted, out);
  return in_kernel([=] { return real::sigwaitinfo(wanted, out); });
}

HEDDLE_OMP_ENTRY int accept(int socket, sockaddr* address, socklen_t* bytes) {
  if (!is_member()) return real::accept(socket, address, bytes);
  return on_socket(socket, POLLIN, [=] { return real::accept(socket, address, bytes); });
}

HEDDLE_OMP_ENTRY int accept4(int socket, sockaddr* address, socklen_t* bytes, int flags) {
  if (!is_member()) return real::accept4(socket, address, bytes, flags);
  return on_socket(socket, POLLIN, [=] { return real::accept4(socket, address, bytes, flags); });
}

HEDDLE_OMP_ENTRY ssize_t recv(int socket, void* into, std::size_t bytes, int flags) {
  if (!is_member() || (flags & MSG_DONTWAIT) != 0) return real::recv(socket, into, bytes, flags);
  return on_socket(socket, POLLIN, [=] { return real::recv(socket, into, bytes, flags); });
}

HEDDLE_OMP_ENTRY ssize_t recvfrom(int socket, void* into, std::size_t bytes, int flags, sockaddr* address,
                                  socklen_t* address_bytes) {
  if (!is_member() || (flags & MSG_DONTWAIT) != 0)
    return real::recvfrom(socket, into, bytes, flags, address, address_bytes);
  return on_socket(socket, POLLIN, [=] { return real::recvfrom(socket, into, bytes, flags, address, address_bytes); });
}

HEDDLE_OMP_ENTRY ssize_t recvmsg(int socket, msghdr* message, int flags) {
  if (!is_member() || (flags & MSG_DONTWAIT) != 0) return real::recvmsg(socket, message, flags);
  return on_socket(socket, POLLIN, [=] { return real::recvmsg(socket, message, flags); });
}

HEDDLE_OMP_ENTRY ssize_t send(int socket, const void* from, std::size_t bytes, int flags) {
  if (!is_member() || (flags & MSG_DONTWAIT) != 0) return real::send(socket, from, bytes, flags);
  return on_socket(socket, POLLOUT, [=] { return real::send(socket, from, bytes, flags); });
}

HEDDLE_OMP_ENTRY ssize_t sendto(int socket, const void* from, std::size_t bytes, int flags, const sockaddr* address,
                                socklen_t address_bytes) {
  if (!is_member() || (flags & MSG_DONTWAIT) != 0)
    return real::sendto(socket, from, bytes, flags, address, address_bytes);
  return on_socket(socket, POLLOUT, [=] { return real::sendto(socket, from, bytes, flags, address, address_bytes); });
}

HEDDLE_OMP_ENTRY ssize_t sendmsg(int socket, const msghdr* message, int flags) {
  if (!is_member() || (flags & MSG_DONTWAIT) != 0) return real::sendmsg(socket, message, flags);
  return on_socket(socket, POLLOUT, [=] { return real::sendmsg(socket, message, flags); });
}
