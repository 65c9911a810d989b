// A program that this one, the command or a test, has started. It ends with the command, however the command ends. The
// kernel kills it if the command is killed. The signals by which a user ends the command are passed on to it, and the
// command then ends only after it.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <mutex>
#include <string>
#include <system_error>

namespace heddle::process {

// child::wait throws it when the command was told to end. It is no std::exception, so that code which goes on after
// errors does not catch it. cli::run() ends the process by that signal.
struct interrupted {
  int signal;
};

namespace detail {

inline constexpr std::array<int, 3> ending_signals{SIGTERM, SIGINT, SIGHUP};

// The table is shared with the signal handler. relaxed would suffice within one thread, but the command may start
// children from several threads.
struct children_table {
  std::array<std::atomic<pid_t>, 64> running{};
  std::atomic<int> received{0};  // the first signal since there were children
  std::mutex mutex;              // guards the members below; the handler never takes it
  unsigned count{0};
  std::array<struct sigaction, ending_signals.size()> before{};
};

inline children_table& children() {
  static children_table table;
  return table;
}

// The first signal is passed on unchanged. A second signal means that the user wants an end.
inline void forward(int number) {
  const int kept = errno;
  int none = 0;
  const bool first = children().received.compare_exchange_strong(none, number);
  for (const std::atomic<pid_t>& one : children().running) {
    if (const pid_t id = one.load(); id > 0) ::kill(id, first ? number : SIGKILL);
  }
  errno = kept;
}

inline void begin_forwarding(children_table& all) {
  if (all.count++ != 0) return;
  all.received.store(0);
  struct sigaction on{};
  on.sa_handler = forward;
  on.sa_flags = SA_RESTART;
  sigemptyset(&on.sa_mask);
  for (std::size_t i = 0; i < ending_signals.size(); ++i) {
    ::sigaction(ending_signals[i], nullptr, &all.before[i]);
    // A signal that is ignored stays ignored, for nohup.
    if (all.before[i].sa_handler != SIG_IGN) ::sigaction(ending_signals[i], &on, nullptr);
  }
}

inline void end_forwarding(children_table& all) {
  if (--all.count != 0) return;
  for (std::size_t i = 0; i < ending_signals.size(); ++i) ::sigaction(ending_signals[i], &all.before[i], nullptr);
}

}  // namespace detail

class child {
 public:
  // Calls fork(), with `become` in the child. `become` executes `program`, and returns only if it cannot, with errno.
  // Throws std::system_error that names the program.
  template <class Become>
  child(const std::string& program, Become&& become) {
    int report[2];
    if (::pipe2(report, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
    int error = start(report[1], become);
    ::close(report[1]);
    // nothing was read: the program runs
    if (error == 0 && ::read(report[0], &error, sizeof error) != static_cast<ssize_t>(sizeof error)) error = 0;
    ::close(report[0]);
    if (error == 0) return;
    if (id_ > 0) (void)reap();
    throw std::system_error(error, std::generic_category(), program);
  }
  ~child() {
    if (id_ <= 0) return;
    kill();
    (void)reap();
  }
  child(const child&) = delete;
  child& operator=(const child&) = delete;

  void kill() noexcept {
    if (id_ > 0) ::kill(id_, SIGKILL);
  }
  // Waits for the program's end; the result is that of waitpid. Throws interrupted.
  [[nodiscard]] int wait() { return finish(reap()); }
  // Does the same without waiting. Returns false while the program runs.
  [[nodiscard]] bool ended(int& status) {
    siginfo_t about{};
    if (::waitid(P_PID, static_cast<id_t>(id_), &about, WEXITED | WNOWAIT | WNOHANG) != 0 || about.si_pid == 0)
      return false;
    status = finish(reap());
    return true;
  }

 private:
  // Returns zero or the error of fork.
  template <class Become>
  int start(int report, Become& become) {
    detail::children_table& all = detail::children();
    std::lock_guard hold(all.mutex);
    sigset_t ending, mask;
    sigemptyset(&ending);
    for (const int number : detail::ending_signals) sigaddset(&ending, number);
    ::pthread_sigmask(SIG_BLOCK, &ending, &mask);  // blocked until the handler knows the child
    detail::begin_forwarding(all);
    const pid_t parent = ::getpid();
    id_ = ::fork();
    if (id_ == 0) {
      for (std::size_t i = 0; i < all.before.size(); ++i)
        ::sigaction(detail::ending_signals[i], &all.before[i], nullptr);
      ::pthread_sigmask(SIG_SETMASK, &mask, nullptr);
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::getppid() != parent) ::_exit(127);  // the parent died before the prctl
      become();
      const int error = errno;
      [[maybe_unused]] const ssize_t written = ::write(report, &error, sizeof error);
      ::_exit(127);
    }
    const int error = id_ < 0 ? errno : 0;
    if (id_ > 0) enter();
    else detail::end_forwarding(all);
    ::pthread_sigmask(SIG_SETMASK, &mask, nullptr);
    return error;
  }
  void enter() noexcept {
    for (std::atomic<pid_t>& place : detail::children().running) {
      pid_t none = 0;
      if (!place.compare_exchange_strong(none, id_)) continue;
      place_ = &place;
      return;
    }
  }
  // The child is taken from the table before it is reaped, so that no signal goes to another process with its number.
  int reap() noexcept {
    siginfo_t about{};
    while (::waitid(P_PID, static_cast<id_t>(id_), &about, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
    }
    if (place_ != nullptr) place_->store(0);
    int status = 0;
    while (::waitpid(id_, &status, 0) < 0 && errno == EINTR) {
    }
    id_ = 0;
    detail::children_table& all = detail::children();
    std::lock_guard hold(all.mutex);
    detail::end_forwarding(all);
    return status;
  }
  static int finish(int status) {
    if (const int number = detail::children().received.load(); number != 0) throw interrupted{number};
    return status;
  }

  pid_t id_{0};
  std::atomic<pid_t>* place_{nullptr};
};

// Returns the exit status, or 128 + signal, for the result of wait().
inline int exit_status(int status) noexcept { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

}  // namespace heddle::process
