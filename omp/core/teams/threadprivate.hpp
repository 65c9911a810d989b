// Threadprivate variables that the compiler does not keep in the C library's thread-local storage (-fnoopenmp-use-tls,
// Intel's compilers): a copy for each thread that asks for one.
#pragma once

#include <cstddef>

namespace heddle::omp {

class thread;

struct private_functions {
  void* (*make)(void*){nullptr};
  void* (*copy)(void*, void*){nullptr};
  void (*destroy)(void*){nullptr};
  // The same for arrays of `elements` elements.
  void* (*make_all)(void*, std::size_t){nullptr};
  void* (*copy_all)(void*, void*, std::size_t){nullptr};
  void (*destroy_all)(void*, std::size_t){nullptr};
  std::size_t elements{0};
};

// Says how copies of the variable at `original` are made and destroyed. Must be called before the first copy.
void register_private(void* original, const private_functions& how);
// The thread's own copy, made at its first call as a copy of the original. The initial thread has the original.
void* private_copy(thread& self, void* original, std::size_t bytes);
// Called when the thread ends.
void end_privates(thread& self) noexcept;

}  // namespace heddle::omp
