// Blocks of thread-local storage apart from any kernel thread, made by glibc's own means. What is private of glibc is found by name
// at run time (the functions that its loader and its libc share, and the offsets that it publishes for libthread_db), checked
// against what the calling kernel thread is known to have, and refused where anything does not fit.
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "arch/arch.hpp"
#include "platform/platform.hpp"

#ifndef HWCAP2_FSGSBASE
#define HWCAP2_FSGSBASE (1 << 1)
#endif

namespace heddle::platform {

namespace {

// Of the caller's kernel thread, as the C library knows it; offsets are from `struct pthread`, whose address pthread_self() is.
struct library {
  void* (*allocate)(void*);        // of ld.so: static blocks of all modules, room for struct pthread (zeroed), dtv. Returns the thread pointer
  void (*call_destructors)();      // of libc: what __cxa_thread_atexit registered for the calling thread
  void (*init_ctype)();            // of libc: tables of the calling thread's locale
  std::ptrdiff_t self;             // struct pthread - thread pointer
  std::size_t tid;
  std::size_t specific;            // level-1 table of pthread_setspecific
  std::size_t first_block;         // where its first entry points
  std::size_t robust;              // head of the list of robust mutexes
  std::ptrdiff_t rseq;             // from the thread pointer; 0: none
};
library found;                     // written once, before anybody sees the answer below

template <class F>
bool look_up(F& function, const char* name) noexcept {
  function = reinterpret_cast<F>(dlsym(RTLD_DEFAULT, name));
  return function != nullptr;
}

// A field that glibc describes for libthread_db: {bits, number, offset}.
bool look_up_field(std::size_t& offset, const char* name, std::uint32_t bits) noexcept {
  const auto* description = static_cast<const std::uint32_t*>(dlsym(RTLD_DEFAULT, name));
  if (description == nullptr || description[0] != bits) return false;
  offset = description[2];
  return offset < 4096;
}

template <class T>
T& at(void* base, std::ptrdiff_t offset) noexcept {
  return *reinterpret_cast<T*>(static_cast<char*>(base) + offset);
}

const char* examine() noexcept {
#if defined(__x86_64__)
  if ((getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE) == 0) return "the kernel does not let programs write the thread pointer (Linux 5.9, FSGSBASE)";
#endif
  const char* (*version)();
  if (!look_up(version, "gnu_get_libc_version")) return "the C library is not glibc";
  char* end;
  const long major = std::strtol(version(), &end, 10);
  const long minor = *end == '.' ? std::strtol(end + 1, nullptr, 10) : 0;
  if (major != 2 || minor < 34 || minor > 41) return "this version of glibc is not known; 2.34 to 2.41 are";
  static constexpr const char* differs = "this build of glibc does not have the parts that are needed, or not in the form that is known";
  if (!look_up(found.allocate, "_dl_allocate_tls") || !look_up(found.call_destructors, "__call_tls_dtors") ||
      !look_up(found.init_ctype, "__ctype_init")) {
    return differs;
  }
  if (!look_up_field(found.tid, "_thread_db_pthread_tid", 32)) return differs;
  const auto* specific = static_cast<const std::uint32_t*>(dlsym(RTLD_DEFAULT, "_thread_db_pthread_specific"));
  if (specific == nullptr || specific[2] >= 4096) return differs;
  found.specific = specific[2];
  void* const tp = arch::thread_pointer();
  void* const self = reinterpret_cast<void*>(pthread_self());
  found.self = static_cast<char*>(self) - static_cast<char*>(tp);
  if (at<int>(self, static_cast<std::ptrdiff_t>(found.tid)) != static_cast<int>(syscall(SYS_gettid))) return differs;
#if defined(__x86_64__)
  if (found.self != 0 || at<void*>(tp, 0) != tp || at<void*>(tp, 16) != tp) return differs;
#endif
  char* const first = at<char*>(self, static_cast<std::ptrdiff_t>(found.specific));
  found.first_block = static_cast<std::size_t>(first - static_cast<char*>(self));
  if (found.first_block >= 4096) return differs;
  char* robust = nullptr;
  std::size_t length = 0;
  if (syscall(SYS_get_robust_list, 0, &robust, &length) != 0) return differs;
  found.robust = static_cast<std::size_t>(robust - static_cast<char*>(self));
  if (found.robust >= 4096) return differs;
  const auto* rseq = static_cast<const std::ptrdiff_t*>(dlsym(RTLD_DEFAULT, "__rseq_offset"));
  found.rseq = rseq != nullptr ? *rseq : 0;
  return nullptr;
}

// Owners of locks are told apart by this number. Kernel thread ids end at 2^22; the futex word has room for 30 bits.
std::atomic<std::uint32_t> numbers{1u << 23};

bool is_library(const char* path, const char* name) noexcept {
  const char* last = path == nullptr ? nullptr : std::strrchr(path, '/');
  return last != nullptr && std::strncmp(last + 1, name, std::strlen(name)) == 0;
}

// What glibc keeps of each module for a thread, since 2.25: dtv[0] is the generation, dtv[-1] the number of entries.
union dtv_entry {
  std::size_t counter;
  struct {
    void* value;    // the module's variables; all ones: not made yet
    void* to_free;  // of variables outside the static block
  } pointer;
};
dtv_entry* dtv_of(void* tp) noexcept {
#if defined(__x86_64__)
  return at<dtv_entry*>(tp, 8);
#else
  return at<dtv_entry*>(tp, 0);
#endif
}

// The variables of the modules that lie in the static block, as a new thread finds them, but for the C library's: those hold malloc's caches. Images
// are copied, since a module may be unloaded. Immutable; a later one follows when modules were loaded, and the older stays.
struct static_image {
  std::ptrdiff_t from;      // of the thread pointer
  std::size_t file_bytes;
  std::size_t all_bytes;
  const char* content;
};
struct static_images {
  unsigned long long loads{~0ull};  // of modules, when it was made
  std::vector<static_image> all;
  std::vector<std::unique_ptr<char[]>> contents;
};
std::atomic<static_images*> images{nullptr};

bool is_renewed(const dl_phdr_info& info) noexcept {
  return info.dlpi_tls_data != nullptr && !is_library(info.dlpi_name, "libc.so") && !is_library(info.dlpi_name, "ld-linux");
}

int add_image(dl_phdr_info* info, std::size_t, void* data) {
  auto& made = *static_cast<static_images*>(data);
  made.loads = info->dlpi_adds;
  if (!is_renewed(*info)) return 0;
  void* const tp = arch::thread_pointer();
  if (dtv_of(tp)[info->dlpi_tls_modid].pointer.to_free != nullptr) return 0;  // not in the static block
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& part = info->dlpi_phdr[i];
    if (part.p_type != PT_TLS) continue;
    made.contents.push_back(std::make_unique<char[]>(part.p_filesz));
    char* const copy = made.contents.back().get();
    std::memcpy(copy, reinterpret_cast<const char*>(info->dlpi_addr + part.p_vaddr), part.p_filesz);
    made.all.push_back({static_cast<char*>(info->dlpi_tls_data) - static_cast<char*>(tp), part.p_filesz, part.p_memsz, copy});
  }
  return 0;
}

// Under the loader's lock. Any module has the number of loads so far: the first one's is enough.
int compare_loads(dl_phdr_info* info, std::size_t, void* data) noexcept { return info->dlpi_adds == *static_cast<unsigned long long*>(data) ? 2 : 1; }

bool take_images() noexcept {
  static_images* before = images.load();
  if (before != nullptr && dl_iterate_phdr(compare_loads, &before->loads) == 2) return true;
  try {
    auto made = std::make_unique<static_images>();
    dl_iterate_phdr(add_image, made.get());
    if (images.compare_exchange_strong(before, made.get())) made.release();  // else somebody else was quicker
    return true;
  } catch (const std::bad_alloc&) {
    return before != nullptr;
  }
}

// The same for a thread that has used variables of modules outside the static block.
int renew_module(dl_phdr_info* info, std::size_t, void*) noexcept {
  if (!is_renewed(*info)) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& part = info->dlpi_phdr[i];
    if (part.p_type != PT_TLS) continue;
    auto* data = static_cast<char*>(info->dlpi_tls_data);
    std::memcpy(data, reinterpret_cast<const char*>(info->dlpi_addr + part.p_vaddr), part.p_filesz);
    std::memset(data + part.p_filesz, 0, part.p_memsz - part.p_filesz);
  }
  return 0;
}

bool uses_loaded_modules(void* tp) noexcept {
  const dtv_entry* dtv = dtv_of(tp);
  for (std::size_t i = 1; i <= dtv[-1].counter; ++i) {
    if (dtv[i].pointer.to_free != nullptr && dtv[i].pointer.value != reinterpret_cast<void*>(~std::uintptr_t{0})) return true;
  }
  return false;
}

}  // namespace

const char* why_no_own_tls() noexcept {
  static const char* const answer = examine();
  return answer;
}

own_tls* make_own_tls() noexcept {
  if (!take_images()) return nullptr;
  auto* block = new (std::nothrow) own_tls;
  if (block == nullptr) return nullptr;
  void* const tp = found.allocate(nullptr);
  if (tp == nullptr) {
    delete block;
    return nullptr;
  }
  void* const self = static_cast<char*>(tp) + found.self;
#if defined(__x86_64__)
  void* const mine = arch::thread_pointer();
  at<void*>(tp, 0) = tp;
  at<void*>(tp, 16) = tp;
  at<int>(tp, 24) = 1;                                                       // several threads
  at<std::uint64_t>(tp, 40) = at<std::uint64_t>(mine, 40);                   // stack guard
  at<std::uint64_t>(tp, 48) = at<std::uint64_t>(mine, 48);                   // pointer guard
#endif
  at<std::uint32_t>(self, static_cast<std::ptrdiff_t>(found.tid)) = numbers.fetch_add(1);
  at<void*>(self, static_cast<std::ptrdiff_t>(found.specific)) = static_cast<char*>(self) + found.first_block;
  char* const robust = static_cast<char*>(self) + found.robust;
  char* const model = reinterpret_cast<char*>(pthread_self()) + found.robust;
  std::memcpy(robust, model, 3 * sizeof(void*));
  at<void*>(robust, 0) = robust;
  at<void*>(robust, 2 * sizeof(void*)) = nullptr;
  at<void*>(robust, -static_cast<std::ptrdiff_t>(sizeof(void*))) = robust;
  if (found.rseq != 0) at<std::int32_t>(tp, found.rseq + 4) = -1;            // not registered: the C library asks the kernel instead
  block->thread_pointer = tp;
  return block;
}

void begin_own_tls(own_tls& block) noexcept {
  if (!block.fresh) return;
  found.init_ctype();
  block.fresh = false;
}

// As a rule without the loader's lock: a thread that is preempted while it holds that lets all others wait for a round.
void end_own_tls(own_tls& block) noexcept {
  found.call_destructors();
  if (uses_loaded_modules(block.thread_pointer)) dl_iterate_phdr(renew_module, nullptr);
  for (const static_image& i : images.load()->all) {
    char* const place = static_cast<char*>(block.thread_pointer) + i.from;
    std::memcpy(place, i.content, i.file_bytes);
    std::memset(place + i.file_bytes, 0, i.all_bytes - i.file_bytes);
  }
}

}  // namespace heddle::platform
