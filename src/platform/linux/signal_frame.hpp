// The context that a signal has interrupted, as the system keeps it, and the signals of the calling kernel thread. All
// functions are async-signal-safe.
#pragma once

#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

namespace heddle::platform {

inline std::uintptr_t stack_pointer_of(const ucontext_t& frame) noexcept {
#if defined(__x86_64__)
  return static_cast<std::uintptr_t>(frame.uc_mcontext.gregs[REG_RSP]);
#else
  return frame.uc_mcontext.sp;
#endif
}

// uc_stack.ss_flags does not tell this, because it holds the argument of sigaltstack, without SS_ONSTACK.
inline bool was_on_alternate_stack(const ucontext_t& frame) noexcept {
  const auto low = reinterpret_cast<std::uintptr_t>(frame.uc_stack.ss_sp);
  const std::uintptr_t pointer = stack_pointer_of(frame);
  return (frame.uc_stack.ss_flags & SS_DISABLE) == 0 && pointer > low && pointer - low <= frame.uc_stack.ss_size;
}

inline std::uintptr_t next_instruction_of(const ucontext_t& frame) noexcept {
#if defined(__x86_64__)
  return static_cast<std::uintptr_t>(frame.uc_mcontext.gregs[REG_RIP]);
#else
  return frame.uc_mcontext.pc;
#endif
}

// Whether the last instruction of the interrupted code has this encoding. The bytes before the next instruction on its
// page can be read, because they are code. The page before may not be there.
template <std::size_t N>
bool comes_from(const ucontext_t& frame, const unsigned char (&instruction)[N]) noexcept {
  const std::uintptr_t next = next_instruction_of(frame);
  return next % 4096 >= N && std::memcmp(reinterpret_cast<const void*>(next - N), instruction, N) == 0;
}

// Whether the interrupted code has just paused, as loops do that wait for another thread. Nearly all of such a loop's
// time is in that instruction, and interrupts come at its end.
inline bool is_at_pause(const ucontext_t& frame) noexcept {
#if defined(__x86_64__)
  return comes_from(frame, {0xf3, 0x90});  // pause
#else
  // yield, wfe or isb: libraries differ in the instruction by which they pause
  return comes_from(frame, {0x3f, 0x20, 0x03, 0xd5}) || comes_from(frame, {0x5f, 0x20, 0x03, 0xd5}) ||
         comes_from(frame, {0xdf, 0x3f, 0x03, 0xd5});
#endif
}

// A digest of the next instruction's address and of all general registers; never 0. Vector registers are left out,
// because the frame may hold stale values of registers that the code does not use.
inline std::uint64_t state_of(const ucontext_t& frame) noexcept {
  std::uint64_t digest = next_instruction_of(frame) ^ stack_pointer_of(frame);
  const auto take = [&digest](auto value) {
    digest = (digest ^ static_cast<std::uint64_t>(value)) * 0x9e3779b97f4a7c15u;
    digest ^= digest >> 29;
  };
#if defined(__x86_64__)
  for (int r = REG_R8; r < REG_RSP; ++r) take(frame.uc_mcontext.gregs[r]);  // all of them are in this range
#else
  for (int r = 0; r < 31; ++r) take(frame.uc_mcontext.regs[r]);
#endif
  return digest | 1;
}

// The result of the system call that was the last instruction of the interrupted code; none if that was no system call.
inline std::optional<std::int64_t> returned_to(const ucontext_t& frame) noexcept {
#if defined(__x86_64__)
  const auto result = static_cast<std::int64_t>(frame.uc_mcontext.gregs[REG_RAX]);
  constexpr unsigned char call[] = {0x0f, 0x05};  // syscall
#else
  const auto result = static_cast<std::int64_t>(frame.uc_mcontext.regs[0]);
  constexpr unsigned char call[] = {0x01, 0x00, 0x00, 0xd4};  // svc #0
#endif
  if (!comes_from(frame, call)) return std::nullopt;
  return result;
}

// Whether the interrupted code has just asked the system which kernel thread or process this is, and has not looked at
// the answer yet. raise() asks so, and then sends the signal to that kernel thread. Ticks that come during a system
// call are delivered at its end, so nearly all ticks between the question and the signal are found here.
inline bool has_asked_who_it_is(const ucontext_t& frame) noexcept {
  const auto answer = returned_to(frame);
  return answer && *answer > 0 && (*answer == syscall(SYS_gettid) || *answer == syscall(SYS_getpid));
}

// Whether the interrupted code is about to send a signal to a kernel thread, or to ask for its process. Together with
// has_asked_who_it_is this covers all code in which raise() knows on which kernel thread it runs. The C library moves a
// constant into the register of the call's number right before the call, and has a few instructions between question
// and signal. x86-64 only; returns false elsewhere.
inline bool is_about_to_signal([[maybe_unused]] const ucontext_t& frame) noexcept {
#if defined(__x86_64__)
  constexpr std::size_t reach = 24;               // bytes: the moves and the call of getpid() between gettid and tgkill
  constexpr unsigned char call[] = {0x0f, 0x05};  // syscall
  const auto* const next = reinterpret_cast<const unsigned char*>(next_instruction_of(frame));
  // Code extends at least to the end of its page.
  const std::size_t readable = std::min(reach, 4096 - next_instruction_of(frame) % 4096);
  const auto is_meant = [](std::int64_t number) { return number == SYS_tgkill || number == SYS_getpid; };
  const auto calls_at = [&](std::size_t i) { return i + 2 <= readable && std::memcmp(next + i, call, 2) == 0; };
  if (calls_at(0)) return is_meant(frame.uc_mcontext.gregs[REG_RAX]);
  for (std::size_t i = 0; i + 7 <= readable; ++i) {
    if (next[i] != 0xb8 || !calls_at(i + 5)) continue;  // mov $number, %eax
    std::int32_t number;
    std::memcpy(&number, next + i + 1, sizeof number);
    if (is_meant(number)) return true;
  }
#endif
  return false;
}

inline std::uint64_t blocked_in(const ucontext_t& frame) noexcept {
  std::uint64_t bits;
  std::memcpy(&bits, &frame.uc_sigmask, sizeof bits);
  return bits;
}

inline void load_floating_point_control([[maybe_unused]] const ucontext_t& frame) noexcept {
#if defined(__x86_64__)  // AArch64 leaves FPCR as it is in handlers
  const auto* saved = frame.uc_mcontext.fpregs;
  if (saved == nullptr) return;
  asm volatile("fldcw %0" : : "m"(saved->cwd));
  asm volatile("ldmxcsr %0" : : "m"(saved->mxcsr));
#endif
}

constexpr std::uint64_t bit_of(int signal) noexcept { return std::uint64_t{1} << (signal - 1); }

// Uses the system call, because the C library's function would silently leave out signals of its own.
inline void change_blocked(int how, std::uint64_t bits, std::uint64_t* before = nullptr) noexcept {
  syscall(SYS_rt_sigprocmask, how, &bits, before, sizeof bits);
}

// Defined in signals.cpp: an alternate stack in the form that the system takes; null means none.
stack_t description_of(void* memory, std::size_t bytes) noexcept;
void set_alternate_stack(void* memory, std::size_t bytes) noexcept;

}  // namespace heddle::platform
