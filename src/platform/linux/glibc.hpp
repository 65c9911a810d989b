// The private parts of glibc that thread-local storage apart from kernel threads needs ([platform:7]). All of them are
// found by name at run time: functions that its loader and its libc share, and what it publishes for libthread_db, the
// library by which debuggers read its threads. What is found is checked against what the calling kernel thread is known
// to have, and refused where anything does not fit.
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

// An entry of a thread's dtv (since glibc 2.25), one a module; dtv[0] is a generation, dtv[-1] the number of entries.
union dtv_entry {
  std::size_t counter;
  struct {
    void* value;    // the module's variables; not_made: they are made at the first access
    void* to_free;  // of variables outside the static block: what malloc gave; else null
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

// What a thread has for a key of pthread_key_create; a key that was deleted and made anew has another sequence number.
struct key_value {
  std::uintptr_t sequence;
  void* data;
};
inline constexpr unsigned keys_a_table = 32, key_tables = 32;

struct key {
  std::uintptr_t sequence;
  void (*destructor)(void*);
};

// A loaded module that has thread-local variables, by its number.
// glibc writes both words relaxed and reads them so, without a lock.
struct module_slot {
  std::atomic<std::size_t> generation;
  std::atomic<void*> module;  // its link_map; null: none, or it is about to go
};

// Offsets are from the control block (`struct pthread`), whose address pthread_self() is, unless they say otherwise.
struct insides {
  // calls the destructors that __cxa_thread_atexit has registered, of thread_local objects of the calling thread
  void (*call_destructors)();
  void (*init_ctype)();          // tables of the calling thread's locale
  int (*close_resolver)(void*);  // res_nclose
  const key* keys;               // of all numbers
  std::ptrdiff_t control;        // control block - thread pointer
  std::size_t control_bytes;
  std::size_t tid;
  std::size_t list;                                   // links of the list that the loader and set*id go through
  std::size_t cancellation;                           // state word
  std::size_t key_tables;                             // pointers to tables of key_value
  std::size_t first_key_table;                        // where the first one points
  std::size_t robust;                                 // head of the list of robust mutexes, which the kernel knows of
  std::ptrdiff_t rseq;                                // from the thread pointer; 0: none
  void* slots;                                        // list of arrays of module_slot
  std::size_t slots_length, slots_next, slots_first;  // from a list element
  // in a link_map: the number of the dtv's entry; the offset of the static block, negative or 0 when there is none
  std::size_t module_number, module_offset;
};

extern insides found;  // only after examine() gave null
// Null, or why own thread-local storage cannot be had, in words.
const char* examine() noexcept;

inline void* control_of(void* thread_pointer) noexcept { return static_cast<char*>(thread_pointer) + found.control; }

// Calls f(number, slot) for all, until it returns false.
template <class F>
void for_each_slot(F&& f) noexcept {
  std::size_t number = 0;
  for (void* part = found.slots; part != nullptr;) {
    const std::size_t length = at<std::size_t>(part, static_cast<std::ptrdiff_t>(found.slots_length));
    auto* const slots = &at<module_slot>(part, static_cast<std::ptrdiff_t>(found.slots_first));
    for (std::size_t i = 0; i < length; ++i) {
      if (!f(number++, slots[i])) return;
    }
    // acquire: pairs with glibc's _dl_add_to_slotinfo, which publishes a further array
    part = at<std::atomic<void*>>(part, static_cast<std::ptrdiff_t>(found.slots_next)).load(std::memory_order_acquire);
  }
}

// Where the module's variables lie in the static block of that thread; null: they are not there.
inline char* static_variables(void* module, void* thread_pointer) noexcept {
  const auto offset = at<std::ptrdiff_t>(module, static_cast<std::ptrdiff_t>(found.module_offset));
  if (offset <= 0) return nullptr;  // not decided, or decided against
#if defined(__x86_64__)
  return static_cast<char*>(thread_pointer) - offset;
#else
  return static_cast<char*>(thread_pointer) + offset;
#endif
}

}  // namespace heddle::platform::glibc
