// The functions of omp.h for Fortran, and those by value under other names, made from fortran.def. Functions whose
// arguments fit no common form are below.
#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "omp/api/api.hpp"

namespace {

// A number that a 32-bit integer cannot hold becomes the integer's greatest or least value.
int narrow(std::int64_t n) noexcept {
  return static_cast<int>(
      std::clamp<std::int64_t>(n, std::numeric_limits<int>::min(), std::numeric_limits<int>::max()));
}

// A Fortran text is not terminated by a zero; blanks at its end do not count.
std::string text_from(const char* text, std::size_t length) {
  while (length > 0 && text[length - 1] == ' ') --length;
  return {text, length};
}

// The buffer is filled up with blanks.
void text_to(const std::string& text, char* buffer, std::size_t size) noexcept {
  const std::size_t length = std::min(text.size(), size);
  std::memcpy(buffer, text.data(), length);
  std::memset(buffer + length, ' ', size - length);
}

template <class Get>
std::string whole_text(Get get) {
  std::string text(get(nullptr, 0), '\0');
  get(text.data(), text.size() + 1);
  return text;
}

}  // namespace

extern "C" {

HEDDLE_API void omp_fulfill_event(std::uintptr_t event);  // a function of tasks

#define HEDDLE_PLAIN(result, name) \
  HEDDLE_API result name##_() { return name(); }
#define HEDDLE_INTEGER(result, name) \
  HEDDLE_API result name##_(const std::int32_t* n) { return name(*n); }
#define HEDDLE_INTEGER_8(result, name) \
  HEDDLE_INTEGER(result, name)         \
  HEDDLE_API result name##_8_(const std::int64_t* n) { return name(narrow(*n)); }
#define HEDDLE_WORD(result, name) \
  HEDDLE_API result name##_(const std::uintptr_t* w) { return name(*w); }
#define HEDDLE_VALUE(result, name) \
  HEDDLE_API result name##_(std::uintptr_t w) { return name(w); }
#define HEDDLE_OBJECT(result, name) \
  HEDDLE_API result name##_(void** object) { return name(object); }
#define HEDDLE_MASK(name) \
  HEDDLE_API int name##_(const std::int32_t* processor, void** mask) { return name(*processor, mask); }
#define HEDDLE_BY_VALUE(result, other, name) \
  HEDDLE_API result other(int n) { return name(n); }
#include "omp/api/fortran.def"

HEDDLE_API void omp_set_schedule_(const std::int32_t* kind, const std::int32_t* chunk) {
  omp_set_schedule(*kind, *chunk);
}
HEDDLE_API void omp_set_schedule_8_(const std::int32_t* kind, const std::int64_t* chunk) {
  omp_set_schedule(*kind, narrow(*chunk));
}
HEDDLE_API void omp_get_schedule_(std::int32_t* kind, std::int32_t* chunk) { omp_get_schedule(kind, chunk); }
HEDDLE_API void omp_get_schedule_8_(std::int32_t* kind, std::int64_t* chunk) {
  int narrow_chunk = 0;
  omp_get_schedule(kind, &narrow_chunk);
  *chunk = narrow_chunk;
}
HEDDLE_API void ompc_set_schedule(int kind, int chunk) { omp_set_schedule(kind, chunk); }

HEDDLE_API void omp_get_place_proc_ids_(const std::int32_t* place, std::int32_t* ids) {
  omp_get_place_proc_ids(*place, ids);
}
HEDDLE_API void omp_get_place_proc_ids_8_(const std::int64_t* place, std::int64_t* ids) {
  std::vector<int> narrow_ids(static_cast<std::size_t>(omp_get_place_num_procs(narrow(*place))));
  omp_get_place_proc_ids(narrow(*place), narrow_ids.data());
  std::copy(narrow_ids.begin(), narrow_ids.end(), ids);
}
HEDDLE_API void omp_get_partition_place_nums_(std::int32_t* places) { omp_get_partition_place_nums(places); }
HEDDLE_API void omp_get_partition_place_nums_8_(std::int64_t* places) {
  std::vector<int> narrow_places(static_cast<std::size_t>(omp_get_partition_num_places()));
  omp_get_partition_place_nums(narrow_places.data());
  std::copy(narrow_places.begin(), narrow_places.end(), places);
}

HEDDLE_API void omp_init_lock_with_hint_(void** lock, const std::int32_t* hint) {
  omp_init_lock_with_hint(lock, *hint);
}
HEDDLE_API void omp_init_nest_lock_with_hint_(void** lock, const std::int32_t* hint) {
  omp_init_nest_lock_with_hint(lock, *hint);
}

HEDDLE_API int omp_pause_resource_(const std::int32_t* kind, const std::int32_t* device) {
  return omp_pause_resource(*kind, *device);
}
HEDDLE_API int omp_control_tool_(const std::int32_t* command, const std::int32_t* modifier, void* argument) {
  return omp_control_tool(*command, *modifier, argument);
}

HEDDLE_API std::uintptr_t omp_init_allocator_(const std::uintptr_t* space, const std::int32_t* count,
                                              const void* traits) {
  return omp_init_allocator(*space, *count, traits);
}
HEDDLE_API std::uintptr_t omp_init_allocator_8_(const std::uintptr_t* space, const std::int64_t* count,
                                                const void* traits) {
  return omp_init_allocator(*space, narrow(*count), traits);
}

HEDDLE_API void omp_set_affinity_format_(const char* format, std::size_t length) {
  omp_set_affinity_format(text_from(format, length).c_str());
}
HEDDLE_API int omp_get_affinity_format_(char* buffer, std::size_t size) {
  const std::string text = whole_text([](char* b, std::size_t s) { return omp_get_affinity_format(b, s); });
  text_to(text, buffer, size);
  return static_cast<int>(text.size());
}
HEDDLE_API void omp_display_affinity_(const char* format, std::size_t length) {
  omp_display_affinity(text_from(format, length).c_str());
}
HEDDLE_API int omp_capture_affinity_(char* buffer, const char* format, std::size_t size, std::size_t length) {
  const std::string asked = text_from(format, length);
  const std::string text =
      whole_text([&](char* b, std::size_t s) { return omp_capture_affinity(b, s, asked.c_str()); });
  text_to(text, buffer, size);
  return static_cast<int>(text.size());
}
// The names that LLVM's omp.h gives these functions, because its plain names are Fortran's.
HEDDLE_API void ompc_set_affinity_format(const char* format) { omp_set_affinity_format(format); }
HEDDLE_API std::size_t ompc_get_affinity_format(char* buffer, std::size_t size) {
  return omp_get_affinity_format(buffer, size);
}
HEDDLE_API void ompc_display_affinity(const char* format) { omp_display_affinity(format); }
HEDDLE_API std::size_t ompc_capture_affinity(char* buffer, std::size_t size, const char* format) {
  return omp_capture_affinity(buffer, size, format);
}

HEDDLE_API void kmp_set_defaults_(const char* text, int length) {
  kmp_set_defaults(text_from(text, static_cast<std::size_t>(std::max(length, 0))).c_str());
}
HEDDLE_API void* kmp_aligned_malloc_(const std::size_t* size, const std::size_t* alignment) {
  return kmp_aligned_malloc(*size, *alignment);
}
HEDDLE_API void* kmp_calloc_(const std::size_t* count, const std::size_t* size) { return kmp_calloc(*count, *size); }
HEDDLE_API void* kmp_realloc_(void** memory, const std::size_t* size) { return kmp_realloc(*memory, *size); }
HEDDLE_API void kmp_free_(void** memory) { kmp_free(*memory); }

HEDDLE_API void kmpc_set_stacksize_s(std::size_t bytes) { kmp_set_stacksize_s(bytes); }
HEDDLE_API void kmpc_set_defaults(const char* text) { kmp_set_defaults(text); }
HEDDLE_API int kmpc_set_affinity_mask_proc(int processor, void** mask) {
  return kmp_set_affinity_mask_proc(processor, mask);
}
HEDDLE_API int kmpc_unset_affinity_mask_proc(int processor, void** mask) {
  return kmp_unset_affinity_mask_proc(processor, mask);
}
HEDDLE_API int kmpc_get_affinity_mask_proc(int processor, void** mask) {
  return kmp_get_affinity_mask_proc(processor, mask);
}
HEDDLE_API void* kmpc_malloc(std::size_t size) { return kmp_malloc(size); }
HEDDLE_API void* kmpc_aligned_malloc(std::size_t size, std::size_t alignment) {
  return kmp_aligned_malloc(size, alignment);
}
HEDDLE_API void* kmpc_calloc(std::size_t count, std::size_t size) { return kmp_calloc(count, size); }
HEDDLE_API void* kmpc_realloc(void* memory, std::size_t size) { return kmp_realloc(memory, size); }
HEDDLE_API void kmpc_free(void* memory) { kmp_free(memory); }

}  // extern "C"
