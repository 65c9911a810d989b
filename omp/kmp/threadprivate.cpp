// Threadprivate variables of the LLVM ABI.
#include "omp/core/teams/threadprivate.hpp"

#include "omp/kmp/ident.hpp"

using namespace heddle::omp;
using kmp::ident;

HEDDLE_OMP_ENTRY void* __kmpc_threadprivate_cached(ident*, std::int32_t, void* original, std::size_t bytes, void***) {
  return private_copy(thread::current(), original, bytes);
}

HEDDLE_OMP_ENTRY void* __kmpc_threadprivate(ident*, std::int32_t, void* original, std::size_t bytes) {
  return private_copy(thread::current(), original, bytes);
}

HEDDLE_OMP_ENTRY void __kmpc_threadprivate_register(ident*, void* original, void* (*make)(void*),
                                                    void* (*copy)(void*, void*), void (*destroy)(void*)) {
  private_functions how;
  how.make = make;
  how.copy = copy;
  how.destroy = destroy;
  register_private(original, how);
}

HEDDLE_OMP_ENTRY void __kmpc_threadprivate_register_vec(ident*, void* original, void* (*make)(void*, std::size_t),
                                                        void* (*copy)(void*, void*, std::size_t),
                                                        void (*destroy)(void*, std::size_t), std::size_t elements) {
  private_functions how;
  how.make_all = make;
  how.copy_all = copy;
  how.destroy_all = destroy;
  how.elements = elements;
  register_private(original, how);
}
