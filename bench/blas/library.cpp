#include "bench/blas/library.hpp"

#include <dlfcn.h>
#include <omp.h>

#include <cstdlib>
#include <stdexcept>
#include <vector>

namespace heddle::bench_blas {

namespace {

constexpr const char* names_of_mkl[] = {"libmkl_rt.so.3", "libmkl_rt.so.2", "libmkl_rt.so"};

template <class F>
void find(void* from, const char* name, F*& function) {
  function = reinterpret_cast<F*>(dlsym(from, name));
  if (function == nullptr) throw std::runtime_error(std::string("the BLAS library has no ") + name);
}

// MKL's numbers for them. MKL_THREADING_LAYER is not enough: a library that can be had by the name libgomp.so decides
// before it.
void choose_layer(void* mkl, const std::string& layer) {
  if (layer.empty()) return;
  const int number = layer == "gnu" ? 3 : 0;
  auto* const set = reinterpret_cast<int (*)(int)>(dlsym(mkl, "MKL_Set_Threading_Layer"));
  if (set == nullptr) throw std::runtime_error("the BLAS library has no layers to choose from");
  if (set(number) != number) throw std::runtime_error("MKL has no layer " + layer);
}

}  // namespace

library open_library(const std::string& name, const std::string& layer) {
  std::vector<std::string> tried;
  const char* const variable = std::getenv("HEDDLE_BLAS");
  if (!name.empty()) tried = {name};
  else if (variable != nullptr && *variable != 0) tried = {variable};
  else tried = {std::begin(names_of_mkl), std::end(names_of_mkl)};
  library found;
  void* opened = nullptr;
  for (const std::string& file : tried) {
    opened = dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
    found.file = file;
    if (opened != nullptr) break;
  }
  if (opened == nullptr) {
    throw std::runtime_error("no BLAS library with OpenMP: HEDDLE_BLAS says where one is (" + std::string(dlerror()) +
                             ")");
  }
  choose_layer(opened, layer);
  find(opened, "dgemm_", found.gemm);
  find(opened, "dtrsm_", found.trsm);
  find(opened, "dsyrk_", found.syrk);
  find(opened, "dpotrf_", found.potrf);
  find(opened, "dgetrf_", found.getrf);
  find(opened, "dgeqrf_", found.geqrf);
  find(opened, "dsyevd_", found.syevd);
  found.set_local_ = reinterpret_cast<int (*)(int)>(dlsym(opened, "MKL_Set_Num_Threads_Local"));
  found.set_dynamic_ = reinterpret_cast<void (*)(int)>(dlsym(opened, "MKL_Set_Dynamic"));
  found.is_mkl = found.set_local_ != nullptr;
  if (found.set_dynamic_ != nullptr) found.set_dynamic_(0);
  return found;
}

void library::set_threads_here(int threads) const {
  if (set_local_ != nullptr) set_local_(threads);
  else omp_set_num_threads(threads);
}

}  // namespace heddle::bench_blas
