#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <new>

#include "platform/linux/elf_symbols.hpp"
#include "platform/linux/signal_frame.hpp"
#include "platform/platform.hpp"

namespace heddle::platform {

namespace {

struct sigaction previous_segv, previous_bus;
std::atomic<void (*)(const void*)> explainer{nullptr};  // set once, before the handlers are installed

// Another process may have sent the signal; it tells no address then.
void on_fault(int signal, siginfo_t* info, void* context) noexcept {
  const bool was_sent = info->si_code <= 0;
  if (!was_sent) explainer.load()(info->si_addr);
  const struct sigaction& before = signal == SIGSEGV ? previous_segv : previous_bus;
  if ((before.sa_flags & SA_SIGINFO) != 0 && before.sa_sigaction != nullptr)
    return before.sa_sigaction(signal, info, context);
  if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) return before.sa_handler(signal);
  if (was_sent && before.sa_handler == SIG_IGN) return;
  ::signal(signal, SIG_DFL);  // the instruction faults again and the process ends as it would have
  if (was_sent) syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), signal);  // pending until this handler returns
}

constexpr std::size_t alternate_bytes = std::size_t{64} << 10;

// The header at the high end of each alternate stack, above its used part. The list only grows, and the memory stays
// ([platform:6]). The reason is that a context may come back from a handler of the program with the alternate stack of
// a kernel thread that has ended. It keeps that stack until its next tick finds it in this list (leave_interrupted).
struct alternate_header {
  std::atomic<bool> taken{true};
  alternate_header* next{nullptr};  // written before it is published
};
constexpr std::size_t usable_bytes = alternate_bytes - 64;
std::atomic<alternate_header*> alternates{nullptr};  // the newest; publishes the header's contents

}  // namespace

void explain_faults(void (*explain)(const void*)) noexcept {
  static const bool installed = [explain] {
    explainer.store(explain);
    struct sigaction action{};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    return sigaction(SIGSEGV, &action, &previous_segv) == 0 && sigaction(SIGBUS, &action, &previous_bus) == 0;
  }();
  static_cast<void>(installed);
}

stack_t description_of(void* memory, std::size_t bytes) noexcept {
  stack_t stack{};
  stack.ss_sp = memory;
  stack.ss_size = bytes;
  if (memory == nullptr) stack.ss_flags = SS_DISABLE;
  return stack;
}

void set_alternate_stack(void* memory, std::size_t bytes) noexcept {
  const stack_t stack = description_of(memory, bytes);
  syscall(SYS_sigaltstack, &stack, nullptr);
}

std::size_t alternate_stack::usual_bytes() noexcept { return usable_bytes; }

std::size_t alternate_stack::bytes() const noexcept { return memory_ == nullptr ? 0 : usable_bytes; }

alternate_stack::alternate_stack() noexcept {
  alternate_header* mine = alternates.load();
  while (mine != nullptr && mine->taken.exchange(true)) mine = mine->next;
  if (mine == nullptr) {
    void* memory = mmap(nullptr, alternate_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return;
    mine = new (static_cast<char*>(memory) + usable_bytes) alternate_header;
    mine->next = alternates.load();
    while (!alternates.compare_exchange_weak(mine->next, mine)) {
    }
  }
  memory_ = reinterpret_cast<char*>(mine) - usable_bytes;
  set_alternate_stack(memory_, usable_bytes);
}

alternate_stack::~alternate_stack() {
  if (memory_ == nullptr) return;
  set_alternate_stack(nullptr, 0);
  madvise(memory_, alternate_bytes - page_size(), MADV_DONTNEED);  // everything but the header's page
  reinterpret_cast<alternate_header*>(static_cast<char*>(memory_) + usable_bytes)->taken.store(false);
}

bool alternate_stack::is_a_kernel_threads(const void* memory) noexcept {
  for (const alternate_header* a = alternates.load(); a != nullptr; a = a->next) {
    if (reinterpret_cast<const char*>(a) - usable_bytes == memory) return true;
  }
  return false;
}

void provide_alternate_stack() noexcept {
  stack_t present{};
  // There is one already: the program's own, or a sanitizer's.
  if (sigaltstack(nullptr, &present) != 0 || (present.ss_flags & SS_DISABLE) == 0) return;
  static thread_local alternate_stack mine;
  static_cast<void>(mine);
}

bool on_signal(const char* name, void (*handler)(int)) noexcept {
  static constexpr struct {
    const char* name;
    int number;
  } known[] = {{"USR1", SIGUSR1}, {"USR2", SIGUSR2}, {"QUIT", SIGQUIT}, {"WINCH", SIGWINCH}};
  for (const auto& entry : known) {
    if (std::strcmp(entry.name, name) != 0) continue;
    struct sigaction action{};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    return sigaction(entry.number, &action, nullptr) == 0;
  }
  return false;
}

void write_error(const char* text, std::size_t length) noexcept {
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text, length);
}

symbol symbol_at(const void* address) noexcept {
  Dl_info info;
  if (dladdr(address, &info) == 0) return {};
  symbol found{info.dli_sname, info.dli_saddr, info.dli_fname, reinterpret_cast<std::uintptr_t>(address)};
  if (info.dli_fname == nullptr) return found;
  // The addresses of a program that is not position-independent are those in its file.
  if (static_cast<const Elf64_Ehdr*>(info.dli_fbase)->e_type != ET_EXEC)
    found.offset -= reinterpret_cast<std::uintptr_t>(info.dli_fbase);
  try {
    if (found.name == nullptr) found.name = unexported_function(info, address, found.start);
  } catch (const std::exception&) {  // no memory for the table
  }
  return found;
}

const char* program_name() noexcept { return program_invocation_short_name; }

}  // namespace heddle::platform
