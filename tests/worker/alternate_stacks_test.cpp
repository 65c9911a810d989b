// Alternate stacks beside ticks: each kernel thread has one of its own, and a thread that moves installs no other's.
#include <heddle/heddle.hpp>

#include <gtest/gtest.h>

#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <vector>

#include "support/preemption.hpp"
#include "support/signals.hpp"

namespace alternate_stacks_test {
namespace {

using namespace std::chrono_literals;
using heddle::preemption;
using heddle_test::compute;
using heddle_test::handled_by;
using heddle_test::in;
using heddle_test::kernel_thread;
using heddle_test::nothing_interrupts;
using heddle_test::options_for;
using heddle_test::repeat;

class beside_ticks : public heddle_test::with_ticks<preemption> {};

// Which alternate stack each kernel thread of the runtime has.
class alternate_stacks {
 public:
  void look() {
    const nothing_interrupts here;
    const int me = kernel_thread();
    stack_t s{};
    syscall(SYS_sigaltstack, nullptr, &s);
    if (s.ss_sp == nullptr) without_.fetch_add(1);
    for (pair& p : seen_) {
      int nobody = 0;
      if (p.kernel_thread.load() != me && !p.kernel_thread.compare_exchange_strong(nobody, me)) {
        if (p.stack.load() == s.ss_sp) shared_.fetch_add(1);
        continue;
      }
      void* none = nullptr;
      if (!p.stack.compare_exchange_strong(none, s.ss_sp) && none != s.ss_sp) changed_.fetch_add(1);
      break;
    }
  }
  void expect_one_each() const {
    EXPECT_EQ(without_.load(), 0);
    EXPECT_EQ(shared_.load(), 0);
    EXPECT_EQ(changed_.load(), 0);
  }

 private:
  struct pair {
    std::atomic<int> kernel_thread{0};
    std::atomic<void*> stack{nullptr};
  };
  std::array<pair, 64> seen_{};
  std::atomic<int> without_{0}, shared_{0}, changed_{0};
};

TEST_P(beside_ticks, every_kernel_thread_keeps_an_alternate_stack_of_its_own) {
  heddle::runtime rt(options_for(2));
  alternate_stacks stacks;
  std::vector<heddle::thread> all;
  for (int i = 0; i < 4; ++i) {
    all.emplace_back(in(rt, GetParam()), [&] {
      repeat(300ms, [&] {
        compute(2000);
        stacks.look();
      });
    });
  }
  for (auto& t : all) t.join();
  EXPECT_GT(rt.statistics().preemptions, 0u);
  stacks.expect_one_each();
}

// The return from a handler on the thread's own stack installs the alternate stack that its frame names. The thread has
// been moved meanwhile, or has asked for the alternate stack, and puts it back.
TEST_P(beside_ticks, handlers_and_programs_install_no_other_kernel_threads_alternate_stack) {
  const handled_by user(SIGUSR1, [](int) {
    const int before = kernel_thread();
    for (int i = 0; i < 40 && kernel_thread() == before; ++i) compute(10'000);
  });
  for (const bool puts_back : {false, true}) {
    heddle::runtime rt(options_for(2));
    alternate_stacks stacks;
    std::vector<heddle::thread> all;
    for (int i = 0; i < 4; ++i) {
      all.emplace_back(in(rt, GetParam()), [&] {
        repeat(300ms, [&] {
          stack_t before{};
          syscall(SYS_sigaltstack, nullptr, &before);
          syscall(SYS_tgkill, getpid(), kernel_thread(), SIGUSR1);
          if (puts_back) syscall(SYS_sigaltstack, &before, nullptr);
          stacks.look();
        });
      });
    }
    for (auto& t : all) t.join();
    EXPECT_GT(rt.statistics().preemptions, 0u);
    stacks.expect_one_each();
  }
}

TEST_P(beside_ticks, an_alternate_stack_of_a_threads_own_goes_where_it_goes) {
  heddle::runtime rt(options_for(2));
  constexpr std::size_t bytes = 65536;
  std::atomic<int> wrong{0};
  std::vector<heddle::thread> all;
  for (int i = 0; i < 4; ++i) {
    all.emplace_back(in(rt, GetParam()), [&] {
      void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      stack_t mine{}, before{};
      mine.ss_sp = memory;
      mine.ss_size = bytes;
      syscall(SYS_sigaltstack, &mine, &before);
      repeat(100ms, [&] {
        compute(10000);
        stack_t now{};
        syscall(SYS_sigaltstack, nullptr, &now);
        if (now.ss_sp != memory) wrong.fetch_add(1);
      });
      syscall(SYS_sigaltstack, &before, nullptr);  // perhaps another kernel thread's by now
      munmap(memory, bytes);
    });
  }
  for (auto& t : all) t.join();
  EXPECT_EQ(wrong.load(), 0);
  // Nobody is left with what was one thread's, or with another kernel thread's.
  std::atomic<void*> first{nullptr};
  std::atomic<int> first_id{0};
  all.clear();
  for (int i = 0; i < 2; ++i) {
    all.emplace_back(in(rt, GetParam()), [&] {
      repeat(50ms, [&] {
        compute(10000);
        const nothing_interrupts here;
        stack_t now{};
        syscall(SYS_sigaltstack, nullptr, &now);
        int nobody = 0;
        if (first_id.compare_exchange_strong(nobody, kernel_thread())) first = now.ss_sp;
        else if (nobody != kernel_thread() && first.load() == now.ss_sp) wrong.fetch_add(1);
        if (now.ss_sp == nullptr) wrong.fetch_add(1);
      });
    });
  }
  for (auto& t : all) t.join();
  EXPECT_EQ(wrong.load(), 0);
}

// The words between which a variable lies look like the description of a kernel thread's alternate stack: what a frame
// that has ended has left.
TEST_P(beside_ticks, a_thread_that_moves_keeps_what_lies_between_words_that_look_like_an_alternate_stack) {
  heddle::runtime rt(options_for(2));
  std::atomic<int> wrong{0}, moved{0};
  std::vector<heddle::thread> all;
  for (int i = 0; i < 4; ++i) {
    all.emplace_back(in(rt, GetParam()), [&] {
      repeat(300ms, [&] {
        std::uintptr_t words[3];
        int before = 0;
        {
          const nothing_interrupts here;
          before = kernel_thread();
          stack_t now{};
          syscall(SYS_sigaltstack, nullptr, &now);
          words[0] = reinterpret_cast<std::uintptr_t>(now.ss_sp);
          words[2] = now.ss_size;
        }
        words[1] = reinterpret_cast<std::uintptr_t>(&words);
        const std::uintptr_t size = words[2];
        for (int k = 0; k < 20 && kernel_thread() == before; ++k) {
          asm volatile("" : : "r"(words) : "memory");
          compute(10'000);
        }
        if (kernel_thread() != before) moved.fetch_add(1);
        asm volatile("" : : "r"(words) : "memory");
        if (words[1] != reinterpret_cast<std::uintptr_t>(&words) || words[2] != size) wrong.fetch_add(1);
      });
    });
  }
  for (auto& t : all) t.join();
  EXPECT_EQ(wrong.load(), 0) << "of " << moved.load() << " that moved";
  EXPECT_GT(rt.statistics().preemptions, 0u);
}

INSTANTIATE_TEST_SUITE_P(signals, beside_ticks, testing::Values(preemption::signal_yield, preemption::klt_switching),
                         [](const auto& info) { return heddle_test::name_of(info.param); });

}  // namespace
}  // namespace alternate_stacks_test
