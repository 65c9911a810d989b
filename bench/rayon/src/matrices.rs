//! matmul, heat2d, lu: see the headers of the same names in bench/.
//! Blocks of one matrix are written by several tasks at once, hence the raw pointers.

use crate::harness::{mix64, Context, Digest, Shared};
use rayon::join;

const BLOCK: usize = 64;

/// A factor times a number, added or subtracted: fused where the processor can, as gcc and clang do.
trait Element: Copy + Send + Sync {
    fn add_product(self, factor: Self, x: Self) -> Self;
    fn subtract_product(self, factor: Self, x: Self) -> Self;
}

macro_rules! element {
    ($t:ty) => {
        impl Element for $t {
            #[inline(always)]
            fn add_product(self, factor: Self, x: Self) -> Self {
                if cfg!(any(target_feature = "fma", target_arch = "aarch64")) {
                    factor.mul_add(x, self)
                } else {
                    self + factor * x
                }
            }
            #[inline(always)]
            fn subtract_product(self, factor: Self, x: Self) -> Self {
                if cfg!(any(target_feature = "fma", target_arch = "aarch64")) {
                    (-factor).mul_add(x, self)
                } else {
                    self - factor * x
                }
            }
        }
    };
}
element!(f32);
element!(f64);

/// c += a * b, or c -= a * b; all three with the same stride.
unsafe fn multiply_leaf<const NEGATE: bool, T>(
    c: Shared<T>,
    a: Shared<T>,
    b: Shared<T>,
    rows: usize,
    columns: usize,
    inner: usize,
    stride: usize,
) where
    T: Element,
{
    for i in 0..rows {
        let out = std::slice::from_raw_parts_mut(c.at(i * stride).0, columns);
        for k in 0..inner {
            let factor = *a.at(i * stride + k).0;
            let row = std::slice::from_raw_parts(b.at(k * stride).0, columns);
            for (o, r) in out.iter_mut().zip(row) {
                *o = if NEGATE {
                    o.subtract_product(factor, *r)
                } else {
                    o.add_product(factor, *r)
                };
            }
        }
    }
}

unsafe fn multiply<const NEGATE: bool, T>(
    c: Shared<T>,
    a: Shared<T>,
    b: Shared<T>,
    rows: usize,
    columns: usize,
    inner: usize,
    stride: usize,
) where
    T: Element,
{
    if rows <= BLOCK && columns <= BLOCK && inner <= BLOCK {
        multiply_leaf::<NEGATE, T>(c, a, b, rows, columns, inner, stride);
    } else if rows >= columns && rows >= inner {
        let half = rows / 2;
        join(
            || multiply::<NEGATE, T>(c, a, b, half, columns, inner, stride),
            || {
                multiply::<NEGATE, T>(
                    c.at(half * stride),
                    a.at(half * stride),
                    b,
                    rows - half,
                    columns,
                    inner,
                    stride,
                )
            },
        );
    } else if columns >= inner {
        let half = columns / 2;
        join(
            || multiply::<NEGATE, T>(c, a, b, rows, half, inner, stride),
            || {
                multiply::<NEGATE, T>(
                    c.at(half),
                    a,
                    b.at(half),
                    rows,
                    columns - half,
                    inner,
                    stride,
                )
            },
        );
    } else {
        let half = inner / 2;
        multiply::<NEGATE, T>(c, a, b, rows, columns, half, stride);
        multiply::<NEGATE, T>(
            c,
            a.at(half),
            b.at(half * stride),
            rows,
            columns,
            inner - half,
            stride,
        );
    }
}

pub fn matmul(c: &Context) {
    let n = c.n();
    let entry = |i: usize| (mix64(i as u64) % 5) as f32 - 2.0;
    let mut a: Vec<f32> = (0..n * n).map(entry).collect();
    let mut b: Vec<f32> = (n * n..2 * n * n).map(entry).collect();
    let (a, b) = (Shared(a.as_mut_ptr()), Shared(b.as_mut_ptr()));
    c.run(move || {
        c.measure(
            "time",
            "ms",
            1e3,
            &mut vec![0f32; n * n],
            |p| p.fill(0.0),
            |p| unsafe { multiply::<false, f32>(Shared(p.as_mut_ptr()), a, b, n, n, n, n) },
            |p| {
                let mut d = Digest::default();
                p.iter().for_each(|&x| d.add(x as i64 as u64));
                d.value()
            },
        );
    });
}

unsafe fn heat2d_task(
    from: Shared<f32>,
    to: Shared<f32>,
    stride: usize,
    rows: (usize, usize),
    columns: (usize, usize),
) {
    let (height, width) = (rows.1 - rows.0, columns.1 - columns.0);
    if height <= BLOCK && width <= BLOCK {
        for i in rows.0..rows.1 {
            let start = i * stride + columns.0;
            let out = std::slice::from_raw_parts_mut(to.at(start).0, width);
            let up = std::slice::from_raw_parts(from.at(start - stride).0, width);
            let down = std::slice::from_raw_parts(from.at(start + stride).0, width);
            let left = std::slice::from_raw_parts(from.at(start - 1).0, width);
            let right = std::slice::from_raw_parts(from.at(start + 1).0, width);
            for j in 0..width {
                out[j] = 0.25 * (((up[j] + down[j]) + left[j]) + right[j]);
            }
        }
    } else if height >= width {
        let middle = rows.0 + height / 2;
        join(
            || heat2d_task(from, to, stride, (rows.0, middle), columns),
            || heat2d_task(from, to, stride, (middle, rows.1), columns),
        );
    } else {
        let middle = columns.0 + width / 2;
        join(
            || heat2d_task(from, to, stride, rows, (columns.0, middle)),
            || heat2d_task(from, to, stride, rows, (middle, columns.1)),
        );
    }
}

pub fn heat2d(c: &Context) {
    let stride = c.n() + 2;
    let iterations = c.iterations(20);
    let input: Vec<f32> = (0..stride * stride)
        .map(|i| (mix64(i as u64) % 256) as f32)
        .collect();
    c.run(|| {
        let mut grids = [input.clone(), input.clone()];
        c.measure(
            "time",
            "ms",
            1e3,
            &mut grids,
            |g| g.iter_mut().for_each(|x| x.copy_from_slice(&input)),
            |g| {
                let both = [Shared(g[0].as_mut_ptr()), Shared(g[1].as_mut_ptr())];
                for i in 0..iterations {
                    unsafe {
                        heat2d_task(
                            both[i % 2],
                            both[1 - i % 2],
                            stride,
                            (1, stride - 1),
                            (1, stride - 1),
                        )
                    };
                }
            },
            |g| {
                let mut d = Digest::default();
                g[iterations % 2].iter().for_each(|x| d.add(u64::from(x.to_bits())));
                d.value()
            },
        );
    });
}

/// row -= factor * from, over `count` elements.
#[inline(always)]
unsafe fn subtract(row: Shared<f64>, from: Shared<f64>, factor: f64, count: usize) {
    let row = std::slice::from_raw_parts_mut(row.0, count);
    let from = std::slice::from_raw_parts(from.0, count);
    for (r, f) in row.iter_mut().zip(from) {
        *r = r.subtract_product(factor, *f);
    }
}

unsafe fn lower(l: Shared<f64>, x: Shared<f64>, n: usize, columns: usize, stride: usize) {
    if n <= BLOCK && columns <= BLOCK {
        for i in 1..n {
            for k in 0..i {
                subtract(
                    x.at(i * stride),
                    x.at(k * stride),
                    *l.at(i * stride + k).0,
                    columns,
                );
            }
        }
    } else if columns >= n {
        let half = columns / 2;
        join(
            || lower(l, x, n, half, stride),
            || lower(l, x.at(half), n, columns - half, stride),
        );
    } else {
        let half = n / 2;
        lower(l, x, half, columns, stride);
        multiply::<true, f64>(
            x.at(half * stride),
            l.at(half * stride),
            x,
            n - half,
            columns,
            half,
            stride,
        );
        lower(
            l.at(half * stride + half),
            x.at(half * stride),
            n - half,
            columns,
            stride,
        );
    }
}

unsafe fn upper(u: Shared<f64>, x: Shared<f64>, n: usize, rows: usize, stride: usize) {
    if n <= BLOCK && rows <= BLOCK {
        for i in 0..rows {
            let row = x.at(i * stride);
            for k in 0..n {
                let factor = *row.at(k).0 / *u.at(k * stride + k).0;
                *row.at(k).0 = factor;
                subtract(row.at(k + 1), u.at(k * stride + k + 1), factor, n - k - 1);
            }
        }
    } else if rows >= n {
        let half = rows / 2;
        join(
            || upper(u, x, n, half, stride),
            || upper(u, x.at(half * stride), n, rows - half, stride),
        );
    } else {
        let half = n / 2;
        upper(u, x, half, rows, stride);
        multiply::<true, f64>(x.at(half), x, u.at(half), rows, n - half, half, stride);
        upper(
            u.at(half * stride + half),
            x.at(half),
            n - half,
            rows,
            stride,
        );
    }
}

unsafe fn factor(a: Shared<f64>, n: usize, stride: usize) {
    if n <= BLOCK {
        for k in 0..n {
            let inverse = 1.0 / *a.at(k * stride + k).0;
            for i in k + 1..n {
                let factor = *a.at(i * stride + k).0 * inverse;
                *a.at(i * stride + k).0 = factor;
                subtract(
                    a.at(i * stride + k + 1),
                    a.at(k * stride + k + 1),
                    factor,
                    n - k - 1,
                );
            }
        }
        return;
    }
    let half = n / 2;
    let (right, below) = (a.at(half), a.at(half * stride));
    factor(a, half, stride);
    join(
        || lower(a, right, half, n - half, stride),
        || upper(a, below, half, n - half, stride),
    );
    multiply::<true, f64>(
        below.at(half),
        below,
        right,
        n - half,
        n - half,
        half,
        stride,
    );
    factor(below.at(half), n - half, stride);
}

fn lu_solve(input: &[f64], factors: &[f64], n: usize) -> u64 {
    let mut x: Vec<f64> = (0..n)
        .map(|i| (0..n).map(|j| input[i * n + j] * (j % 7 + 1) as f64).sum())
        .collect();
    for i in 0..n {
        for j in 0..i {
            x[i] -= factors[i * n + j] * x[j];
        }
    }
    let mut d = Digest::default();
    for i in (0..n).rev() {
        for j in i + 1..n {
            x[i] -= factors[i * n + j] * x[j];
        }
        x[i] /= factors[i * n + i];
        d.add((x[i] * 1e6).round() as i64 as u64);
    }
    d.value()
}

pub fn lu(c: &Context) {
    let n = c.n();
    let mut input: Vec<f64> = (0..n * n)
        .map(|i| (mix64(i as u64) % 1024) as f64 / 1024.0)
        .collect();
    (0..n).for_each(|i| input[i * n + i] += n as f64);
    c.run(|| {
        c.measure(
            "time",
            "ms",
            1e3,
            &mut input.clone(),
            |m| m.copy_from_slice(&input),
            |m| unsafe { factor(Shared(m.as_mut_ptr()), n, n) },
            |m| lu_solve(&input, m, n),
        );
    });
}
