#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstring>

#include "platform/linux/elf_symbols.hpp"
#include "platform/platform.hpp"

namespace heddle::platform {

namespace {

struct sigaction previous_segv, previous_bus;
std::atomic<void (*)(const void*)> explanation{nullptr};  // set once, before the handlers are installed

void on_fault(int signal, siginfo_t* info, void* context) noexcept {
  explanation.load()(info->si_addr);
  const struct sigaction& before = signal == SIGSEGV ? previous_segv : previous_bus;
  if ((before.sa_flags & SA_SIGINFO) != 0 && before.sa_sigaction != nullptr) return before.sa_sigaction(signal, info, context);
  if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) return before.sa_handler(signal);
  ::signal(signal, SIG_DFL);  // the instruction faults again and the process ends as it would have
}

constexpr std::size_t alternate_bytes = std::size_t{64} << 10;

}  // namespace

void explain_faults(void (*explain)(const void*)) noexcept {
  static const bool installed = [explain] {
    explanation.store(explain);
    struct sigaction action {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    return sigaction(SIGSEGV, &action, &previous_segv) == 0 && sigaction(SIGBUS, &action, &previous_bus) == 0;
  }();
  static_cast<void>(installed);
}

alternate_stack::alternate_stack() noexcept {
  void* memory = mmap(nullptr, alternate_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  memory_ = memory;
  stack_t stack{};
  stack.ss_sp = memory_;
  stack.ss_size = alternate_bytes;
  sigaltstack(&stack, nullptr);
}

alternate_stack::~alternate_stack() {
  if (memory_ == nullptr) return;
  stack_t off{};
  off.ss_flags = SS_DISABLE;
  sigaltstack(&off, nullptr);
  munmap(memory_, alternate_bytes);
}

bool on_signal(const char* name, void (*handler)(int)) noexcept {
  static constexpr struct {
    const char* name;
    int number;
  } known[] = {{"USR1", SIGUSR1}, {"USR2", SIGUSR2}, {"QUIT", SIGQUIT}, {"WINCH", SIGWINCH}};
  for (const auto& entry : known) {
    if (std::strcmp(entry.name, name) != 0) continue;
    struct sigaction action {};
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
  if (dladdr(address, &info) == 0) return {nullptr, nullptr};
  if (info.dli_sname != nullptr) return {info.dli_sname, info.dli_saddr};
  try {
    symbol found{nullptr, nullptr};
    if (info.dli_fname != nullptr) found.name = unexported_function(info, address, found.start);
    return found;
  } catch (const std::exception&) {  // no memory for the table
    return {nullptr, nullptr};
  }
}

const char* program_name() noexcept { return program_invocation_short_name; }

}  // namespace heddle::platform
