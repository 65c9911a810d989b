#include "bench/comparison/uintr.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

#include "bench/comparison/interrupt_targets.hpp"
#include "platform/linux/tick.hpp"
#include "platform/platform.hpp"
#include "worker/preemption/klt_means.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace heddle::platform {

const char* missing_for_user_interrupts(bool processor, bool kernel_told, bool kernel) noexcept {
  if (!processor && kernel_told && !kernel)
    return "neither the processor (CPUID leaf 7, EDX bit 5) nor the kernel (the uintr system calls of Intel's patches) "
           "has user interrupts";
  if (!processor) return "the processor has no user interrupts (CPUID leaf 7, EDX bit 5)";
  if (!kernel_told) return "the kernel does not tell whether it has user interrupts (/proc/kallsyms cannot be read)";
  if (!kernel)
    return "the processor has user interrupts, but the kernel has not (the uintr system calls of Intel's patches)";
  return nullptr;
}

bool kernel_has_user_interrupts(const char* list, bool& told) noexcept {
  static constexpr char wanted[] = "sys_uintr_register_handler";
  constexpr std::size_t length = sizeof wanted - 1;
  told = false;
  const int file = open(list, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  static char buffer[1 << 16];
  std::size_t kept = 0;
  bool found = false;
  for (ssize_t n; !found && (n = read(file, buffer + kept, sizeof buffer - kept)) > 0;) {
    told = true;
    const std::size_t bytes = kept + static_cast<std::size_t>(n);
    found = memmem(buffer, bytes, wanted, length) != nullptr;
    kept = bytes < length ? bytes : length - 1;  // the name may lie across two reads
    std::memmove(buffer, buffer + bytes - kept, kept);
  }
  close(file);
  return found;
}

#if defined(__x86_64__)

extern "C" {
void heddle_uintr_entry();                   // uintr_entry.S
std::uint64_t heddle_uintr_state_bytes = 0;  // of the XSAVE area
std::uint64_t heddle_uintr_state_mask = 0;   // the parts that are saved in it
}

namespace {

// Numbers of Intel's tree; a released kernel may use them for something
// else, so they are used only where the kernel has the functions.
enum : long {
  register_handler = 471,
  unregister_handler = 472,
  create_descriptor = 473,
  register_sender = 474,
  unregister_sender = 475
};

interrupt_targets targets;
std::atomic<std::uint32_t> changes{0};  // futex word of the sender
kernel_thread sender;                   // ends with the process

inline void stui() noexcept { asm volatile(".byte 0xf3, 0x0f, 0x01, 0xef" ::: "memory"); }
inline void clui() noexcept { asm volatile(".byte 0xf3, 0x0f, 0x01, 0xee" ::: "memory"); }
inline void senduipi(std::uint64_t index) noexcept {
  asm volatile(".byte 0xf3, 0x0f, 0xc7, 0xf0" ::"a"(index) : "memory");
}

// A target that does not answer is in a system call, which a user interrupt does not interrupt. A signal does.
void send(interrupt_targets::target& t, bool by_signal) noexcept {
  if (t.registered_life != t.life.load()) {
    if (t.index >= 0) syscall(unregister_sender, t.index, 0);
    t.index = static_cast<int>(syscall(register_sender, t.descriptor, 0));
    t.registered_life = t.life.load();
  }
  if (by_signal || t.index < 0) send_tick(t.kernel_thread.load());
  else senduipi(static_cast<std::uint64_t>(t.index));
}

void send_ticks(void*) {
  keep_deadlines_exactly();
  for (;;) {
    const std::uint32_t seen = changes.load();  // before the look
    wait_on(changes, seen, targets.send_due(now(), send));
  }
}

void describe_state() noexcept {
  unsigned a, b, c, d;
  __cpuid_count(13, 0, a, b, c, d);
  std::uint32_t low, high;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  // PKRU stays that of the kernel thread.
  heddle_uintr_state_mask = (std::uint64_t{high} << 32 | low) & ~(std::uint64_t{1} << 9);
  heddle_uintr_state_bytes = b;
}

const char* prepare() noexcept {
  bool told = false;
  const bool kernel = kernel_has_user_interrupts("/proc/kallsyms", told);
  if (const char* why = missing_for_user_interrupts(processor_has_user_interrupts(), told, kernel); why != nullptr)
    return why;
  describe_state();
  if (start(sender, send_ticks, nullptr, "heddle-uintr") != 0)
    return "no kernel thread that sends user interrupts could be started";
  return nullptr;
}

}  // namespace

// Called by uintr_entry.S. All registers are saved. Further user interrupts wait until the end of the entry (uiret), or
// until the handler leaves.
extern "C" void heddle_user_interrupt() noexcept {
  void* const owner = targets.came(kernel_thread_id());
  interrupted what;
  what.source = &user_interrupts();
  what.on_alternate_stack = on_alternate_stack();
  if (owner != nullptr) deliver_tick(owner, what);
}

bool processor_has_user_interrupts() noexcept {
  unsigned a, b, c, d;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (d & (1u << 5)) != 0;
}

namespace {

const char* why_not() noexcept {
  static const char* const answer = prepare();
  return answer;
}

const char* make_timer(tick_timer& out, void* owner) noexcept {
  static constexpr char refused[] = "a kernel thread cannot have its user interrupts";
  if (syscall(register_handler, heddle_uintr_entry, 0) != 0) return refused;
  const long descriptor = syscall(create_descriptor, 0, 0);
  const int place = descriptor < 0 ? -1 : targets.add(owner, kernel_thread_id(), static_cast<int>(descriptor));
  if (place < 0) {
    if (descriptor >= 0) close(static_cast<int>(descriptor));
    syscall(unregister_handler, 0);
    return refused;
  }
  out.id = place;
  stui();
  return nullptr;
}

void set_timer(const tick_timer& timer, nanoseconds first, nanoseconds interval) noexcept {
  const bool early = targets.arm(timer.id, first, interval);
  changes.fetch_add(1);  // [uintr:3]
  if (early) wake_one(changes);
}

void drop_timer(const tick_timer& timer) noexcept {
  const int descriptor = targets.at(timer.id).descriptor;
  targets.remove(timer.id);
  syscall(unregister_handler, 0);
  close(descriptor);
}

}  // namespace

#else

bool processor_has_user_interrupts() noexcept { return false; }

namespace {

const char* why_not() noexcept { return "user interrupts are x86-64's"; }
const char* make_timer(tick_timer&, void*) noexcept { return why_not(); }
void set_timer(const tick_timer&, nanoseconds, nanoseconds) noexcept {}
void drop_timer(const tick_timer&) noexcept {}
void stui() noexcept {}
void clui() noexcept {}

}  // namespace

#endif

const tick_source& user_interrupts() noexcept {
  static constexpr tick_source source{.why_not = why_not,
                                      .make = make_timer,
                                      .set = set_timer,
                                      .drop = drop_timer,
                                      .let_in = []() noexcept { stui(); },
                                      .hold = []() noexcept { clui(); }};
  return source;
}

[[maybe_unused]] static const bool is_used =
    (worker::use_for_comparison({.user_interrupts = &user_interrupts()}), true);

}  // namespace heddle::platform
