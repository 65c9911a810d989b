// The private parts of glibc that thread-local storage apart from kernel threads needs ([platform:7]). All of them are
// found by name at run time: functions that glibc's loader and libc share, and the descriptions that it publishes for
// libthread_db, the library by which debuggers read its threads. Each part is checked against known facts about the
// calling kernel thread. If anything does not fit, own storage is refused.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "arch/arch.hpp"

namespace heddle::platform::glibc {

template <class T>
T& at(void* base, std::ptrdiff_t offset) noexcept {
  return *reinterpret_cast<T*>(static_cast<char*>(base) + offset);
}

// An entry of a thread's dtv (since glibc 2.25), one for each module; dtv[0] is a generation, dtv[-1] the number of
// entries.
union dtv_entry {
  std::size_t counter;
  struct {
    void* value;  // the module's variables; not_made if they are made at the first access
    // For variables outside the static block: the memory that malloc gave; else null.
    void* to_free;
  } pointer;
};
inline void* const not_made = reinterpret_cast<void*>(~std::uintptr_t{0});

inline dtv_entry* dtv_of(void* thread_pointer) noexcept {
#if defined(__x86_64__)
  return at<dtv_entry*>(thread_pointer, 8);
#else
  return at<dtv_entry*>(thread_pointer, 0);
#endif
}

// The value that a thread has for a key of pthread_key_create. A key that was deleted and made anew has another
// sequence number.
struct key_value {
  std::uintptr_t sequence;
  void* data;
};
inline constexpr unsigned keys_a_table = 32, key_tables = 32;

struct key {
  std::uintptr_t sequence;
  void (*destructor)(void*);
};

// A loaded module that has thread-local variables, by its number. glibc reads and writes both words relaxed, without a
// lock.
struct module_slot {
  std::atomic<std::size_t> generation;
  std::atomic<void*> module;  // its link_map; null if there is none, or if it is about to go
};

// Offsets are from the control block (`struct pthread`), whose address pthread_self() returns, unless they say
// otherwise.
struct insides {
  // Calls the destructors of the calling thread's thread_local objects, which __cxa_thread_atexit has registered.
  void (*call_destructors)();
  void (*init_ctype)();          // tables of the calling thread's locale
  int (*close_resolver)(void*);  // res_nclose
  const key* keys;               // the keys of all numbers
  std::ptrdiff_t control;        // control block - thread pointer
  std::size_t control_bytes;
  std::size_t tid;
  // The links of the list that the loader and set*id go through.
  std::size_t list;
  std::size_t cancellation;                           // state word
  std::size_t key_tables;                             // pointers to tables of key_value
  std::size_t first_key_table;                        // the target of the first pointer
  std::size_t robust;                                 // head of the list of robust mutexes, which the kernel knows
  std::ptrdiff_t rseq;                                // from the thread pointer; 0 if there is none
  void* slots;                                        // list of arrays of module_slot
  std::size_t slots_length, slots_next, slots_first;  // from a list element
  // In a link_map: the number of the dtv's entry; the offset of the static block, negative or 0 if there is none.
  std::size_t module_number, module_offset;
};

extern insides found;  // valid only after examine() has returned null
// Returns null, or the reason in words why own thread-local storage is not available.
const char* examine() noexcept;

inline void* control_of(void* thread_pointer) noexcept { return static_cast<char*>(thread_pointer) + found.control; }

// Calls f(number, slot) for all slots, until f returns false.
template <class F>
void for_each_slot(F&& f) noexcept {
  std::size_t number = 0;
  for (void* part = found.slots; part != nullptr;) {
    const std::size_t length = at<std::size_t>(part, static_cast<std::ptrdiff_t>(found.slots_length));
    auto* const slots = &at<module_slot>(part, static_cast<std::ptrdiff_t>(found.slots_first));
    for (std::size_t i = 0; i < length; ++i) {
      if (!f(number++, slots[i])) return;
    }
    // acquire pairs with glibc's _dl_add_to_slotinfo, which publishes a further array
    part = at<std::atomic<void*>>(part, static_cast<std::ptrdiff_t>(found.slots_next)).load(std::memory_order_acquire);
  }
}

// The place of the module's variables in the static block of that thread; null if they are not there.
inline char* static_variables(void* module, void* thread_pointer) noexcept {
  const auto offset = at<std::ptrdiff_t>(module, static_cast<std::ptrdiff_t>(found.module_offset));
  if (offset <= 0) return nullptr;  // not decided yet, or decided against
#if defined(__x86_64__)
  return static_cast<char*>(thread_pointer) - offset;
#else
  return static_cast<char*>(thread_pointer) + offset;
#endif
}

}  // namespace heddle::platform::glibc
