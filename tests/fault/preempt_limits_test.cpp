// Preemption where the system refuses something: nobody is left without
// a word. Each program is a forked child whose standard error is read.
#include <heddle/heddle.hpp>

#include <gtest/gtest.h>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <system_error>
#include <vector>

#include "support/forked.hpp"
#include "support/preemption.hpp"
#include "worker/runtime.hpp"

namespace preempt_limits_test {
namespace {

using heddle_test::in;
using heddle_test::options_for;

struct ending {
  int status;
  std::string said;
};

template <class F>
ending of_child(F&& program) {
  heddle_test::child_heard child(program);
  const int status = child.status();
  return {status, child.said()};
}

// From here on the kernel answers EPERM, as sandboxes do.
void refuse(long system_call) {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(system_call), 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{static_cast<unsigned short>(std::size(program)), program};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) != 0)
    _exit(77);
}

class preempt_limits : public testing::Test {
 protected:
  void SetUp() override {
    if (heddle_test::thread_sanitized) GTEST_SKIP() << "no preemption under ThreadSanitizer";
  }
};

TEST_F(preempt_limits, no_timers_is_an_error_that_says_so) {
  const ending e = of_child([] {
    refuse(SYS_timer_create);
    heddle::runtime rt(options_for(2));
    try {
      heddle::thread(in(rt, heddle::preemption::klt_switching), [] {}).join();
    } catch (const std::system_error& error) {
      _exit(std::string(error.what()).find("seccomp filter has to allow timer_create") != std::string::npos ? 5 : 6);
    }
  });
  if (WEXITSTATUS(e.status) == 77) GTEST_SKIP() << "no seccomp filters here";
  EXPECT_EQ(WEXITSTATUS(e.status), 5) << e.said;
}

// Later ones: a kernel thread that gets none says so once, and which limit it is.
TEST_F(preempt_limits, no_more_timers_is_told) {
  const ending e = of_child([] {
    heddle::runtime rt(options_for(1));
    heddle::thread(in(rt, heddle::preemption::signal_yield), [] {}).join();
    const rlimit none{0, 0};
    setrlimit(RLIMIT_SIGPENDING, &none);
    heddle::runtime other(options_for(2));
    heddle::thread(in(other, heddle::preemption::signal_yield), [] {}).join();
  });
  EXPECT_TRUE(WIFEXITED(e.status) && WEXITSTATUS(e.status) == 0) << e.status << e.said;
  EXPECT_NE(e.said.find("RLIMIT_SIGPENDING"), std::string::npos) << e.said;
}

TEST_F(preempt_limits, refused_binding_is_told_and_does_no_harm) {
  const ending e = of_child([] {
    refuse(SYS_sched_setaffinity);
    heddle::runtime_options o = options_for(2);
    o.bind = "on";
    heddle::runtime rt(o);
    if (rt.run([] { return 42; }) != 42) _exit(1);
  });
  if (WEXITSTATUS(e.status) == 77) GTEST_SKIP() << "no seccomp filters here";
  EXPECT_TRUE(WIFEXITED(e.status) && WEXITSTATUS(e.status) == 0) << e.status << e.said;
  EXPECT_EQ(e.said.find("RLIMIT_NPROC"), std::string::npos) << e.said;
  EXPECT_NE(e.said.find("sched_setaffinity is refused"), std::string::npos) << e.said;
}

// Two threads of one worker that wait for each other, no kernel thread
// for the second one: said, and no progress in the watchdog's eyes.
TEST_F(preempt_limits, no_kernel_thread_is_told_and_is_no_progress) {
  if (heddle_test::sanitized) GTEST_SKIP() << "sanitizers need address space";
  const ending e = of_child([] {
    heddle::runtime_options o = options_for(1);
    o.watchdog = 1;
    heddle::runtime rt(o);
    std::atomic<bool> begun{false}, limited{false}, end{false};
    const heddle::thread_options kind = in(rt, heddle::preemption::klt_switching);
    heddle::thread first(kind, [&] {
      begun.store(true);
      while (!limited.load()) {
      }
      while (!end.load()) {
      }
    });
    while (!begun.load()) usleep(100);
    const rlimit none{0, 0};
    setrlimit(RLIMIT_AS, &none);  // binds the superuser, too
    limited.store(true);
    heddle::thread second(kind, [] {});
    const std::uint64_t looks = rt.core().watchdog_looks();
    while (rt.core().watchdog_looks() < looks + 3) usleep(1000);
    end.store(true);
    first.join();
    second.join();
  });
  EXPECT_TRUE(WIFEXITED(e.status) && WEXITSTATUS(e.status) == 0) << e.status << e.said;
  EXPECT_NE(e.said.find("RLIMIT_AS (ulimit -v) is 0"), std::string::npos) << e.said;
  EXPECT_NE(e.said.find("watchdog: no progress"), std::string::npos) << e.said;
}

}  // namespace
}  // namespace preempt_limits_test
