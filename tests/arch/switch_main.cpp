// The context switch by itself, without a test framework so that it also runs
// cross-compiled under an emulator: registers and floating-point modes survive, `after`
// runs on the new stack, contexts start, spawn, return and end. Exit status 0: all held.
#include <cfenv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "arch/arch.hpp"

namespace {

int failures = 0;
void expect(bool held, const char* what) {
  if (held) return;
  std::printf("FAILED: %s\n", what);
  ++failures;
}

constexpr std::size_t stack_bytes = 64 * 1024;
struct stack {
  alignas(16) unsigned char bytes[stack_bytes];
  void* top() { return bytes + stack_bytes; }
  bool holds(const void* address) const { return address >= bytes && address < bytes + stack_bytes; }
} stacks[3];

void* main_context;
void* other_context;
int steps = 0;

void nothing(void*, void*) {}

void note(void* a, void* b) {
  const int here = 0;
  *static_cast<const void**>(a) = &here;
  *static_cast<std::uintptr_t*>(b) += 1;
}

// Values in callee-saved registers across many switches: the compiler keeps these eight live.
[[gnu::noinline]] std::uint64_t churn(void** save, void** load, std::uint64_t seed) {
  std::uint64_t a = seed, b = seed * 3, c = seed * 5, d = seed * 7, e = seed * 11, f = seed * 13;
  double x = static_cast<double>(seed) * 0.5, y = static_cast<double>(seed) * 0.25;
  for (int i = 0; i < 1000; ++i) {
    heddle_switch(save, *load, nothing, nullptr, nullptr);
    a += b, b ^= c, c += d, d ^= e, e += f, f ^= a;
    x += y;
    y += 1.0;
  }
  return a ^ b ^ c ^ d ^ e ^ f ^ static_cast<std::uint64_t>(x);
}
[[gnu::noinline]] std::uint64_t churn_alone(std::uint64_t seed) {
  std::uint64_t a = seed, b = seed * 3, c = seed * 5, d = seed * 7, e = seed * 11, f = seed * 13;
  double x = static_cast<double>(seed) * 0.5, y = static_cast<double>(seed) * 0.25;
  for (int i = 0; i < 1000; ++i) {
    a += b, b ^= c, c += d, d ^= e, e += f, f ^= a;
    x += y;
    y += 1.0;
  }
  return a ^ b ^ c ^ d ^ e ^ f ^ static_cast<std::uint64_t>(x);
}

std::uint64_t other_result = 0;
void churner(void*) {
  other_result = churn(&other_context, &main_context, 99);
  for (;;) heddle_switch(&other_context, main_context, nothing, nullptr, nullptr);
}

void rounder(void*) {
  expect(std::fegetround() == FE_TONEAREST, "a new context rounds to nearest");
  std::fesetround(FE_UPWARD);
  heddle_switch(&other_context, main_context, nothing, nullptr, nullptr);
  expect(std::fegetround() == FE_UPWARD, "a context keeps its rounding mode");
  heddle_switch(&other_context, main_context, nothing, nullptr, nullptr);
}

// Modes that <cfenv> does not know, in the vector unit alone (x86-64) or
// in FPCR (AArch64): flush to zero, and on x86-64 rounding by itself.
#if defined(__x86_64__)
// nearest; flush and denormals are zero; down; up; all of it
constexpr std::uint64_t own_modes[] = {0x1f80, 0x9fc0, 0x3f80, 0x5f80, 0xffc0};
std::uint64_t present_modes() {
  std::uint32_t now;
  asm volatile("stmxcsr %0" : "=m"(now));
  return now & ~std::uint32_t{0x3f};
}
void set_modes(std::uint64_t modes) {
  const auto low = static_cast<std::uint32_t>(modes);
  asm volatile("ldmxcsr %0" : : "m"(low));
}
#else
constexpr std::uint64_t own_modes[] = {0, std::uint64_t{1} << 24, std::uint64_t{1} << 22, std::uint64_t{2} << 22,
                                       std::uint64_t{7} << 22};
std::uint64_t present_modes() {
  std::uint64_t now;
  asm volatile("mrs %0, fpcr" : "=r"(now));
  return now;
}
void set_modes(std::uint64_t modes) { asm volatile("msr fpcr, %0" : : "r"(modes)); }
#endif

void moody(void*) {
  expect(present_modes() == own_modes[0], "a new context has the modes that it was prepared with");
  for (;;) {
    for (const std::uint64_t modes : own_modes) {
      set_modes(modes);
      heddle_switch(&other_context, main_context, nothing, nullptr, nullptr);
      expect(present_modes() == modes, "a context keeps modes of the vector unit");
    }
  }
}

void spawned_in_a_mode(void* argument) {
  expect(present_modes() == *static_cast<std::uint64_t*>(argument),
         "a spawned context begins with its spawner's modes");
}
void spawned_and_left(void*) {
  set_modes(own_modes[2]);
  heddle_switch(&other_context, main_context, nothing, nullptr, nullptr);  // the spawner goes on without it
}

heddle::arch::departure way_out;

void one_step(void*) { ++steps; }

void spawned_and_returns(void* argument) { steps += *static_cast<int*>(argument); }

// AddressSanitizer asks at a call that does not return for the bounds of the stack, which nobody has told it here.
#if defined(__SANITIZE_ADDRESS__)
__attribute__((no_sanitize("address")))
#endif
void spawned_and_abandoned(void*) {
  ++steps;
  heddle_end(nullptr);  // the spawner "went on elsewhere": departs to it by way_out
}

}  // namespace

extern "C" heddle::arch::departure* heddle_depart(void*) noexcept { return &way_out; }

int main() {
  // after() runs on the new stack, before the context goes on.
  const void* where = nullptr;
  std::uintptr_t calls = 0;
  other_context = heddle::arch::prepare(stacks[0].top(), churner, nullptr);
  heddle_switch(&main_context, other_context, note, &where, &calls);
  expect(stacks[0].holds(where) && calls == 1, "after runs once, on the new stack");

  const std::uint64_t mine = churn(&main_context, &other_context, 7);
  expect(mine == churn_alone(7), "callee-saved registers of the first context");
  heddle_switch(&main_context, other_context, nothing, nullptr, nullptr);
  expect(other_result == churn_alone(99), "callee-saved registers of the second context");

  other_context = heddle::arch::prepare(stacks[1].top(), rounder, nullptr);
  heddle_switch(&main_context, other_context, nothing, nullptr, nullptr);
  expect(std::fegetround() == FE_TONEAREST, "another context's rounding mode stays there");
  std::fesetround(FE_DOWNWARD);
  heddle_switch(&main_context, other_context, nothing, nullptr, nullptr);
  expect(std::fegetround() == FE_DOWNWARD, "two contexts with modes of their own");
  std::fesetround(FE_TONEAREST);

  other_context = heddle::arch::prepare(stacks[1].top(), moody, nullptr);
  for (int i = 0; i < 100; ++i) {
    for (const std::uint64_t modes : own_modes) {
      set_modes(modes);
      heddle_switch(&main_context, other_context, nothing, nullptr, nullptr);
      expect(present_modes() == modes, "two contexts with modes of the vector unit of their own");
    }
  }
  std::uint64_t spawner = own_modes[1];
  set_modes(spawner);
  heddle_spawn(&main_context, stacks[2].top(), [](void*) {}, nullptr, spawned_in_a_mode, &spawner);
  heddle_spawn(&main_context, stacks[2].top(), [](void*) {}, nullptr, spawned_and_left, nullptr);
  expect(present_modes() == spawner, "a spawner that goes on elsewhere keeps its modes");
  set_modes(own_modes[0]);
  const heddle::arch::floating_point_control default_control = heddle::arch::present_floating_point_control();
  set_modes(own_modes[1]);
  other_context = heddle::arch::prepare(stacks[1].top(), moody, nullptr, default_control);
  heddle_switch(&main_context, other_context, nothing, nullptr, nullptr);
  expect(present_modes() == own_modes[1], "and a maker its own");
  set_modes(own_modes[0]);

  // A context whose entry returns departs to where it is told.
  for (int i = 0; i < 1000; ++i) {
    other_context = heddle::arch::prepare(stacks[2].top(), one_step, nullptr);
    way_out = {nullptr, [](void* self, void*) { static_cast<heddle::arch::departure*>(self)->b = self; }, &way_out,
               nullptr};
    heddle_switch(
        &main_context, other_context, [](void*, void*) { way_out.stack_pointer = main_context; }, nullptr, nullptr);
    expect(way_out.b == &way_out, "after runs at a departure");
  }
  expect(steps == 1000, "every context ran once");

  // A spawned context returns to its spawner like a call, or ends without it.
  steps = 0;
  int amount = 3;
  for (int i = 0; i < 1000; ++i) {
    heddle_spawn(
        &main_context, stacks[2].top(),
        [](void* a) {
          ++*static_cast<int*>(a);
          --*static_cast<int*>(a);
        },
        &amount, spawned_and_returns, &amount);
  }
  expect(steps == 3000, "spawned contexts return");
  steps = 0;
  for (int i = 0; i < 1000; ++i) {
    way_out = {nullptr, nothing, nullptr, nullptr};
    heddle_spawn(
        &main_context, stacks[2].top(), [](void*) { way_out.stack_pointer = main_context; }, nullptr,
        spawned_and_abandoned, nullptr);
  }
  expect(steps == 1000, "spawned contexts end without their spawner");

  if (failures == 0) std::puts("switch: all held");
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
