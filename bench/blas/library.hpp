// A BLAS and LAPACK library that is opened when the program runs, so that the build needs none: MKL's libmkl_rt,
// OpenBLAS compiled with OpenMP, or any other with Fortran's names and 32-bit integers.
#pragma once

#include <string>

namespace heddle::bench_blas {

struct library {
  using gemm_function = void(const char*, const char*, const int*, const int*, const int*, const double*, const double*,
                             const int*, const double*, const int*, const double*, double*, const int*);
  using trsm_function = void(const char*, const char*, const char*, const char*, const int*, const int*, const double*,
                             const double*, const int*, double*, const int*);
  using syrk_function = void(const char*, const char*, const int*, const int*, const double*, const double*, const int*,
                             const double*, double*, const int*);
  using potrf_function = void(const char*, const int*, double*, const int*, int*);
  using getrf_function = void(const int*, const int*, double*, const int*, int*, int*);
  using geqrf_function = void(const int*, const int*, double*, const int*, double*, double*, const int*, int*);
  using syevd_function = void(const char*, const char*, const int*, double*, const int*, double*, double*, const int*,
                              int*, const int*, int*);

  gemm_function* gemm = nullptr;
  trsm_function* trsm = nullptr;
  syrk_function* syrk = nullptr;
  potrf_function* potrf = nullptr;
  getrf_function* getrf = nullptr;
  geqrf_function* geqrf = nullptr;
  syevd_function* syevd = nullptr;

  std::string file;  // as it was found
  bool is_mkl = false;

  // How many threads the routines that this thread calls from now on may use.
  void set_threads_here(int threads) const;

 private:
  int (*set_local_)(int) = nullptr;     // MKL's
  void (*set_dynamic_)(int) = nullptr;  // MKL's: it would cut teams in teams to one
  friend library open_library(const std::string& name, const std::string& layer);
};

// Opens the library of that name. If the name is empty, it opens the library that HEDDLE_BLAS names, or MKL if the
// dynamic linker finds it. `layer` is MKL's choice of the compiler whose OpenMP is used, "intel" or "gnu". If it is
// empty, MKL chooses by the libraries that are loaded already. Throws std::runtime_error, which says what was tried.
library open_library(const std::string& name, const std::string& layer);

}  // namespace heddle::bench_blas
