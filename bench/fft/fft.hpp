// Fourier transform of n (a power of two) complex doubles: recursive Cooley-Tukey, decimation in
// time; the two halves run in parallel, then the butterflies, halved down to 4,096. Strided reads,
// little work a byte. Origin: Cooley, Tukey 1965; the Cilk distribution's fft. The signal has four
// known tones, so the spectrum is known.
#pragma once

#include <cmath>
#include <numbers>
#include <stdexcept>

#include "harness/cost.hpp"
#include "harness/kernel.hpp"
#include "harness/random.hpp"

namespace heddle::bench {

struct complex_number {
  double re, im;
};

inline constexpr std::size_t fft_spawn_limit = 2048;
inline constexpr std::size_t fft_butterfly_limit = 4096;

// out[k], out[k + half] for k in [first, last), from the two halves' transforms that lie there.
// twiddles[k * step] = exp(-2 pi i k / (2 half)).
inline void butterflies_leaf(complex_number* out, std::size_t half, std::size_t first, std::size_t last,
                             const complex_number* twiddles, std::size_t step) {
  if (told::model() != nullptr) [[unlikely]] {
    constexpr std::size_t one = sizeof(complex_number), group = 64 / one;  // a line
    const std::size_t groups = (last - first + group - 1) / group;
    told::rows({{out + first, group * one, group * one, 1}, {out + half + first, group * one, group * one, 1}}, groups);
    told::rows({{twiddles + first * step, one, step * one, 0}}, last - first);
    told::cycles(4 * static_cast<double>(last - first));
  }
  for (std::size_t k = first; k < last; ++k) {
    const complex_number w = twiddles[k * step], e = out[k], o = out[k + half];
    const complex_number t{w.re * o.re - w.im * o.im, w.re * o.im + w.im * o.re};
    out[k] = {e.re + t.re, e.im + t.im};
    out[k + half] = {e.re - t.re, e.im - t.im};
  }
}

template <class Backend>
void butterflies(complex_number* out, std::size_t half, std::size_t first, std::size_t last,
                 const complex_number* twiddles, std::size_t step) {
  if (last - first <= fft_butterfly_limit) {
    butterflies_leaf(out, half, first, last, twiddles, step);
    return;
  }
  const std::size_t middle = first + (last - first) / 2;
  Backend::invoke([=] { butterflies<Backend>(out, half, first, middle, twiddles, step); },
                  [=] { butterflies<Backend>(out, half, middle, last, twiddles, step); });
}

// out := transform of in[0], in[step], .. (n of them).
template <class Backend>
void fft_task(complex_number* out, const complex_number* in, std::size_t n, const complex_number* twiddles,
              std::size_t step) {
  if (n == 1) {
    told::read(in, sizeof(complex_number));
    out[0] = in[0];
    return;
  }
  const std::size_t half = n / 2;
  const auto even = [=] { fft_task<Backend>(out, in, half, twiddles, 2 * step); };
  const auto odd = [=] { fft_task<Backend>(out + half, in + step, half, twiddles, 2 * step); };
  if (n > fft_spawn_limit) {
    Backend::invoke(even, odd);
  } else {
    even();
    odd();
  }
  butterflies<Backend>(out, half, 0, half, twiddles, step);
}

struct fft {
  static constexpr std::size_t default_n = std::size_t{1} << 20;
  template <class Backend>
  static constexpr bool supports = Backend::tasks;

  static std::vector<complex_number> twiddles(std::size_t n) {
    std::vector<complex_number> w(n / 2 + 1);
    for (std::size_t k = 0; k < w.size(); ++k) {
      const double angle = -2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
      w[k] = {std::cos(angle), std::sin(angle)};
    }
    return w;
  }

  // The sum over four tones t of (t + 1) * exp(2 pi i f j / n).
  static std::vector<complex_number> signal(std::size_t n, const std::vector<complex_number>& w) {
    std::vector<complex_number> in(n, {0, 0});
    for (std::size_t t = 0; t < 4; ++t) {
      const std::size_t f = mix64(t) % n;
      for (std::size_t j = 0; j < n; ++j) {
        const std::size_t k = f * j % n;
        const double sign = k < n / 2 ? 1 : -1;
        const complex_number z = w[k < n / 2 ? k : k - n / 2];
        in[j].re += sign * z.re * static_cast<double>(t + 1);
        in[j].im -= sign * z.im * static_cast<double>(t + 1);
      }
    }
    return in;
  }

  template <class Backend>
  static void execute(context& c) {
    const std::size_t n = c.n();
    if (n < 2 || (n & (n - 1)) != 0) throw std::invalid_argument("fft: --n must be a power of two, at least 2");
    const auto w = twiddles(n);
    const auto in = signal(n, w);
    std::vector<complex_number> out(n);
    Backend backend(c.options());
    backend.run([&] {
      c.measure(
          "time", "ms", 1e3, [] {}, [&] { fft_task<Backend>(out.data(), in.data(), n, w.data(), 1); },
          [&] {
            digest d;  // in units of a 1,024th, so that a small error shows and rounding does not
            for (const auto& x : out) {
              d.add(static_cast<std::uint64_t>(std::llround(x.re * 1024 / static_cast<double>(n))));
              d.add(static_cast<std::uint64_t>(std::llround(x.im * 1024 / static_cast<double>(n))));
            }
            return d.value();
          });
    });
  }
};

}  // namespace heddle::bench
