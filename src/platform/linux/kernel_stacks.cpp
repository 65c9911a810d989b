// Finds the kernel thread to which a stack belongs, by what the kernel tells of each kernel thread that waits.
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include <sys/uio.h>
#include <unistd.h>

#include "platform/platform.hpp"

namespace heddle::platform {

namespace {

struct closer {
  void operator()(std::FILE* f) const noexcept { std::fclose(f); }
  void operator()(DIR* d) const noexcept { closedir(d); }
};

struct range {
  std::uintptr_t low{0}, high{0};
  bool holds(std::uintptr_t address) const noexcept { return low <= address && address < high; }
};

// The mapping in which an address lies.
range mapping_of(std::uintptr_t address) noexcept {
  const std::unique_ptr<std::FILE, closer> maps(std::fopen("/proc/self/maps", "re"));
  char line[512];
  while (maps != nullptr && std::fgets(line, sizeof line, maps.get()) != nullptr) {
    range r;
    if (std::sscanf(line, "%" SCNxPTR "-%" SCNxPTR, &r.low, &r.high) == 2 && r.holds(address)) return r;
  }
  return {};
}

// The stack pointer of a kernel thread of this process that is in a system call; 0 if it runs, or if the system does
// not tell.
std::uintptr_t stack_pointer_of(const char* id) noexcept {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/self/task/%.20s/syscall", id);
  const std::unique_ptr<std::FILE, closer> file(std::fopen(path, "re"));
  char line[256];
  if (file == nullptr || std::fgets(line, sizeof line, file.get()) == nullptr) return 0;
  // "NUMBER SIX ARGUMENTS SP PC", "-1 SP PC", "running"
  char* last = std::strrchr(line, ' ');
  if (last == nullptr) return 0;
  *last = '\0';
  const char* before = std::strrchr(line, ' ');
  return before == nullptr ? 0 : static_cast<std::uintptr_t>(std::strtoull(before + 1, nullptr, 16));
}

}  // namespace

namespace {

named_kernel_thread in_a_system_call_on(const range& stack) noexcept {
  named_kernel_thread found;
  const std::unique_ptr<DIR, closer> all(opendir("/proc/self/task"));
  while (all != nullptr) {
    const dirent* const entry = readdir(all.get());
    if (entry == nullptr) break;
    if (entry->d_name[0] == '.' || !stack.holds(stack_pointer_of(entry->d_name))) continue;
    found.id = std::atoi(entry->d_name);
    char path[64];
    std::snprintf(path, sizeof path, "/proc/self/task/%.20s/comm", entry->d_name);
    const std::unique_ptr<std::FILE, closer> name(std::fopen(path, "re"));
    if (name != nullptr && std::fgets(found.name, sizeof found.name, name.get()) != nullptr)
      found.name[std::strcspn(found.name, "\n")] = '\0';
    break;
  }
  return found;
}

}  // namespace

// A thread that waits may be out of its system call for a moment, because the signal that asked for the dump has
// interrupted it, or because its wait begins with a few looks. So the kernel is asked repeatedly during a hundredth of
// a second at most.
named_kernel_thread whose_stack(const void* address) noexcept {
  const range stack = mapping_of(reinterpret_cast<std::uintptr_t>(address));
  if (stack.high == 0) return {};
  named_kernel_thread found = in_a_system_call_on(stack);
  for (int again = 0; found.id == 0 && again < 10; ++again) {
    static_cast<void>(poll(nullptr, 0, 1));
    found = in_a_system_call_on(stack);
  }
  return found;
}

const void* stack_pointer_of(int kernel_thread) noexcept {
  char id[16];
  std::snprintf(id, sizeof id, "%d", kernel_thread);
  return reinterpret_cast<const void*>(stack_pointer_of(id));
}

// Uses no memory of the C library, because the kernel thread that asks must not wait for one that has malloc's lock.
bool sleeps_in_system_call(int kernel_thread) noexcept {
  char path[64], text[256];
  std::snprintf(path, sizeof path, "/proc/self/task/%d/stat", kernel_thread);
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  const ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  if (length <= 0) return false;
  text[length] = '\0';
  const char* const name_ends = std::strrchr(text, ')');  // "NUMBER (NAME) STATE ...", and the name may have any bytes
  return name_ends != nullptr && (name_ends[1] == ' ') && (name_ends[2] == 'S' || name_ends[2] == 'D');
}

bool read_memory(const void* from, void* into, std::size_t bytes) noexcept {
  const iovec to{into, bytes}, source{const_cast<void*>(from), bytes};
  return process_vm_readv(getpid(), &to, 1, &source, 1, 0) == static_cast<ssize_t>(bytes);
}

}  // namespace heddle::platform
