#include "platform/linux/tls_images.hpp"

#include <heddle/detail/current.hpp>

#include <link.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>

namespace heddle::platform {

namespace {

// Taken by threads and by the kernel thread that makes blocks. It is not a lock of the runtime: while others wait for
// it in the kernel, a preempted holder gets its time and goes on.
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
tls_images* latest = nullptr;  // under the lock; counts as one of its users

// A child of fork() inherits the loader's lock as it is, so a fork waits for those that walk through the modules, and
// they for forks. Both wait for a while only, because the other one may be a thread that waits for this worker.
std::atomic<int> walking{0}, forking{0};
constexpr int patience = 1000;  // looks

void wait_for(const std::atomic<int>& others) noexcept {
  for (int i = 0; i < patience && others.load() != 0; ++i) sched_yield();
}

struct walk {
  walk() noexcept {
    for (int i = 0; i < patience; ++i) {
      walking.fetch_add(1);
      if (forking.load() == 0) return;
      walking.fetch_sub(1);
      sched_yield();
    }
    walking.fetch_add(1);
  }
  ~walk() { walking.fetch_sub(1); }
  walk(const walk&) = delete;
  walk& operator=(const walk&) = delete;
};

void before_fork() {
  forking.fetch_add(1);
  wait_for(walking);
}
void after_fork() { forking.fetch_sub(1); }
// If there is a holder of the lock, or somebody who walks, it is in the parent.
void in_child() {
  pthread_mutex_init(&lock, nullptr);
  latest = nullptr;
  walking.store(0);
  forking.store(0);
}

[[maybe_unused]] const bool prepared = pthread_atfork(before_fork, after_fork, in_child) == 0;

bool is_library(const char* path, const char* name) noexcept {
  const char* last = path == nullptr ? nullptr : std::strrchr(path, '/');
  return last != nullptr && std::strncmp(last + 1, name, std::strlen(name)) == 0;
}

}  // namespace

// The pointer to the current queue is left out, because handlers of ticks read it at any time. So variables that
// surround it become two pieces.
void tls_images::add(std::ptrdiff_t from, std::size_t bytes, std::size_t all, const char* content) {
  const std::ptrdiff_t kept =
      reinterpret_cast<char*>(&heddle_current_queue) - static_cast<char*>(arch::thread_pointer());
  const auto length = static_cast<std::ptrdiff_t>(all);
  if (kept < from || kept >= from + length) {
    if (all != 0) pieces_.push_back({from, bytes, all - bytes, content});
    return;
  }
  const auto before = static_cast<std::size_t>(kept - from), after = before + sizeof heddle_current_queue;
  const std::size_t copied_before = std::min(bytes, before);
  const std::size_t copied_after = bytes > after ? bytes - after : 0;
  if (before != 0) pieces_.push_back({from, copied_before, before - copied_before, content});
  if (all > after) {
    pieces_.push_back({from + static_cast<std::ptrdiff_t>(after), copied_after, all - after - copied_after,
                       content + std::min(bytes, after)});
  }
}

// Called under the loader's lock: modules whose slot names them stay until the end of the call.
struct tls_images::adder {
  static int each(dl_phdr_info* info, std::size_t, void* data) {
    auto& made = *static_cast<tls_images*>(data);
    if (info->dlpi_tls_modid == 0 || info->dlpi_tls_modid >= made.modules_.size()) return 0;
    void* const map = made.modules_[info->dlpi_tls_modid].map;
    // The module comes or goes at the moment. Then `modules_` is not current, which current() finds out.
    if (map == nullptr || static_cast<link_map*>(map)->l_addr != info->dlpi_addr) return 0;
    void* const tp = arch::thread_pointer();
    const char* const place = glibc::static_variables(map, tp);
    if (place == nullptr) return 0;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
      const auto& part = info->dlpi_phdr[i];
      if (part.p_type != PT_TLS) continue;
      made.contents_.push_back(std::make_unique<char[]>(part.p_filesz));
      char* const copy = made.contents_.back().get();
      std::memcpy(copy, reinterpret_cast<const char*>(info->dlpi_addr + part.p_vaddr), part.p_filesz);
      const std::ptrdiff_t from = place - static_cast<char*>(tp);
      if (is_library(info->dlpi_name, "libc.so"))
        made.c_library_ = {from, part.p_filesz, part.p_memsz - part.p_filesz, copy};
      else if (!is_library(info->dlpi_name, "ld-linux")) made.add(from, part.p_filesz, part.p_memsz, copy);
    }
    return 0;
  }
};

bool tls_images::current() const noexcept {
  bool same = true;
  glibc::for_each_slot([&](std::size_t number, glibc::module_slot& slot) {
    // relaxed, as in glibc's own readers: end_own_tls renews again if they have changed
    same = number < modules_.size() && slot.generation.load(std::memory_order_relaxed) == modules_[number].generation &&
           slot.module.load(std::memory_order_relaxed) == modules_[number].map;
    return same;
  });
  return same;
}

tls_images* tls_images::take() {
  auto made = std::make_unique<tls_images>();
  // Slots are read, and room for them is made, before the loader's lock is taken. A later change is seen by current().
  std::size_t count = 0;
  glibc::for_each_slot([&](std::size_t, glibc::module_slot&) { return ++count != 0; });
  made->modules_.resize(count);
  glibc::for_each_slot([&](std::size_t number, glibc::module_slot& slot) {
    if (number >= count) return false;
    // relaxed: as in current()
    made->modules_[number] = {slot.generation.load(std::memory_order_relaxed),
                              slot.module.load(std::memory_order_relaxed)};
    return true;
  });
  struct guarded {
    tls_images* made;
    bool failed;
  } given{made.get(), false};
  const walk begun;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t size, void* data) noexcept {
        auto& to = *static_cast<guarded*>(data);
        try {
          return adder::each(info, size, to.made);
        } catch (const std::bad_alloc&) {  // an exception must not leave the loader with its lock held
          to.failed = true;
          return 1;
        }
      },
      &given);
  return given.failed ? nullptr : made.release();
}

const tls_images* tls_images::now(const tls_images* old) noexcept {
  if (old != nullptr && old->current()) return old;
  std::unique_ptr<const tls_images> unused[2];  // deleted without the lock
  pthread_mutex_lock(&lock);
  tls_images* result = latest != nullptr && latest->current() ? latest : nullptr;
  if (result == nullptr) {
    try {
      result = take();
    } catch (const std::bad_alloc&) {
    }
    if (result != nullptr) {
      ++result->users_;
      if (latest != nullptr && --latest->users_ == 0) unused[0].reset(latest);
      latest = result;
    }
  }
  if (result != nullptr) {
    ++result->users_;
    if (old != nullptr && --old->users_ == 0) unused[1].reset(old);
  }
  pthread_mutex_unlock(&lock);
  return result;
}

void tls_images::drop(const tls_images& images) noexcept {
  pthread_mutex_lock(&lock);
  --images.users_;  // `latest` is usually a user, too
  const bool unused = images.users_ == 0;
  pthread_mutex_unlock(&lock);
  if (unused) delete &images;
}

void tls_images::renew(void* thread_pointer) const noexcept {
  for (const piece& p : pieces_) {
    char* const place = static_cast<char*>(thread_pointer) + p.from;
    std::memcpy(place, p.content, p.bytes);
    std::memset(place + p.bytes, 0, p.zeros);
  }
}

void tls_images::renew_all(void* thread_pointer) const noexcept {
  renew(thread_pointer);
  char* const control = static_cast<char*>(glibc::control_of(thread_pointer));
  char* const place = static_cast<char*>(thread_pointer) + c_library_.from;
  const std::size_t all = c_library_.bytes + c_library_.zeros;
  for (std::size_t i = 0; i < all; ++i) {
    if (i % sizeof(void*) == 0 && i + sizeof(void*) <= all) {
      char* value;
      std::memcpy(&value, place + i, sizeof value);
      if (value >= control && value < control + glibc::found.control_bytes) {
        i += sizeof(void*) - 1;
        continue;
      }
    }
    place[i] = i < c_library_.bytes ? c_library_.content[i] : '\0';
  }
}

}  // namespace heddle::platform
