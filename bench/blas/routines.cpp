#include "bench/blas/routines.hpp"

#include <limits>
#include <stdexcept>
#include <utility>

#include "bench/blas/vectors.hpp"

namespace heddle::bench_blas {

namespace {

constexpr double wrong = std::numeric_limits<double>::infinity();

std::size_t elements(int n) { return static_cast<std::size_t>(n) * n; }

matrix symmetric(int n, unsigned seed, double diagonal) {
  matrix a = numbers(elements(n), seed);
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < j; ++i) a[static_cast<std::size_t>(i) * n + j] = a[static_cast<std::size_t>(j) * n + i];
    a[static_cast<std::size_t>(j) * n + j] += diagonal;
  }
  return a;
}

class gemm_problem : public problem {
 public:
  gemm_problem(const library& lapack, int n, unsigned seed)
      : problem(lapack, n, seed), a_(numbers(elements(n), seed)), b_(numbers(elements(n), seed + 1000)) {}
  void restore() override { c_.assign(elements(n_), 0.0); }
  void compute() override {
    const double one = 1, none = 0;
    lapack_.gemm("N", "N", &n_, &n_, &n_, &one, a_.data(), &n_, b_.data(), &n_, &none, c_.data(), &n_);
  }
  double error() const override {
    const vector x = numbers(n_, seed_ + 1);
    return distance(times(c_, n_, x), times(a_, n_, times(b_, n_, x)));
  }

 private:
  matrix a_, b_, c_;
};

// In place: the input is kept for the check.
class in_place : public problem {
 public:
  in_place(const library& lapack, int n, unsigned seed, matrix given)
      : problem(lapack, n, seed), before_(std::move(given)) {}
  void restore() override {
    a_ = before_;
    info_ = 0;
  }

 protected:
  matrix before_, a_;
  int info_ = 0;
};

class potrf_problem : public in_place {
 public:
  potrf_problem(const library& lapack, int n, unsigned seed) : in_place(lapack, n, seed, symmetric(n, seed, 2.0 * n)) {}
  void compute() override { lapack_.potrf("L", &n_, a_.data(), &n_, &info_); }
  double error() const override {
    if (info_ != 0) return wrong;
    const vector x = numbers(n_, seed_ + 1);
    return distance(times(a_, n_, transposed_times(a_, n_, x, part::lower), part::lower), times(before_, n_, x));
  }
};

class getrf_problem : public in_place {
 public:
  getrf_problem(const library& lapack, int n, unsigned seed)
      : in_place(lapack, n, seed, numbers(elements(n), seed)), pivots_(n) {}
  void compute() override { lapack_.getrf(&n_, &n_, a_.data(), &n_, pivots_.data(), &info_); }
  double error() const override {
    if (info_ != 0) return wrong;
    const vector x = numbers(n_, seed_ + 1);
    vector y = times(a_, n_, times(a_, n_, x, part::upper), part::unit_lower);
    for (int i = n_; i-- > 0;) {
      if (pivots_[i] < 1 || pivots_[i] > n_) return wrong;
      std::swap(y[i], y[pivots_[i] - 1]);
    }
    return distance(y, times(before_, n_, x));
  }

 private:
  std::vector<int> pivots_;
};

class geqrf_problem : public in_place {
 public:
  geqrf_problem(const library& lapack, int n, unsigned seed)
      : in_place(lapack, n, seed, numbers(elements(n), seed)), factors_(n) {
    double best = 0;
    const int ask = -1;
    a_ = before_;
    lapack_.geqrf(&n_, &n_, a_.data(), &n_, factors_.data(), &best, &ask, &info_);
    work_.resize(static_cast<std::size_t>(best));
  }
  void compute() override {
    const int room = static_cast<int>(work_.size());
    lapack_.geqrf(&n_, &n_, a_.data(), &n_, factors_.data(), work_.data(), &room, &info_);
  }
  double error() const override {
    if (info_ != 0) return wrong;
    const vector x = numbers(n_, seed_ + 1);
    vector y = times(a_, n_, x, part::upper);
    for (int k = n_; k-- > 0;) {  // y = H_k y, where H_k = 1 - factor v v^T
      const double* const v = a_.data() + static_cast<std::size_t>(k) * n_;
      double sum = y[k];
      for (int i = k + 1; i < n_; ++i) sum += v[i] * y[i];
      sum *= factors_[k];
      y[k] -= sum;
      for (int i = k + 1; i < n_; ++i) y[i] -= sum * v[i];
    }
    return distance(y, times(before_, n_, x));
  }

 private:
  vector factors_, work_;
};

class syevd_problem : public in_place {
 public:
  syevd_problem(const library& lapack, int n, unsigned seed)
      : in_place(lapack, n, seed, symmetric(n, seed, 0)), values_(n) {
    double best = 0;
    int best_whole = 0;
    const int ask = -1;
    a_ = before_;
    lapack_.syevd("V", "L", &n_, a_.data(), &n_, values_.data(), &best, &ask, &best_whole, &ask, &info_);
    work_.resize(static_cast<std::size_t>(best));
    whole_.resize(best_whole);
  }
  void compute() override {
    const int room = static_cast<int>(work_.size()), whole_room = static_cast<int>(whole_.size());
    lapack_.syevd("V", "L", &n_, a_.data(), &n_, values_.data(), work_.data(), &room, whole_.data(), &whole_room,
                  &info_);
  }
  // V is orthogonal, and A V = V diag(values).
  double error() const override {
    if (info_ != 0) return wrong;
    const vector x = numbers(n_, seed_ + 1);
    const vector through = times(a_, n_, x);
    vector stretched = x;
    for (int i = 0; i < n_; ++i) stretched[i] *= values_[i];
    return distance(transposed_times(a_, n_, through), x) +
           distance(times(before_, n_, through), times(a_, n_, stretched));
  }

 private:
  vector values_, work_;
  std::vector<int> whole_;
};

template <class P>
std::unique_ptr<problem> make(const library& lapack, int n, unsigned seed) {
  return std::make_unique<P>(lapack, n, seed);
}

struct routine {
  const char* name;
  std::unique_ptr<problem> (*make)(const library&, int, unsigned);
};

constexpr routine routines[] = {{"gemm", make<gemm_problem>},
                                {"potrf", make<potrf_problem>},
                                {"getrf", make<getrf_problem>},
                                {"geqrf", make<geqrf_problem>},
                                {"syevd", make<syevd_problem>}};

}  // namespace

std::vector<std::string> routine_names() {
  std::vector<std::string> names;
  for (const routine& r : routines) names.emplace_back(r.name);
  return names;
}

std::unique_ptr<problem> make_problem(const std::string& name, const library& lapack, int n, unsigned seed) {
  for (const routine& r : routines) {
    if (name == r.name) return r.make(lapack, n, seed);
  }
  throw std::invalid_argument("no routine " + name + ": gemm, potrf, getrf, geqrf, syevd, cholesky");
}

}  // namespace heddle::bench_blas
