// Traces of programs that do not reach the end of main: each is a child process, whose file is read when it is dead.
#include <heddle/mutex.hpp>
#include <heddle/runtime.hpp>
#include <heddle/task_group.hpp>
#include <heddle/thread.hpp>
#include <heddle/trace.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "support/forked.hpp"
#include "support/runtimes.hpp"
#include "trace/file.hpp"
#include "trace/outside.hpp"

namespace heddle::trace {
namespace ended_test {
namespace {

class ended_program : public ::testing::Test {
 protected:
  void SetUp() override {
    if (heddle_test::sanitized) GTEST_SKIP() << "a sanitizer's threads do not survive the fork";
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    path_ = (std::filesystem::path(::testing::TempDir()) / (std::string("heddle_ended_") + test->name() + ".heddle"))
                .string();
    std::filesystem::remove(path_);
  }
  void TearDown() override { std::filesystem::remove(path_); }

  // Runs program(ready) in a child, where closing `ready` says that the
  // parent may go on; sends it `signal` then, and returns how it ended.
  int status_of(const std::function<void(int ready)>& program, int signal = 0) {
    int ready[2];
    EXPECT_EQ(pipe(ready), 0);
    const pid_t child = heddle_test::start_child([&] {
      close(ready[0]);
      program(ready[1]);
    });
    close(ready[1]);
    char byte;
    EXPECT_EQ(read(ready[0], &byte, 1), 0);
    close(ready[0]);
    if (signal != 0) kill(child, signal);
    return heddle_test::status_of(child);
  }

  [[nodiscard]] runtime_options traced() const {
    runtime_options o;
    o.workers = 2;
    o.trace = path_;
    return o;
  }

  [[nodiscard]] std::size_t regions() const {
    std::size_t n = 0;
    for (const worker_log& log : load(path_).workers) {
      for (const record& r : log.records) n += r.event == event::region_begin;
    }
    return n;
  }

  // A program whose workers are busy, and whose main thread waits, when the signal comes.
  void computes_until_killed(int ready) const {
    heddle::runtime rt(traced());
    rt.run([&] {
      const region r("told");
      task_group children;
      children.run([] {
        for (;;) this_thread::yield();
      });
      this_thread::yield();
      close(ready);
      children.wait();
    });
  }

  std::string path_;
};

TEST_F(ended_program, leaves_its_trace_when_it_is_interrupted_or_terminated) {
  for (const int signal : {SIGINT, SIGTERM}) {
    std::filesystem::remove(path_);
    const int status = status_of([&](int ready) { computes_until_killed(ready); }, signal);
    ASSERT_TRUE(WIFSIGNALED(status)) << status;
    EXPECT_EQ(WTERMSIG(status), signal);
    EXPECT_EQ(regions(), 1u);
  }
}

TEST_F(ended_program, leaves_its_trace_when_it_aborts) {
  // On a worker; in main, which is none; and because somebody else sent the signal.
  const int inside = status_of([&](int ready) {
    heddle::runtime rt(traced());
    close(ready);
    rt.run([] {
      const region r("told");
      std::abort();
    });
  });
  ASSERT_TRUE(WIFSIGNALED(inside));
  EXPECT_EQ(WTERMSIG(inside), SIGABRT);
  EXPECT_EQ(regions(), 1u);
  std::filesystem::remove(path_);
  const int in_main = status_of([&](int ready) {
    heddle::runtime rt(traced());
    rt.run([] { const region r("told"); });
    close(ready);
    std::abort();
  });
  EXPECT_EQ(WTERMSIG(in_main), SIGABRT);
  EXPECT_EQ(regions(), 1u);
  std::filesystem::remove(path_);
  EXPECT_EQ(WTERMSIG(status_of([&](int ready) { computes_until_killed(ready); }, SIGABRT)), SIGABRT);
  EXPECT_EQ(regions(), 1u);
}

// abort() of a thread that holds malloc's locks, and of one that is in the middle of writing.
TEST_F(ended_program, dies_of_an_abort_whatever_the_aborting_thread_holds) {
  const int status = status_of([&](int ready) {
    heddle::runtime rt(traced());
    close(ready);
    rt.run([] {
      const region r("told");
      auto* block = static_cast<unsigned long*>(std::malloc(4000));
      void* volatile next = std::malloc(4000);
      static_cast<void>(next);
      block[-1] = ~0ul;  // malloc sees that its books are wrong, with its lock held
      std::free(block);
      std::abort();  // another malloc
    });
  });
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGABRT);
}

TEST_F(ended_program, keeps_its_own_handlers_and_flushes_itself) {
  static volatile std::sig_atomic_t asked = 0;
  const int status = status_of(
      [&](int ready) {
        signal(SIGTERM, [](int) { asked = 1; });
        heddle::runtime rt(traced());
        rt.run([] { const region r("told"); });
        close(ready);
        while (asked == 0) usleep(1000);
        if (flush() != 1) _exit(3);
        rt.run([] { const region r("not told, for it came later"); });
        _exit(7);
      },
      SIGTERM);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 7);
  EXPECT_EQ(regions(), 1u);
}

TEST_F(ended_program, has_the_default_handlers_back_when_nothing_is_traced) {
  const int status = status_of([&](int ready) {
    {
      heddle::runtime rt(traced());
    }
    close(ready);
    for (const int s : {SIGINT, SIGTERM, SIGABRT}) {
      struct sigaction now{};
      if (sigaction(s, nullptr, &now) != 0 || now.sa_handler != SIG_DFL) _exit(4);
    }
    if (flush() != 0) _exit(5);
    {
      heddle::runtime again(traced());
    }
    raise(SIGINT);
  });
  ASSERT_TRUE(WIFSIGNALED(status)) << WEXITSTATUS(status);
  EXPECT_EQ(WTERMSIG(status), SIGINT);
}

TEST_F(ended_program, leaves_the_trace_of_a_runtime_that_is_never_destroyed) {
  const int status = status_of([&](int ready) {
    auto& rt = *new heddle::runtime(traced());
    rt.run([] { const region r("told"); });
    close(ready);
    std::exit(0);
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(regions(), 1u);
}

// A child of a traced program has its parent's handlers, and neither its keeper nor its workers.
TEST_F(ended_program, has_children_that_leave_its_trace_alone) {
  const int status = status_of([&](int ready) {
    heddle::runtime rt(traced());
    rt.run([] { const region r("told"); });
    flush();
    for (const int how : {0, SIGINT, SIGABRT}) {
      const pid_t inner = fork();
      if (inner == 0) {
        if (how == SIGABRT) std::abort();
        if (how != 0) raise(how);
        if (flush() != 0) _exit(6);
        std::exit(0);
      }
      int ended = 0;
      waitpid(inner, &ended, 0);
      if (how == 0 ? ended != 0 : WTERMSIG(ended) != how) _exit(8);
    }
    close(ready);
    _exit(0);
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(regions(), 1u);
}

TEST_F(ended_program, that_cannot_be_written_is_told) {
  std::string what;
  heddle::runtime_options o = traced();
  o.trace = path_ + "/no/such.heddle";
  ::testing::internal::CaptureStderr();
  {
    heddle::runtime rt(o);
    try {
      flush();
    } catch (const std::runtime_error& e) {
      what = e.what();
    }
  }
  EXPECT_THAT(what, ::testing::HasSubstr("/no/such.heddle"));
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), ::testing::HasSubstr("/no/such.heddle"));
}

TEST_F(ended_program, tells_regions_of_main) {
  const int status = status_of([&](int ready) {
    close(ready);
    heddle::runtime rt(traced());
    {
      const region whole("main");
      {
        const region r("setup");
      }
      const region r("compute");
      rt.run([] { const region told("inside"); });
    }
    _exit(flush() == 1 ? 0 : 1);
  });
  EXPECT_EQ(status, 0);
  const recording what = load(path_);
  const std::vector<outside_part> parts = outside_parts(what);
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(parts[0].name, "main");
  EXPECT_EQ(parts[1].name, "setup");
  EXPECT_EQ(parts[2].name, "compute");
  EXPECT_EQ(parts[1].depth, 1u);
  EXPECT_GE(parts[2].begin_ns, parts[1].end_ns);
  EXPECT_LE(parts[2].end_ns, parts[0].end_ns);
  EXPECT_EQ(regions(), 1u);
}

}  // namespace
}  // namespace ended_test
}  // namespace heddle::trace
