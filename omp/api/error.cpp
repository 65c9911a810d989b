// The error directive at execution time (OpenMP 5.1, section 2.5.4), as either ABI calls it, and a few entry points of
// the LLVM ABI that ask only for what others do already.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "omp/api/api.hpp"
#include "omp/core/settings/environment.hpp"
#include "omp/core/standard_error.hpp"
#include "omp/core/teams/thread.hpp"
#include "omp/ompt/callbacks.hpp"

namespace {

constexpr int warning = 1;  // a severity of __kmpc_error; 2 is fatal

void tell(int severity, const char* message, std::size_t length, const void* code) {
  if (!heddle::omp::ompt::on()) return;
  heddle::omp::thread::current();
  if (message != nullptr && length == SIZE_MAX) length = std::strlen(message);
  heddle::omp::ompt::tell<ompt_callback_error>(static_cast<ompt_severity_t>(severity), message, length, code);
}

std::string text_of(const char* message, std::size_t length) {
  if (message == nullptr) return "";
  return ": " + (length == SIZE_MAX ? std::string(message) : std::string(message, length));
}

// The lines begin as those of LLVM's runtime, because other programs look for them.
void warn(const char* message, std::size_t length, const void* code) {
  tell(ompt_warning, message, length, code);
  heddle::omp::write_line("OMP: Warning: heddle: error directive" + text_of(message, length));
}

[[noreturn]] void fail(const char* message, std::size_t length, const void* code) {
  tell(ompt_fatal, message, length, code);
  heddle::omp::write_line("OMP: Error: heddle: error directive" + text_of(message, length));
  std::exit(1);
}

}  // namespace

extern "C" {

// If the length is greater than any can be, the message ends with a zero.
HEDDLE_API void GOMP_warning(const char* message, std::size_t length) {
  warn(message, length, __builtin_return_address(0));
}
HEDDLE_API void GOMP_error(const char* message, std::size_t length) {
  fail(message, length, __builtin_return_address(0));
}
HEDDLE_API void __kmpc_error(void*, int severity, const char* message) {
  severity == warning ? warn(message, SIZE_MAX, __builtin_return_address(0))
                      : fail(message, SIZE_MAX, __builtin_return_address(0));
}

// The scope construct. The compiler emits calls of its own for everything that it has to do.
HEDDLE_API void __kmpc_scope(void*, int, void*) {}
HEDDLE_API void __kmpc_end_scope(void*, int, void*) {}

HEDDLE_API int __kmpc_pause_resource(int kind, int device) { return omp_pause_resource(kind, device); }

// num_threads with a list (OpenMP 6): its first element is for the encountered region, the others are for regions
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
