#include <linux/futex.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <utility>

#include "base/contracts.hpp"
#include "platform/platform.hpp"

namespace heddle::platform {

namespace {

long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value, const timespec* limit) noexcept {
  return syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), operation, value, limit, nullptr,
                 FUTEX_BITSET_MATCH_ANY);
}

int membarrier(int command) noexcept { return static_cast<int>(syscall(SYS_membarrier, command, 0, 0)); }

// Changes the protection of a resident page. To flush the translations, the kernel then interrupts every processor that
// runs this process, which is a fence there. That holds on x86, but not on AArch64, whose hardware broadcasts the
// flush.
[[maybe_unused]] void fallback() noexcept {
  void* page = mmap(nullptr, page_size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  HEDDLE_CHECK(page != MAP_FAILED, "no memory for one page");
  // The page must be resident and writable, or there is nothing to flush.
  *static_cast<volatile char*>(page) = 1;
  mprotect(page, page_size(), PROT_READ);
  munmap(page, page_size());
}

// Answers of the system, kept without a static's guard. A fork() while another thread holds a guard would leave the
// guard locked for ever in the child.
enum class support : int { unknown, yes, no };
std::atomic<support> expedited_membarrier{support::unknown};

bool register_membarrier() noexcept {
  const bool done = membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0;
  expedited_membarrier.store(done ? support::yes : support::no);
  return done;
}

void* run(void* memory) {
  const auto& self = *static_cast<kernel_thread*>(memory);
  pthread_setname_np(pthread_self(), self.name);
  self.entry(self.argument);
  return nullptr;
}

const cpu_set_t initial_mask = [] {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof set, &set);
  return set;
}();

std::atomic<bool> told_of_affinity{false};

// Written in forked children by the handler below, before the children have other threads.
std::atomic<std::uint64_t> forks{0};
std::atomic<void (*)()> reset_child{nullptr};

// The registration is made here because the process usually has one kernel thread at this time. If it has more, the
// kernel waits for a grace period at the registration. When that was a worker's first sleep, it took 10 to 20 ms, and
// no worker's forks were seen meanwhile.
[[maybe_unused]] const bool prepared = [] {
  register_membarrier();
  pthread_atfork(nullptr, nullptr, [] {
    forks.fetch_add(1);
    register_membarrier();  // registration does not survive fork
    if (auto* const reset = reset_child.load(); reset != nullptr) reset();
  });
  return true;
}();

}  // namespace

std::uint64_t fork_count() noexcept { return forks.load(); }
void when_forked(void (*in_child)()) noexcept { reset_child.store(in_child); }

void around_fork(void (*before)(), void (*after)(), void (*in_child)()) noexcept {
  pthread_atfork(before, after, in_child);
}

int current_unit() noexcept { return sched_getcpu(); }
bool foreign_threads_run_calls() noexcept { return true; }

void yield_processor() noexcept { sched_yield(); }

void keep_deadlines_exactly() noexcept { prctl(PR_SET_TIMERSLACK, 1); }

void wait_on(std::atomic<std::uint32_t>& word, std::uint32_t expected, nanoseconds deadline) noexcept {
  timespec limit{};
  if (deadline != 0) {
    limit.tv_sec = static_cast<time_t>(deadline / 1'000'000'000u);
    limit.tv_nsec = static_cast<long>(deadline % 1'000'000'000u);
  }
  futex(word, FUTEX_WAIT_BITSET_PRIVATE, expected, deadline == 0 ? nullptr : &limit);  // absolute, monotonic
}

void wake_one(std::atomic<std::uint32_t>& word) noexcept { futex(word, FUTEX_WAKE_PRIVATE, 1, nullptr); }
void wake_all(std::atomic<std::uint32_t>& word) noexcept { futex(word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr); }

void heavy_fence() noexcept {
  if (expedited_membarrier.load() != support::no) {
    if (membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0) return;
    // The process is not registered yet, or a seccomp filter was installed since.
    if (register_membarrier() && membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0) return;
    expedited_membarrier.store(support::no);
  }
#if defined(__x86_64__)
  fallback();
#else
  HEDDLE_CHECK(false,
               "the kernel refuses membarrier(2); heddle needs it on this processor (Linux 4.14, no seccomp filter)");
#endif
}

int start(kernel_thread& out, void (*entry)(void*), void* argument, const char* name, int processing_unit) noexcept {
  out.entry = entry;
  out.argument = argument;
  for (unsigned i = 0; i + 1 < sizeof out.name && name[i] != 0; ++i) out.name[i] = name[i];
  pthread_t handle;
  int error = EINVAL;
  if (processing_unit >= 0) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<unsigned>(processing_unit), &set);
    pthread_attr_setaffinity_np(&attributes, sizeof set, &set);
    error = pthread_create(&handle, &attributes, run, &out);
    pthread_attr_destroy(&attributes);
  }
  // A start must not fail because of the affinity. An affinity outside the process's own is refused (EINVAL), and a
  // sandbox may refuse all (EPERM, or any other error).
  if (error != 0 && error != EAGAIN && error != ENOMEM) error = pthread_create(&handle, nullptr, run, &out);
  if (error == 0) out.handle = handle;
  return error;
}

// The signals are blocked by the thread that starts the new one. Otherwise the new thread would have its signals
// unblocked for a moment.
int start_without_signals(kernel_thread& out, void (*entry)(void*), void* argument, const char* name) noexcept {
  sigset_t asynchronous, before;
  sigfillset(&asynchronous);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP}) sigdelset(&asynchronous, fault);
  pthread_sigmask(SIG_SETMASK, &asynchronous, &before);
  const int error = start(out, entry, argument, name);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return error;
}

explanation why_not_started(int error) noexcept {
  explanation e{};
  const char* const name = std::strerror(error);  // the name of a known number, which lies in no shared buffer
  if (error != EAGAIN && error != ENOMEM) {
    std::snprintf(e.text, sizeof e.text, "%s", name);
    return e;
  }
  struct value {
    char text[24];
  };
  const auto value_of = [](auto limit) {
    struct rlimit now{};
    value v{"unlimited"};
    if (getrlimit(limit, &now) == 0 && now.rlim_cur != RLIM_INFINITY)
      std::snprintf(v.text, sizeof v.text, "%llu", static_cast<unsigned long long>(now.rlim_cur));
    return v;
  };
  pthread_attr_t usual;
  std::size_t stack = 0;
  if (pthread_getattr_default_np(&usual) == 0) {
    pthread_attr_getstacksize(&usual, &stack);
    pthread_attr_destroy(&usual);
  }
  void* const room = mmap(nullptr, stack, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (room == MAP_FAILED) {
    std::snprintf(e.text, sizeof e.text,
                  "%s: no room for a stack of %zu bytes; RLIMIT_AS (ulimit -v) is %s, RLIMIT_STACK (ulimit -s), which "
                  "says how large stacks are, %s",
                  name, stack, value_of(RLIMIT_AS).text, value_of(RLIMIT_STACK).text);
  } else {
    munmap(room, stack);
    std::snprintf(e.text, sizeof e.text,
                  "%s: RLIMIT_NPROC (ulimit -u), over all processes of the user, is %s; others are pids.max of the "
                  "cgroup and kernel.threads-max",
                  name, value_of(RLIMIT_NPROC).text);
  }
  return e;
}

void join(kernel_thread& thread) noexcept {
  if (thread.handle != 0) pthread_join(std::exchange(thread.handle, 0), nullptr);
}

bool try_join(kernel_thread& thread) noexcept {
  if (thread.handle != 0 && pthread_tryjoin_np(thread.handle, nullptr) != 0) return false;
  thread.handle = 0;
  return true;
}

bool bind(int kernel_thread, int processing_unit) noexcept {
  cpu_set_t set = initial_mask;
  if (processing_unit >= 0) {
    CPU_ZERO(&set);
    CPU_SET(static_cast<unsigned>(processing_unit), &set);
  }
  if (sched_setaffinity(kernel_thread, sizeof set, &set) == 0) return true;
  if (errno != EINVAL && errno != ESRCH && !told_of_affinity.exchange(true)) {  // EINVAL: the process lost that unit
    static constexpr char text[] =
        "heddle: sched_setaffinity is refused, by a seccomp filter perhaps: workers run wherever the system puts them "
        "(HEDDLE_BIND=off says that this is meant)\n";
    write_error(text, sizeof text - 1);
  }
  return false;
}
bool bind_self(int processing_unit) noexcept { return bind(0, processing_unit); }

}  // namespace heddle::platform
