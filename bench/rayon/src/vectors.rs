//! fft, loop: see the headers of the same names in bench/.

use crate::harness::{mix64, Around, Context, Digest, FromMain, Here};
use rayon::join;
use rayon::prelude::*;

#[derive(Clone, Copy)]
struct Complex {
    re: f64,
    im: f64,
}

const FFT_SPAWN: usize = 2048;
const BUTTERFLIES: usize = 4096;

/// Combines even and odd (the two halves of one output); `first` is the index of their first element in the halves.
fn butterflies(
    even: &mut [Complex],
    odd: &mut [Complex],
    first: usize,
    twiddles: &[Complex],
    step: usize,
) {
    if even.len() > BUTTERFLIES {
        let middle = even.len() / 2;
        let (e_left, e_right) = even.split_at_mut(middle);
        let (o_left, o_right) = odd.split_at_mut(middle);
        join(
            || butterflies(e_left, o_left, first, twiddles, step),
            || butterflies(e_right, o_right, first + middle, twiddles, step),
        );
        return;
    }
    for (k, (e, o)) in even.iter_mut().zip(odd.iter_mut()).enumerate() {
        let w = twiddles[(first + k) * step];
        let t = Complex {
            re: w.re * o.re - w.im * o.im,
            im: w.re * o.im + w.im * o.re,
        };
        (*e, *o) = (
            Complex {
                re: e.re + t.re,
                im: e.im + t.im,
            },
            Complex {
                re: e.re - t.re,
                im: e.im - t.im,
            },
        );
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
        join(
            || fft_task(even, input, twiddles, 2 * step),
            || fft_task(odd, &input[step..], twiddles, 2 * step),
        );
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
    let twiddles: Vec<Complex> = (0..n / 2 + 1)
        .map(|k| {
            let angle = -2.0 * std::f64::consts::PI * k as f64 / n as f64;
            Complex {
                re: angle.cos(),
                im: angle.sin(),
            }
        })
        .collect();
    let mut input = vec![Complex { re: 0.0, im: 0.0 }; n];
    for t in 0..4u64 {
        let f = (mix64(t) % n as u64) as usize;
        for (j, x) in input.iter_mut().enumerate() {
            let k = f * j % n;
            let (sign, z) = if k < n / 2 {
                (1.0, twiddles[k])
            } else {
                (-1.0, twiddles[k - n / 2])
            };
            x.re += sign * z.re * (t + 1) as f64;
            x.im -= sign * z.im * (t + 1) as f64;
        }
    }
    c.run(|| {
        let mut out = vec![Complex { re: 0.0, im: 0.0 }; n];
        c.measure(
            "time",
            "ms",
            1e3,
            &mut out,
            |_| {},
            |out| fft_task(out, &input, &twiddles, 1),
            |out| {
                let mut d = Digest::default();
                for x in out {
                    d.add((x.re * 1024.0 / n as f64).round() as i64 as u64);
                    d.add((x.im * 1024.0 / n as f64).round() as i64 as u64);
                }
                d.value()
            },
        );
    });
}

fn saxpy_time(c: &Context, n: usize, from: &str, around: &impl Around) {
    let loops = c.iterations(if n <= 1000 {
        20_000
    } else if n <= 100_000 {
        600
    } else {
        6
    }) & !1;
    let x: Vec<f32> = (0..n).map(|i| (i % 16) as f32).collect();
    let mut y: Vec<f32> = (0..n).map(|i| (i % 7) as f32).collect();
    c.measure(
        &format!("n={n}{from}"),
        "us",
        1e6 / loops as f64,
        &mut y,
        |_| {},
        |y| {
            let mut a = 1f32;
            for _ in 0..loops {
                around.call(|| {
                    y.par_iter_mut()
                        .zip(x.par_iter())
                        .for_each(|(y, x)| *y += a * *x);
                });
                a = -a;
            }
        },
        |y| {
            y.iter()
                .enumerate()
                .map(|(i, &v)| v as u64 * (i as u64 + 1))
                .sum()
        },
    );
}

fn saxpy_rows(c: &Context, from: &str, around: &impl Around) {
    if c.n() != 0 {
        return saxpy_time(c, c.n(), from, around);
    }
    [2, 1000, 100_000]
        .into_iter()
        .for_each(|n| saxpy_time(c, n, from, around));
}

pub fn saxpy(c: &Context) {
    let pool = c.pool();
    pool.install(|| saxpy_rows(c, "", &Here));
    saxpy_rows(c, " from main", &FromMain(&pool));
}
