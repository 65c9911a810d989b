// The error directive at execution time (OpenMP 5.1, section 2.5.4), as either ABI calls it, and a few entry points of
// the LLVM ABI that ask for nothing but what others do already.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "omp/api/api.hpp"
#include "omp/core/environment.hpp"
#include "omp/core/standard_error.hpp"
#include "omp/core/thread.hpp"

namespace {

constexpr int warning = 1;  // of __kmpc_error; 2: fatal

std::string text_of(const char* message, std::size_t length) {
  if (message == nullptr) return "";
  return ": " + (length == SIZE_MAX ? std::string(message) : std::string(message, length));
}

}  // namespace

extern "C" {

// A length that is greater than any can be: the message ends with a zero.
HEDDLE_API void GOMP_warning(const char* message, std::size_t length) {
  heddle::omp::write_line("heddle: warning of an error directive" + text_of(message, length));
}

HEDDLE_API void GOMP_error(const char* message, std::size_t length) {
  heddle::omp::write_line("heddle: error directive" + text_of(message, length));
  std::exit(1);
}

HEDDLE_API void __kmpc_error(void*, int severity, const char* message) {
  severity == warning ? GOMP_warning(message, SIZE_MAX) : GOMP_error(message, SIZE_MAX);
}

// The scope construct: what there is to do, the compiler emits calls of its own for.
HEDDLE_API void __kmpc_scope(void*, int, void*) {}
HEDDLE_API void __kmpc_end_scope(void*, int, void*) {}

HEDDLE_API int __kmpc_pause_resource(int kind, int device) { return omp_pause_resource(kind, device); }

// num_threads with a list (OpenMP 6): its first element is the encountered region's, the others are those of regions
// inside.
HEDDLE_API void __kmpc_push_num_threads_list(void*, int, std::uint32_t count, const int* threads) {
  if (count == 0) return;
  heddle::omp::thread& self = heddle::omp::thread::current();
  self.next.threads = threads[0];
  if (count > 1) self.next.list = &heddle::omp::kept_list({threads, count});
}
HEDDLE_API void __kmpc_push_num_threads_list_strict(void*, int, std::uint32_t count, const int* threads, int,
                                                    const char*) {
  __kmpc_push_num_threads_list(nullptr, 0, count, threads);
}
HEDDLE_API void __kmpc_pop_num_threads(void*, int) {}

}  // extern "C"
