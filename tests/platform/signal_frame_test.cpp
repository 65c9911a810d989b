// What a signal's frame tells of the code that it interrupted (src/platform/linux/signal_frame.hpp).
#include "platform/linux/signal_frame.hpp"

#include <gtest/gtest.h>

namespace {

using heddle::platform::has_asked_who_it_is;
using heddle::platform::returned_to;

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

 private:
  alignas(64) unsigned char code_[16]{};
  ucontext_t frame_{};
};

#if defined(__x86_64__)
constexpr std::initializer_list<unsigned char> call{0x0f, 0x05};
constexpr std::initializer_list<unsigned char> other{0x90, 0x90};
#else
constexpr std::initializer_list<unsigned char> call{0x01, 0x00, 0x00, 0xd4};
constexpr std::initializer_list<unsigned char> other{0x1f, 0x20, 0x03, 0xd5};
#endif

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

}  // namespace
