// User interrupts, as far as a machine without them allows: what is
// missing is said, the option is read, the table of targets is kept.
#include <heddle/heddle.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <signal.h>
#include <ucontext.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "platform/comparison.hpp"
#include "platform/linux/comparison/interrupt_targets.hpp"
#include "platform/linux/comparison/uintr.hpp"
#include "worker/preemption/ticks.hpp"

namespace uintr_test {
namespace {

using heddle::platform::interrupt_targets;
using heddle::platform::nanoseconds;
using testing::HasSubstr;

TEST(user_interrupts, what_is_missing_is_said) {
  using heddle::platform::missing_for_user_interrupts;
  EXPECT_EQ(missing_for_user_interrupts(true, true, true), nullptr);
  EXPECT_THAT(missing_for_user_interrupts(false, true, true),
              testing::AllOf(HasSubstr("processor"), testing::Not(HasSubstr("kernel"))));
  EXPECT_THAT(missing_for_user_interrupts(true, true, false), HasSubstr("the kernel has not"));
  EXPECT_THAT(missing_for_user_interrupts(false, true, false), HasSubstr("neither the processor"));
  EXPECT_THAT(missing_for_user_interrupts(true, false, false), HasSubstr("/proc/kallsyms"));
}

TEST(user_interrupts, the_kernel_is_asked_by_the_names_of_its_functions) {
  const std::string list = testing::TempDir() + "heddle_kallsyms";
  const auto has = [&](const std::string& text, bool expected_told = true) {
    std::ofstream(list) << text;
    bool told = false;
    const bool found = heddle::platform::kernel_has_user_interrupts(list.c_str(), told);
    EXPECT_EQ(told, expected_told);
    return found;
  };
  EXPECT_FALSE(has("0000 T __x64_sys_read\n0000 T __x64_sys_futex\n"));
  EXPECT_TRUE(has("0000 T __x64_sys_read\n0000 T __x64_sys_uintr_register_handler\n"));
  for (const std::size_t before : {65530u, 65536u, 65540u, 131060u}) {  // across the pieces that are read
    EXPECT_TRUE(has(std::string(before, 'x') + " __x64_sys_uintr_register_handler\n")) << before;
    EXPECT_FALSE(has(std::string(before, 'x') + " __x64_sys_uintr_register_handle\n")) << before;
  }
  EXPECT_FALSE(has("", false));
  std::remove(list.c_str());
  bool told = true;
  EXPECT_FALSE(heddle::platform::kernel_has_user_interrupts(list.c_str(), told));
  EXPECT_FALSE(told);
}

TEST(user_interrupts, a_runtime_without_them_is_refused_in_words) {
  heddle::runtime_options o;
  o.workers = 1;
  o.preempt_timer = "uintr";
  const char* const why = heddle::platform::user_interrupts().why_not();
  if (why == nullptr) GTEST_SKIP() << "this machine has them";
  try {
    heddle::runtime rt(o);
    ADD_FAILURE() << "was not refused";
  } catch (const std::invalid_argument& e) {
    EXPECT_THAT(e.what(), testing::AllOf(HasSubstr("preempt_timer=uintr"), HasSubstr(why)));
  }
}

TEST(user_interrupts, the_option_is_read) {
  using heddle::worker::tick_plan;
  const tick_plan plan = heddle::worker::tick_plan_from("uintr", 100'000);
  EXPECT_EQ(plan.timers, &heddle::platform::user_interrupts());
  EXPECT_EQ(plan.from, tick_plan::source::aligned);
  EXPECT_EQ(plan.interval, 100'000u);
  EXPECT_EQ(heddle::worker::tick_plan_from("aligned", 1).timers, nullptr);
  EXPECT_EQ(heddle::worker::tick_plan_from("hybrid:4", 1).groups, 4u);
  for (const char* wrong : {"uintr:2", "UINTR", "hybrid:", "hybrid:0", "hybrid:x", ""})
    EXPECT_THROW(heddle::worker::tick_plan_from(wrong, 1), std::invalid_argument) << wrong;
}

TEST(interrupt_targets_table, ticks_are_sent_when_they_are_due) {
  static interrupt_targets all;
  int first_owner = 0, second_owner = 0;
  const int a = all.add(&first_owner, 100, 7), b = all.add(&second_owner, 200, 8);
  ASSERT_GE(a, 0);
  ASSERT_GE(b, 0);
  ASSERT_NE(a, b);
  std::vector<int> sent;
  const auto send = [&](interrupt_targets::target& t, bool) { sent.push_back(t.kernel_thread.load()); };
  EXPECT_EQ(all.send_due(50, send), 0u);  // nobody wants any
  EXPECT_TRUE(all.arm(a, 1000, 100));     // the sender sleeps for ever
  EXPECT_EQ(all.send_due(50, send), 1000u);
  EXPECT_TRUE(all.arm(b, 500, 0));  // sooner than it would wake up
  EXPECT_EQ(all.send_due(60, send), 500u);
  EXPECT_FALSE(all.arm(b, 700, 0));  // later: it looks in time
  EXPECT_TRUE(sent.empty());
  EXPECT_EQ(all.send_due(700, send), 1000u);
  EXPECT_EQ(sent, std::vector<int>{200});
  EXPECT_EQ(all.send_due(1250, send), 1300u);  // 1100 and 1200 are not made up for
  EXPECT_EQ(sent, (std::vector<int>{200, 100}));
  EXPECT_FALSE(all.arm(a, 0, 0));
  EXPECT_EQ(all.send_due(5000, send), 0u);
  EXPECT_EQ(sent.size(), 2u);
}

TEST(interrupt_targets_table, who_does_not_answer_gets_a_signal) {
  static interrupt_targets all;
  int owner = 0;
  const int a = all.add(&owner, 100, 7);
  all.arm(a, 10, 10);
  std::vector<bool> by_signal;
  const auto send = [&](interrupt_targets::target&, bool signal) { by_signal.push_back(signal); };
  for (nanoseconds now = 10; now <= 40; now += 10) all.send_due(now, send);
  EXPECT_EQ(by_signal, (std::vector<bool>{false, false, true, true}));
  EXPECT_EQ(all.came(100), &owner);
  all.send_due(50, send);
  EXPECT_FALSE(by_signal.back());
  EXPECT_EQ(all.came(101), nullptr);
}

TEST(interrupt_targets_table, places_are_used_again_and_told_apart) {
  static interrupt_targets all;
  std::vector<int> places;
  for (unsigned i = 0; i < interrupt_targets::most; ++i) places.push_back(all.add(nullptr, static_cast<int>(i + 1), 0));
  EXPECT_EQ(all.add(nullptr, 5000, 0), -1);
  const auto life = all.at(places[17]).life.load();
  all.arm(places[17], 10, 10);
  all.remove(places[17]);
  int owner = 0;
  EXPECT_EQ(all.send_due(100, [](interrupt_targets::target&, bool) { ADD_FAILURE() << "nobody is there"; }), 0u);
  EXPECT_EQ(all.add(&owner, 5000, 3), places[17]);
  EXPECT_EQ(all.at(places[17]).life.load(), life + 1);  // the sender has to register anew
  EXPECT_EQ(all.send_due(100, [](interrupt_targets::target&, bool) { ADD_FAILURE() << "an earlier life's timer"; }),
            0u);
  EXPECT_EQ(all.came(5000), &owner);
}

TEST(interrupt_targets_table, timers_are_set_while_ticks_are_sent) {
  static interrupt_targets all;
  std::atomic<bool> stop{false};
  std::atomic<long> sent{0}, wrong{0};
  std::thread sender([&] {
    for (nanoseconds now = 1; !stop.load(); ++now) {
      all.send_due(now, [&](interrupt_targets::target& t, bool) {
        if (t.kernel_thread.load() == 0 || t.descriptor != 9) wrong.fetch_add(1);
        sent.fetch_add(1);
      });
      if (now % 64 == 0) std::this_thread::yield();
    }
  });
  std::vector<std::thread> owners;
  for (int i = 1; i <= 3; ++i) {
    owners.emplace_back([&, i] {
      const int place = all.add(&owners, i, 9);
      for (nanoseconds round = 1; round <= 20000; ++round) {
        all.arm(place, round, round % 3);
        if (all.came(i) != &owners) wrong.fetch_add(1);
        if (round % 64 == 0) std::this_thread::yield();
      }
      all.arm(place, 1, 1);  // for ever
    });
  }
  for (auto& t : owners) t.join();
  const long before = sent.load();
  while (sent.load() < before + 10) std::this_thread::yield();
  stop = true;
  sender.join();
  EXPECT_EQ(wrong.load(), 0);
}

#if defined(__x86_64__)

extern "C" {
void heddle_uintr_entry();
extern std::uint64_t heddle_uintr_state_bytes, heddle_uintr_state_mask;
}

// The two instructions that this processor may not know, as it would do them.
std::atomic<int> returns{0};
void emulate(int, siginfo_t*, void* context) {
  auto& r = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  const auto* code = reinterpret_cast<const unsigned char*>(r[REG_RIP]);
  const auto* stack = reinterpret_cast<const greg_t*>(r[REG_RSP]);
  if (std::memcmp(code, "\xf3\x0f\x01\xef", 4) == 0) {  // stui
    r[REG_RIP] += 4;
  } else if (std::memcmp(code, "\xf3\x0f\x01\xec", 4) == 0) {  // uiret
    r[REG_RIP] = stack[0];
    r[REG_EFL] = stack[1];
    r[REG_RSP] = stack[2];
    returns.fetch_add(1);
  } else {
    std::abort();
  }
}

struct registers {
  std::uint64_t general[9];  // rax rcx rdx rsi rdi r8 r9 r10 r11
  std::uint64_t carry;
  double vector[4];  // xmm0, xmm15
};

TEST(user_interrupts, the_entry_keeps_all_registers) {
  if (heddle::platform::processor_has_user_interrupts()) GTEST_SKIP() << "the instructions are not to be emulated";
  unsigned a, b, c, d;
  __cpuid_count(1, 0, a, b, c, d);
  if ((c & (1u << 27)) == 0) GTEST_SKIP() << "no XSAVE";
  __cpuid_count(13, 1, a, b, c, d);
  if ((a & 2) == 0) GTEST_SKIP() << "no XSAVEC";
  std::uint32_t low, high;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  __cpuid_count(13, 0, a, b, c, d);
  heddle_uintr_state_mask = (std::uint64_t{high} << 32 | low) & ~(std::uint64_t{1} << 9);
  heddle_uintr_state_bytes = b;
  struct sigaction on{}, before;
  on.sa_sigaction = emulate;
  on.sa_flags = SA_SIGINFO;
  sigaction(SIGILL, &on, &before);
  for (int round = 1; round <= 100; ++round) {
    registers in{}, out{};
    for (int i = 0; i < 9; ++i)
      in.general[i] = static_cast<std::uint64_t>(round) * 0x0101010101010101u + static_cast<unsigned>(i);
    for (int i = 0; i < 4; ++i) in.vector[i] = round + 0.25 * i;
    // The stack as the processor leaves it, and the jump; `1:` is what was interrupted, with the carry flag set.
    register registers* from asm("r12") = &in;
    register registers* to asm("r13") = &out;
    asm volatile(
        "movq %%rsp, %%rbx\n\t"
        "subq $384, %%rsp\n\t"
        "andq $-16, %%rsp\n\t"
        "pushq %%rbx\n\t"
        "stc\n\t"
        "pushfq\n\t"
        "leaq 1f(%%rip), %%rax\n\t"
        "pushq %%rax\n\t"
        "pushq $0\n\t"
        "movq 0(%%r12), %%rax\n\t"
        "movq 8(%%r12), %%rcx\n\t"
        "movq 16(%%r12), %%rdx\n\t"
        "movq 24(%%r12), %%rsi\n\t"
        "movq 32(%%r12), %%rdi\n\t"
        "movq 40(%%r12), %%r8\n\t"
        "movq 48(%%r12), %%r9\n\t"
        "movq 56(%%r12), %%r10\n\t"
        "movq 64(%%r12), %%r11\n\t"
        "movups 80(%%r12), %%xmm0\n\t"
        "movups 96(%%r12), %%xmm15\n\t"
        "clc\n\t"
        "jmp heddle_uintr_entry\n"
        "1:\n\t"
        "movq %%rax, 0(%%r13)\n\t"
        "setc %%al\n\t"
        "movzbl %%al, %%eax\n\t"
        "movq %%rax, 72(%%r13)\n\t"
        "movq %%rcx, 8(%%r13)\n\t"
        "movq %%rdx, 16(%%r13)\n\t"
        "movq %%rsi, 24(%%r13)\n\t"
        "movq %%rdi, 32(%%r13)\n\t"
        "movq %%r8, 40(%%r13)\n\t"
        "movq %%r9, 48(%%r13)\n\t"
        "movq %%r10, 56(%%r13)\n\t"
        "movq %%r11, 64(%%r13)\n\t"
        "movups %%xmm0, 80(%%r13)\n\t"
        "movups %%xmm15, 96(%%r13)\n\t"
        :
        : "r"(from), "r"(to)
        : "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "xmm0", "xmm15", "memory", "cc");
    ASSERT_EQ(std::memcmp(in.general, out.general, sizeof in.general), 0);
    ASSERT_EQ(std::memcmp(in.vector, out.vector, sizeof in.vector), 0);
    ASSERT_EQ(out.carry, 1u);
  }
  sigaction(SIGILL, &before, nullptr);
  EXPECT_EQ(returns.load(), 100);
}

#endif

}  // namespace
}  // namespace uintr_test
