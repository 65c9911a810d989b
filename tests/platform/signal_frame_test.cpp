// A signal's frame and what it tells about the interrupted code (src/platform/linux/signal_frame.hpp).
#include "platform/linux/signal_frame.hpp"

#include <gtest/gtest.h>

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

namespace signal_frame_test {
namespace {

using heddle::platform::has_asked_who_it_is;
using heddle::platform::is_about_to_signal;
using heddle::platform::is_at_pause;
using heddle::platform::returned_to;
using heddle::platform::state_of;

// A frame of code whose last instruction was `before`, and whose result register holds `result`.
class frame_after {
 public:
  frame_after(std::initializer_list<unsigned char> before, std::int64_t result) {
    std::copy(before.begin(), before.end(), code_);
    const auto next = reinterpret_cast<std::uintptr_t>(code_ + before.size());
#if defined(__x86_64__)
    frame_.uc_mcontext.gregs[REG_RIP] = static_cast<greg_t>(next);
    frame_.uc_mcontext.gregs[REG_RAX] = result;
#else
    frame_.uc_mcontext.pc = next;
    frame_.uc_mcontext.regs[0] = static_cast<std::uint64_t>(result);
#endif
  }

  const ucontext_t& get() const { return frame_; }
  ucontext_t& change() { return frame_; }

 private:
  alignas(64) unsigned char code_[16]{};
  ucontext_t frame_{};
};

#if defined(__x86_64__)
constexpr std::initializer_list<unsigned char> call{0x0f, 0x05};
constexpr std::initializer_list<unsigned char> other{0x90, 0x90};
constexpr std::initializer_list<unsigned char> pauses[]{{0xf3, 0x90}};
#else
constexpr std::initializer_list<unsigned char> call{0x01, 0x00, 0x00, 0xd4};
constexpr std::initializer_list<unsigned char> other{0x1f, 0x20, 0x03, 0xd5};
constexpr std::initializer_list<unsigned char> pauses[]{
    {0x3f, 0x20, 0x03, 0xd5}, {0x5f, 0x20, 0x03, 0xd5}, {0xdf, 0x3f, 0x03, 0xd5}};
#endif

// Of the code that the frame shows as interrupted.
void set_next(ucontext_t& frame, std::uintptr_t next) {
#if defined(__x86_64__)
  frame.uc_mcontext.gregs[REG_RIP] = static_cast<greg_t>(next);
#else
  frame.uc_mcontext.pc = next;
#endif
}

TEST(signal_frame, the_result_of_a_call_is_known_right_after_it) {
  EXPECT_EQ(returned_to(frame_after(call, 42).get()), 42);
  EXPECT_EQ(returned_to(frame_after(call, -EINTR).get()), -EINTR);
  EXPECT_EQ(returned_to(frame_after(other, 42).get()), std::nullopt);
}

TEST(signal_frame, who_has_asked_for_its_kernel_thread_or_process) {
  EXPECT_TRUE(has_asked_who_it_is(frame_after(call, syscall(SYS_gettid)).get()));
  EXPECT_TRUE(has_asked_who_it_is(frame_after(call, getpid()).get()));
  EXPECT_FALSE(has_asked_who_it_is(frame_after(call, getpid() + 1'000'000).get()));
  EXPECT_FALSE(has_asked_who_it_is(frame_after(call, -EINTR).get()));
  EXPECT_FALSE(has_asked_who_it_is(frame_after(call, 0).get()));
  EXPECT_FALSE(has_asked_who_it_is(frame_after(other, getpid()).get()));
}

#if defined(__x86_64__)

// As glibc's pthread_kill has it behind the question for the kernel thread, and getpid.
TEST(signal_frame, who_is_about_to_signal_itself) {
  // mov %eax,%ebx; call; mov %r12d,%edx; mov %ebx,%esi; mov %eax,%edi; mov $tgkill,%eax; syscall; mov %eax,%ebp
  alignas(64) const unsigned char kill[64] = {0x89, 0xc3, 0xe8, 0x02, 0xa6, 0x04, 0x00, 0x44, 0x89, 0xe2, 0x89, 0xde,
                                              0x89, 0xc7, 0xb8, 0xea, 0x00, 0x00, 0x00, 0x0f, 0x05, 0x89, 0xc5};
  alignas(64)
      const unsigned char ask[64] = {0xb8, 0x27, 0x00, 0x00, 0x00, 0x0f, 0x05, 0xc3};  // mov $getpid; syscall; ret
  const auto at = [](const unsigned char* code, std::size_t offset, long result) {
    frame_after frame(other, result);
    set_next(frame.change(), reinterpret_cast<std::uintptr_t>(code + offset));
    return is_about_to_signal(frame.get());
  };
  for (const std::size_t instruction : {0U, 2U, 7U, 10U, 12U, 14U})
    EXPECT_TRUE(at(kill, instruction, 1)) << instruction;
  EXPECT_TRUE(at(kill, 19, SYS_tgkill));
  EXPECT_FALSE(at(kill, 19, SYS_gettid));  // some other call
  EXPECT_FALSE(at(kill, 21, 0));           // it has been sent
  EXPECT_TRUE(at(ask, 0, 1));
  EXPECT_TRUE(at(ask, 5, SYS_getpid));
  EXPECT_FALSE(at(ask, 7, 1));
}

// The library's own: another form of it would go unseen.
TEST(signal_frame, the_c_librarys_question_is_known) {
  frame_after frame(other, 0);
  void* const ask = dlsym(RTLD_DEFAULT, "getpid");
  ASSERT_NE(ask, nullptr);
  set_next(frame.change(), reinterpret_cast<std::uintptr_t>(ask));
  EXPECT_TRUE(is_about_to_signal(frame.get()));
}

TEST(signal_frame, what_comes_next_is_not_looked_for_on_the_next_page) {
  auto* const pages =
      static_cast<unsigned char*>(mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(pages, MAP_FAILED);
  ASSERT_EQ(munmap(pages + 4096, 4096), 0);
  frame_after frame(other, 0);
  for (const std::size_t left : {1U, 2U, 6U, 7U, 23U}) {
    set_next(frame.change(), reinterpret_cast<std::uintptr_t>(pages + 4096 - left));
    EXPECT_FALSE(is_about_to_signal(frame.get())) << left;
  }
  munmap(pages, 4096);
}

#endif

TEST(signal_frame, a_pause_is_known_right_after_it) {
  for (const auto& pause : pauses) EXPECT_TRUE(is_at_pause(frame_after(pause, 0).get()));
  EXPECT_FALSE(is_at_pause(frame_after(other, 0).get()));
  EXPECT_FALSE(is_at_pause(frame_after(call, 0).get()));
}

// The page before the interrupted code's may not be there.
TEST(signal_frame, nothing_before_the_page_is_read) {
  const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* const pages = mmap(nullptr, 2 * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  ASSERT_EQ(mprotect(pages, size, PROT_NONE), 0);
  ucontext_t frame{};
  for (std::size_t into = 0; into < 4; ++into) {
    set_next(frame, reinterpret_cast<std::uintptr_t>(pages) + size + into);
    EXPECT_FALSE(is_at_pause(frame));
    EXPECT_EQ(returned_to(frame), std::nullopt);
  }
  munmap(pages, 2 * size);
}

TEST(signal_frame, a_state_is_one_place_and_one_set_of_registers) {
  frame_after here(other, 42);
  const std::uint64_t state = state_of(here.get());
  EXPECT_NE(state, 0u);
  EXPECT_EQ(state_of(here.get()), state);
#if defined(__x86_64__)
  for (const int r : {REG_R8, REG_R15, REG_RDI, REG_RBP, REG_RBX, REG_RAX, REG_RCX, REG_RSP, REG_RIP}) {
    here.change().uc_mcontext.gregs[r] += 8;
    EXPECT_NE(state_of(here.get()), state) << r;
    here.change().uc_mcontext.gregs[r] -= 8;
  }
#else
  for (const int r : {0, 1, 19, 30}) {
    here.change().uc_mcontext.regs[r] += 8;
    EXPECT_NE(state_of(here.get()), state) << r;
    here.change().uc_mcontext.regs[r] -= 8;
  }
#endif
}

}  // namespace
}  // namespace signal_frame_test
