//! matmul, quicksort, mergesort, heat2d, lu, fft, loop: see the headers of the same names in bench/.
//! Blocks of one matrix are written by several tasks at once, hence the raw pointers.

use crate::harness::{mix64, Context, Digest, Shared};
use rayon::join;
use rayon::prelude::*;

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
                if cfg!(any(target_feature = "fma", target_arch = "aarch64")) { factor.mul_add(x, self) } else { self + factor * x }
            }
            #[inline(always)]
            fn subtract_product(self, factor: Self, x: Self) -> Self {
                if cfg!(any(target_feature = "fma", target_arch = "aarch64")) { (-factor).mul_add(x, self) } else { self - factor * x }
            }
        }
    };
}
element!(f32);
element!(f64);

/// c += a * b, or c -= a * b; all three with the same stride.
unsafe fn multiply_leaf<const NEGATE: bool, T>(c: Shared<T>, a: Shared<T>, b: Shared<T>, rows: usize, columns: usize, inner: usize, stride: usize)
where
    T: Element,
{
    for i in 0..rows {
        let out = std::slice::from_raw_parts_mut(c.at(i * stride).0, columns);
        for k in 0..inner {
            let factor = *a.at(i * stride + k).0;
            let row = std::slice::from_raw_parts(b.at(k * stride).0, columns);
            for (o, r) in out.iter_mut().zip(row) {
                *o = if NEGATE { o.subtract_product(factor, *r) } else { o.add_product(factor, *r) };
            }
        }
    }
}

unsafe fn multiply<const NEGATE: bool, T>(c: Shared<T>, a: Shared<T>, b: Shared<T>, rows: usize, columns: usize, inner: usize, stride: usize)
where
    T: Element,
{
    if rows <= BLOCK && columns <= BLOCK && inner <= BLOCK {
        multiply_leaf::<NEGATE, T>(c, a, b, rows, columns, inner, stride);
    } else if rows >= columns && rows >= inner {
        let half = rows / 2;
        join(|| multiply::<NEGATE, T>(c, a, b, half, columns, inner, stride), || {
            multiply::<NEGATE, T>(c.at(half * stride), a.at(half * stride), b, rows - half, columns, inner, stride)
        });
    } else if columns >= inner {
        let half = columns / 2;
        join(|| multiply::<NEGATE, T>(c, a, b, rows, half, inner, stride), || {
            multiply::<NEGATE, T>(c.at(half), a, b.at(half), rows, columns - half, inner, stride)
        });
    } else {
        let half = inner / 2;
        multiply::<NEGATE, T>(c, a, b, rows, columns, half, stride);
        multiply::<NEGATE, T>(c, a.at(half), b.at(half * stride), rows, columns, inner - half, stride);
    }
}

pub fn matmul(c: &Context) {
    let n = c.n();
    let entry = |i: usize| (mix64(i as u64) % 5) as f32 - 2.0;
    let mut a: Vec<f32> = (0..n * n).map(entry).collect();
    let mut b: Vec<f32> = (n * n..2 * n * n).map(entry).collect();
    let (a, b) = (Shared(a.as_mut_ptr()), Shared(b.as_mut_ptr()));
    c.run(move || {
        c.measure("time", "ms", 1e3, &mut vec![0f32; n * n], |p| p.fill(0.0), |p| unsafe {
            multiply::<false, f32>(Shared(p.as_mut_ptr()), a, b, n, n, n, n)
        }, |p| {
            let mut d = Digest::default();
            p.iter().for_each(|&x| d.add(x as i64 as u64));
            d.value()
        });
    });
}

const INSERTION: usize = 24;
const SORT_SPAWN: usize = 512;
const MERGE_SPAWN: usize = 4096;

fn insertion_sort(v: &mut [u32]) {
    for i in 1..v.len() {
        let value = v[i];
        let mut hole = i;
        while hole > 0 && v[hole - 1] > value {
            v[hole] = v[hole - 1];
            hole -= 1;
        }
        v[hole] = value;
    }
}

fn partition(v: &mut [u32]) -> usize {
    let (last, middle) = (v.len() - 1, v.len() / 2);
    if v[middle] < v[0] {
        v.swap(middle, 0);
    }
    if v[last] < v[middle] {
        v.swap(last, middle);
    }
    if v[middle] < v[0] {
        v.swap(middle, 0);
    }
    let pivot = v[middle];
    let (mut low, mut high) = (0, last);
    // The ends are no less and no greater than the pivot, so neither search leaves the slice.
    unsafe {
        loop {
            while *v.get_unchecked(low) < pivot {
                low += 1;
            }
            while pivot < *v.get_unchecked(high) {
                high -= 1;
            }
            if low >= high {
                return high + 1;
            }
            v.swap(low, high);
            low += 1;
            high -= 1;
        }
    }
}

fn quicksort_task(mut v: &mut [u32]) {
    while v.len() > INSERTION {
        let middle = partition(v);
        let parallel = v.len() > SORT_SPAWN;
        let (left, right) = v.split_at_mut(middle);
        if parallel {
            join(|| quicksort_task(left), || quicksort_task(right));
            return;
        }
        quicksort_task(left);
        v = right;
    }
    insertion_sort(v);
}

fn random_numbers(n: usize) -> Vec<u32> {
    (0..n).map(|i| mix64(i as u64) as u32).collect()
}

fn digest_of(v: &[u32]) -> u64 {
    let mut d = Digest::default();
    v.iter().for_each(|&x| d.add(x.into()));
    d.value()
}

pub fn quicksort(c: &Context) {
    let input = random_numbers(c.n());
    c.run(|| c.measure("time", "ms", 1e3, &mut input.clone(), |v| v.copy_from_slice(&input), |v| quicksort_task(v), |v| digest_of(v)));
}

fn merge_leaf(mut a: &[u32], mut b: &[u32], out: &mut [u32]) {
    let mut filled = 0;
    while let (Some(&x), Some(&y)) = (a.first(), b.first()) {
        let second = y < x;
        out[filled] = if second { y } else { x };
        filled += 1;
        b = &b[usize::from(second)..];
        a = &a[usize::from(!second)..];
    }
    let rest = if a.is_empty() { b } else { a };
    out[filled..].copy_from_slice(rest);
}

fn merge_task<'a>(mut a: &'a [u32], mut b: &'a [u32], out: &mut [u32]) {
    if a.len() < b.len() {
        std::mem::swap(&mut a, &mut b);
    }
    if out.len() <= MERGE_SPAWN {
        return merge_leaf(a, b, out);
    }
    let (a_left, a_right) = a.split_at(a.len() / 2);
    let (b_left, b_right) = b.split_at(b.partition_point(|x| *x < a_right[0]));
    let (out_left, out_right) = out.split_at_mut(a_left.len() + b_left.len());
    join(|| merge_task(a_left, b_left, out_left), || merge_task(a_right, b_right, out_right));
}

fn mergesort_task(v: &mut [u32], other: &mut [u32], into_other: bool) {
    let n = v.len();
    if n <= INSERTION {
        insertion_sort(v);
        if into_other {
            other.copy_from_slice(v);
        }
        return;
    }
    {
        let (v_left, v_right) = v.split_at_mut(n / 2);
        let (o_left, o_right) = other.split_at_mut(n / 2);
        if n > SORT_SPAWN {
            join(|| mergesort_task(v_left, o_left, !into_other), || mergesort_task(v_right, o_right, !into_other));
        } else {
            mergesort_task(v_left, o_left, !into_other);
            mergesort_task(v_right, o_right, !into_other);
        }
    }
    let (from, to) = if into_other { (v, other) } else { (other, v) };
    let (left, right) = from.split_at(n / 2);
    merge_task(left, right, to);
}

pub fn mergesort(c: &Context) {
    let input = random_numbers(c.n());
    c.run(|| {
        let mut state = (input.clone(), vec![0u32; c.n()]);
        c.measure("time", "ms", 1e3, &mut state, |s| s.0.copy_from_slice(&input), |s| mergesort_task(&mut s.0, &mut s.1, false), |s| digest_of(&s.0));
    });
}

unsafe fn heat2d_task(from: Shared<f64>, to: Shared<f64>, stride: usize, rows: (usize, usize), columns: (usize, usize)) {
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
        join(|| heat2d_task(from, to, stride, (rows.0, middle), columns), || heat2d_task(from, to, stride, (middle, rows.1), columns));
    } else {
        let middle = columns.0 + width / 2;
        join(|| heat2d_task(from, to, stride, rows, (columns.0, middle)), || heat2d_task(from, to, stride, rows, (middle, columns.1)));
    }
}

pub fn heat2d(c: &Context) {
    let stride = c.n() + 2;
    let iterations = c.iterations(20);
    let input: Vec<f64> = (0..stride * stride).map(|i| (mix64(i as u64) % 256) as f64).collect();
    c.run(|| {
        let mut grids = [input.clone(), input.clone()];
        c.measure("time", "ms", 1e3, &mut grids, |g| g.iter_mut().for_each(|x| x.copy_from_slice(&input)), |g| {
            let both = [Shared(g[0].as_mut_ptr()), Shared(g[1].as_mut_ptr())];
            for i in 0..iterations {
                unsafe { heat2d_task(both[i % 2], both[1 - i % 2], stride, (1, stride - 1), (1, stride - 1)) };
            }
        }, |g| {
            let mut d = Digest::default();
            g[iterations % 2].iter().for_each(|x| d.add(x.to_bits()));
            d.value()
        });
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
                subtract(x.at(i * stride), x.at(k * stride), *l.at(i * stride + k).0, columns);
            }
        }
    } else if columns >= n {
        let half = columns / 2;
        join(|| lower(l, x, n, half, stride), || lower(l, x.at(half), n, columns - half, stride));
    } else {
        let half = n / 2;
        lower(l, x, half, columns, stride);
        multiply::<true, f64>(x.at(half * stride), l.at(half * stride), x, n - half, columns, half, stride);
        lower(l.at(half * stride + half), x.at(half * stride), n - half, columns, stride);
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
        join(|| upper(u, x, n, half, stride), || upper(u, x.at(half * stride), n, rows - half, stride));
    } else {
        let half = n / 2;
        upper(u, x, half, rows, stride);
        multiply::<true, f64>(x.at(half), x, u.at(half), rows, n - half, half, stride);
        upper(u.at(half * stride + half), x.at(half), n - half, rows, stride);
    }
}

unsafe fn factor(a: Shared<f64>, n: usize, stride: usize) {
    if n <= BLOCK {
        for k in 0..n {
            let inverse = 1.0 / *a.at(k * stride + k).0;
            for i in k + 1..n {
                let factor = *a.at(i * stride + k).0 * inverse;
                *a.at(i * stride + k).0 = factor;
                subtract(a.at(i * stride + k + 1), a.at(k * stride + k + 1), factor, n - k - 1);
            }
        }
        return;
    }
    let half = n / 2;
    let (right, below) = (a.at(half), a.at(half * stride));
    factor(a, half, stride);
    join(|| lower(a, right, half, n - half, stride), || upper(a, below, half, n - half, stride));
    multiply::<true, f64>(below.at(half), below, right, n - half, n - half, half, stride);
    factor(below.at(half), n - half, stride);
}

fn lu_solve(input: &[f64], factors: &[f64], n: usize) -> u64 {
    let mut x: Vec<f64> = (0..n).map(|i| (0..n).map(|j| input[i * n + j] * (j % 7 + 1) as f64).sum()).collect();
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
    let mut input: Vec<f64> = (0..n * n).map(|i| (mix64(i as u64) % 1024) as f64 / 1024.0).collect();
    (0..n).for_each(|i| input[i * n + i] += n as f64);
    c.run(|| {
        c.measure("time", "ms", 1e3, &mut input.clone(), |m| m.copy_from_slice(&input), |m| unsafe { factor(Shared(m.as_mut_ptr()), n, n) }, |m| lu_solve(&input, m, n));
    });
}

#[derive(Clone, Copy)]
struct Complex {
    re: f64,
    im: f64,
}

const FFT_SPAWN: usize = 2048;
const BUTTERFLIES: usize = 4096;

/// Combines even and odd (the two halves of one output); `first` is the index of their first element in the halves.
fn butterflies(even: &mut [Complex], odd: &mut [Complex], first: usize, twiddles: &[Complex], step: usize) {
    if even.len() > BUTTERFLIES {
        let middle = even.len() / 2;
        let (e_left, e_right) = even.split_at_mut(middle);
        let (o_left, o_right) = odd.split_at_mut(middle);
        join(|| butterflies(e_left, o_left, first, twiddles, step), || butterflies(e_right, o_right, first + middle, twiddles, step));
        return;
    }
    for (k, (e, o)) in even.iter_mut().zip(odd.iter_mut()).enumerate() {
        let w = twiddles[(first + k) * step];
        let t = Complex { re: w.re * o.re - w.im * o.im, im: w.re * o.im + w.im * o.re };
        (*e, *o) = (Complex { re: e.re + t.re, im: e.im + t.im }, Complex { re: e.re - t.re, im: e.im - t.im });
    }
}

fn fft_task(out: &mut [Complex], input: &[Complex], twiddles: &[Complex], step: usize) {
    let n = out.len();
    if n == 1 {
        out[0] = input[0];
        return;
    }
    let (even, odd) = out.split_at_mut(n / 2);
    if n > FFT_SPAWN {
        join(|| fft_task(even, input, twiddles, 2 * step), || fft_task(odd, &input[step..], twiddles, 2 * step));
    } else {
        fft_task(even, input, twiddles, 2 * step);
        fft_task(odd, &input[step..], twiddles, 2 * step);
    }
    butterflies(even, odd, 0, twiddles, step);
}

pub fn fft(c: &Context) {
    let n = c.n();
    if n < 2 || !n.is_power_of_two() {
        eprintln!("heddle-bench-rayon: fft: --n must be a power of two, at least 2");
        std::process::exit(1);
    }
    let twiddles: Vec<Complex> = (0..n / 2 + 1).map(|k| {
        let angle = -2.0 * std::f64::consts::PI * k as f64 / n as f64;
        Complex { re: angle.cos(), im: angle.sin() }
    }).collect();
    let mut input = vec![Complex { re: 0.0, im: 0.0 }; n];
    for t in 0..4u64 {
        let f = (mix64(t) % n as u64) as usize;
        for (j, x) in input.iter_mut().enumerate() {
            let k = f * j % n;
            let (sign, z) = if k < n / 2 { (1.0, twiddles[k]) } else { (-1.0, twiddles[k - n / 2]) };
            x.re += sign * z.re * (t + 1) as f64;
            x.im -= sign * z.im * (t + 1) as f64;
        }
    }
    c.run(|| {
        let mut out = vec![Complex { re: 0.0, im: 0.0 }; n];
        c.measure("time", "ms", 1e3, &mut out, |_| {}, |out| fft_task(out, &input, &twiddles, 1), |out| {
            let mut d = Digest::default();
            for x in out {
                d.add((x.re * 1024.0 / n as f64).round() as i64 as u64);
                d.add((x.im * 1024.0 / n as f64).round() as i64 as u64);
            }
            d.value()
        });
    });
}

fn saxpy_time(c: &Context, n: usize) {
    let loops = c.iterations(if n <= 1000 { 20_000 } else if n <= 100_000 { 600 } else { 6 }) & !1;
    let x: Vec<f32> = (0..n).map(|i| (i % 16) as f32).collect();
    let mut y: Vec<f32> = (0..n).map(|i| (i % 7) as f32).collect();
    c.measure(&format!("n={n}"), "us", 1e6 / loops as f64, &mut y, |_| {}, |y| {
        let mut a = 1f32;
        for _ in 0..loops {
            y.par_iter_mut().zip(x.par_iter()).for_each(|(y, x)| *y += a * *x);
            a = -a;
        }
    }, |y| y.iter().enumerate().map(|(i, &v)| v as u64 * (i as u64 + 1)).sum());
}

pub fn saxpy(c: &Context) {
    c.run(|| {
        if c.n() != 0 {
            return saxpy_time(c, c.n());
        }
        [2, 1000, 100_000].into_iter().for_each(|n| saxpy_time(c, n));
    });
}
