// Routines of LAPACK and BLAS on one square matrix each, with a check of the numbers.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/blas/library.hpp"

namespace heddle::bench_blas {

using matrix = std::vector<double>;  // n x n, by columns

class problem {
 public:
  problem(const library& lapack, int n, unsigned seed) : lapack_(lapack), n_(n), seed_(seed) {}
  virtual ~problem() = default;
  virtual void restore() = 0;  // restores the input; not timed
  virtual void compute() = 0;
  // Returns how far the result is from one that satisfies its definition, relative to the size of the numbers. If it is
  // right, this is some 1e-15 times a small power of n. Returns infinity if the routine itself says that it failed.
  virtual double error() const = 0;

 protected:
  const library& lapack_;
  int n_;
  unsigned seed_;
};

std::vector<std::string> routine_names();
// Throws std::invalid_argument if there is no routine of that name.
std::unique_ptr<problem> make_problem(const std::string& routine, const library& lapack, int n, unsigned seed);

// A Cholesky decomposition by tiles. Each operation on a tile is a task with dependences, and may use `inner` threads.
class tiled_cholesky {
 public:
  tiled_cholesky(const library& lapack, int tiles, int tile_size);
  void restore();
  void compute(int inner);  // by all threads of the caller's team; a single thread calls it
  double error() const;
  double operations() const;  // additions and multiplications

 private:
  double* tile(int row, int column) { return tiles_[static_cast<std::size_t>(row) * t_ + column].data(); }

  const library& lapack_;
  int t_, b_;
  std::vector<matrix> tiles_, before_;
  bool failed_ = false;
};

}  // namespace heddle::bench_blas
