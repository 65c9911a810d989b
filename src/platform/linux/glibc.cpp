#include "platform/linux/glibc.hpp"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>

#ifndef HWCAP2_FSGSBASE
#define HWCAP2_FSGSBASE (1 << 1)
#endif

namespace heddle::platform::glibc {

insides found;

namespace {

template <class F>
bool look_up(F& place, const char* name) noexcept {
  place = reinterpret_cast<F>(dlsym(RTLD_DEFAULT, name));
  return place != nullptr;
}

// A field as it is described for libthread_db: {bits of an element, number of elements, offset}. bits == 0 accepts any.
bool look_up_field(std::size_t& offset, const char* name, std::uint32_t bits) noexcept {
  const std::uint32_t* description;
  if (!look_up(description, name) || (bits != 0 && description[0] != bits)) return false;
  offset = description[2];
  return offset < 4096;
}

bool is_size(const char* name, std::uint32_t bytes) noexcept {
  const std::uint32_t* size;
  return look_up(size, name) && *size == bytes;
}

bool find_control_block() noexcept {
  void* const tp = arch::thread_pointer();
  void* const self = reinterpret_cast<void*>(pthread_self());
  found.control = static_cast<char*>(self) - static_cast<char*>(tp);
#if defined(__x86_64__)
  if (found.control != 0 || at<void*>(tp, 0) != tp || at<void*>(tp, 16) != tp) return false;
#endif
  const std::uint32_t* bytes;
  if (!look_up(bytes, "_thread_db_sizeof_pthread") || *bytes > 8192) return false;
  found.control_bytes = *bytes;
  if (!look_up_field(found.tid, "_thread_db_pthread_tid", 32) ||
      !look_up_field(found.list, "_thread_db_pthread_list", 128) ||
      !look_up_field(found.cancellation, "_thread_db_pthread_cancelhandling", 32)) {
    return false;
  }
  if (at<int>(self, static_cast<std::ptrdiff_t>(found.tid)) != static_cast<int>(syscall(SYS_gettid))) return false;
  struct links {
    links *next, *previous;
  };
  auto* const mine = &at<links>(self, static_cast<std::ptrdiff_t>(found.list));
  if (mine->next == nullptr || mine->previous == nullptr) return false;
  char* robust = nullptr;
  std::size_t length = 0;
  if (syscall(SYS_get_robust_list, 0, &robust, &length) != 0) return false;
  found.robust = static_cast<std::size_t>(robust - static_cast<char*>(self));
  if (found.robust >= found.control_bytes) return false;
  const std::ptrdiff_t* rseq = nullptr;
  found.rseq = look_up(rseq, "__rseq_offset") ? *rseq : 0;
  return true;
}

bool find_keys() noexcept {
  if (!look_up(found.keys, "__pthread_keys") || !is_size("_thread_db_sizeof_pthread_key_struct", sizeof(key)) ||
      !is_size("_thread_db_sizeof_pthread_key_data", sizeof(key_value)) ||
      !is_size("_thread_db_sizeof_pthread_key_data_level2", sizeof(key_value) * keys_a_table) ||
      !look_up_field(found.key_tables, "_thread_db_pthread_specific", 0)) {
    return false;
  }
  void* const self = reinterpret_cast<void*>(pthread_self());
  char* const first = at<char*>(self, static_cast<std::ptrdiff_t>(found.key_tables));
  found.first_key_table = static_cast<std::size_t>(first - static_cast<char*>(self));
  if (found.first_key_table >= found.control_bytes) return false;
  // Makes a key, to see whether it is where it should be.
  pthread_key_t made;
  constexpr auto destructor = [](void*) {};
  int here = 0;
  if (pthread_key_create(&made, destructor) != 0) return false;
  pthread_setspecific(made, &here);
  auto* const table =
      at<key_value*>(self, static_cast<std::ptrdiff_t>(found.key_tables + made / keys_a_table * sizeof(void*)));
  const bool fits = found.keys[made].destructor == destructor && table != nullptr &&
                    table[made % keys_a_table].data == &here &&
                    table[made % keys_a_table].sequence == found.keys[made].sequence;
  pthread_setspecific(made, nullptr);
  pthread_key_delete(made);
  return fits;
}

// Called under the loader's lock, so the module stays. Returns 1 if something is not as it should be.
int check_module(dl_phdr_info* info, std::size_t, void*) noexcept {
  if (info->dlpi_tls_data == nullptr) return 0;
  void* module = nullptr;
  for_each_slot([&](std::size_t number, module_slot& slot) {
    if (number != info->dlpi_tls_modid) return true;
    module = slot.module.load(std::memory_order_relaxed);  // relaxed: the lock orders it
    return false;
  });
  if (module == nullptr ||
      at<std::size_t>(module, static_cast<std::ptrdiff_t>(found.module_number)) != info->dlpi_tls_modid ||
      static_cast<link_map*>(module)->l_addr != info->dlpi_addr) {
    return 1;
  }
  void* const tp = arch::thread_pointer();
  const bool is_static = dtv_of(tp)[info->dlpi_tls_modid].pointer.to_free == nullptr;
  return is_static && static_variables(module, tp) != info->dlpi_tls_data;
}

bool find_modules() noexcept {
  std::size_t list, generation, module;
  char* global;
  if (!look_up(global, "_rtld_global") || !look_up_field(found.module_number, "_thread_db_link_map_l_tls_modid", 64) ||
      !look_up_field(found.module_offset, "_thread_db_link_map_l_tls_offset", 64) ||
      !look_up_field(found.slots_length, "_thread_db_dtv_slotinfo_list_len", 64) ||
      !look_up_field(found.slots_next, "_thread_db_dtv_slotinfo_list_next", 64) ||
      !look_up_field(found.slots_first, "_thread_db_dtv_slotinfo_list_slotinfo", 0) ||
      !look_up_field(generation, "_thread_db_dtv_slotinfo_gen", 64) ||
      !look_up_field(module, "_thread_db_dtv_slotinfo_map", 64) ||
      !is_size("_thread_db_sizeof_dtv_slotinfo", sizeof(module_slot)) ||
      generation != offsetof(module_slot, generation) || module != offsetof(module_slot, module)) {
    return false;
  }
  const std::uint32_t* field;
  if (!look_up(field, "_thread_db_rtld_global__dl_tls_dtv_slotinfo_list") || field[0] != 64) return false;
  list = field[2];
  found.slots = at<void*>(global, static_cast<std::ptrdiff_t>(list));
  return found.slots != nullptr && dl_iterate_phdr(check_module, nullptr) == 0;
}

}  // namespace

const char* examine() noexcept {
#if defined(__x86_64__)
  if ((getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE) == 0)
    return "the kernel does not let programs write the thread pointer (Linux 5.9, FSGSBASE)";
#endif
  const char* (*version)();
  if (!look_up(version, "gnu_get_libc_version")) return "the C library is not glibc";
  char* end;
  const long major = std::strtol(version(), &end, 10);
  const long minor = *end == '.' ? std::strtol(end + 1, nullptr, 10) : 0;
  if (major != 2 || minor < 34 || minor > 41) return "this version of glibc is not known; 2.34 to 2.41 are";
  if (!look_up(found.call_destructors, "__call_tls_dtors") || !look_up(found.init_ctype, "__ctype_init") ||
      !look_up(found.close_resolver, "__res_nclose") || !find_control_block() || !find_keys() || !find_modules()) {
    return "this build of glibc does not have the parts that are needed, or not in the form that is known";
  }
  return nullptr;
}

}  // namespace heddle::platform::glibc
