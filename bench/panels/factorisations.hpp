// LU, QR and Cholesky by block columns. A task factors a panel, with a parallel region of its own inside; other tasks
// update the block columns behind it. A panel begins as soon as its own column is up to date (lookahead).
#pragma once

#include <vector>

#include "bench/panels/matrix.hpp"
#include "bench/panels/panel_team.hpp"

namespace heddle::bench_panels {

struct shape {
  int n{1000};     // rows and columns; a multiple of block
  int block{100};  // columns of a panel
  int tile{50};    // the least number of rows of a thread of a panel
  int outer{2};    // threads of the region whose tasks these are
  int inner{2};    // threads of a panel's region
  waiting how{waiting::spin};
};

class factorisation {
 public:
  explicit factorisation(const shape& s) : s_(s), a_(s.n, s.n) {}
  virtual ~factorisation() = default;
  factorisation(const factorisation&) = delete;

  // Factors a copy of the matrix.
  void run(const matrix& of);
  // The largest difference between the product of the factors and the matrix, each times some vector, over the largest
  // element of the latter.
  virtual double error(const matrix& of) const = 0;

 protected:
  virtual void panel(int k) = 0;
  virtual void update(int k, int j) = 0;  // of block column j by panel k
  int blocks() const noexcept { return s_.n / s_.block; }

  const shape s_;
  matrix a_;
};

class lu final : public factorisation {
 public:
  explicit lu(const shape& s) : factorisation(s), pivots_(static_cast<std::size_t>(s.n)) {}
  double error(const matrix& of) const override;

 private:
  void panel(int k) override;
  void update(int k, int j) override;
  std::vector<int> pivots_;  // the row with which row i changed places
};

class qr final : public factorisation {
 public:
  explicit qr(const shape& s) : factorisation(s), t_(s.block, s.n) {}
  double error(const matrix& of) const override;

 private:
  void panel(int k) override;
  void update(int k, int j) override;
  matrix t_;  // of each panel, the triangle by which its reflections are one
};

class cholesky final : public factorisation {
 public:
  explicit cholesky(const shape& s) : factorisation(s) {}
  double error(const matrix& of) const override;

 private:
  void panel(int k) override;
  void update(int k, int j) override;
};

}  // namespace heddle::bench_panels
