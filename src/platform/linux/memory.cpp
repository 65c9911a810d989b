#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "platform/platform.hpp"

#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102  // Linux 6.13; older headers lack the name
#endif

namespace heddle::platform {

namespace {

// Each guard made by mprotect splits a mapping in two. The process may have vm.max_map_count mappings, and other code
// needs some, so heddle takes at most a third. The file is read without the C library's streams, because they allocate
// and a tick's handler may be here.
std::size_t mprotect_guard_budget() noexcept {
  std::size_t limit = 0;
  const int file = open("/proc/sys/vm/max_map_count", O_RDONLY | O_CLOEXEC);
  if (file >= 0) {
    char digits[24];
    const ssize_t length = read(file, digits, sizeof digits);
    for (ssize_t i = 0; i < length && digits[i] >= '0' && digits[i] <= '9'; ++i)
      limit = limit * 10 + static_cast<std::size_t>(digits[i] - '0');
    close(file);
  }
  return (limit != 0 ? limit : 65530) / 3 / 2;
}

std::atomic<std::size_t> mprotect_guards{0};  // the number of guards made by mprotect; never decremented

}  // namespace

std::size_t page_size() noexcept {
  return static_cast<std::size_t>(sysconf(_SC_PAGESIZE));  // kept by the C library
}

#if defined(HEDDLE_SIM)
namespace {
// The places of stacks must not depend on what else was mapped before. Each reservation has an address of its own.
void* next_place(std::size_t bytes) noexcept {
  constexpr std::uintptr_t first = std::uintptr_t{0x30} << 40, last = std::uintptr_t{0x50} << 40, step = 2 << 20;
  static std::uintptr_t next = first;
  const std::uintptr_t here = next;
  if (bytes > last - here) return nullptr;
  next = here + (bytes + step - 1) / step * step;
  return reinterpret_cast<void*>(here);
}
}  // namespace
#else
static void* next_place(std::size_t) noexcept { return nullptr; }
#endif

void* reserve(std::size_t bytes) noexcept {
  // An address that is in use is a wish only.
  void* memory =
      mmap(next_place(bytes), bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  madvise(memory, bytes, MADV_NOHUGEPAGE);  // a huge page would commit 2 MiB for a stack that uses 4 KiB
  return memory;
}

void* reserve_dense(std::size_t bytes) noexcept {
  constexpr std::size_t huge = std::size_t{2} << 20;
  const bool whole = bytes % huge == 0;
  const std::size_t more = whole ? huge : 0;  // so that the memory can begin at a huge page
  void* const memory =
      mmap(nullptr, bytes + more, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  if (!whole) return memory;
  char* const begin = static_cast<char*>(memory);
  const std::size_t before = (huge - reinterpret_cast<std::uintptr_t>(memory) % huge) % huge;
  if (before != 0) munmap(begin, before);
  munmap(begin + before + bytes, huge - before);
  madvise(begin + before, bytes, MADV_HUGEPAGE);
  return begin + before;
}

void release(void* memory, std::size_t bytes) noexcept { munmap(memory, bytes); }

void decommit(void* memory, std::size_t bytes) noexcept { madvise(memory, bytes, MADV_DONTNEED); }

std::size_t committed(void* memory, std::size_t bytes) noexcept {
  constexpr std::size_t most = 256;
  unsigned char pages[most];
  const std::size_t page = page_size();
  const auto low = reinterpret_cast<std::uintptr_t>(memory) / page;
  std::size_t found = 0;
  for (std::uintptr_t high = (reinterpret_cast<std::uintptr_t>(memory) + bytes) / page; high > low;) {
    const std::size_t count = std::min<std::size_t>(high - low, most);
    high -= count;
    if (mincore(reinterpret_cast<void*>(high * page), count * page, pages) != 0) break;
    const auto here = std::count_if(pages, pages + count, [](unsigned char state) { return (state & 1) != 0; });
    if (here == 0) break;
    found += static_cast<std::size_t>(here);
  }
  return found * page;
}

bool install_guard(void* memory, std::size_t bytes) noexcept {
  static std::atomic<bool> guard_install_works{true};
  if (guard_install_works.load(std::memory_order_relaxed)) {  // a hint: a stale true costs one refused call
    if (madvise(memory, bytes, MADV_GUARD_INSTALL) == 0) return true;
    guard_install_works.store(false, std::memory_order_relaxed);  // pairs with the load above
  }
  static std::atomic<std::size_t> kept{0};  // no static's guard: see kernel_thread.cpp
  std::size_t budget = kept.load();
  if (budget == 0) kept.store(budget = mprotect_guard_budget());
  if (mprotect_guards.fetch_add(1) >= budget) return false;
  return mprotect(memory, bytes, PROT_NONE) == 0;
}

}  // namespace heddle::platform
