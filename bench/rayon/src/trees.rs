//! fib, nqueens, uts, skynet, spawn: see the headers of the same names in bench/.

use crate::harness::{mix64, Around, Context, FromMain, Here};

fn fib_spawns(n: usize) -> f64 {
    let (mut a, mut b) = (1u64, 1u64);
    for _ in 1..n {
        (a, b) = (b, a + b);
    }
    ((b - 1) as f64).max(1.0)
}

#[inline(never)]
pub fn fib_task(n: u32) -> u64 {
    if n < 2 {
        return n.into();
    }
    let (x, y) = rayon::join(|| fib_task(n - 1), || fib_task(n - 2));
    x + y
}

fn fib_row(c: &Context, from: &str, around: &impl Around) {
    let n = c.n() as u32;
    c.measure(
        &format!("ns_per_spawn{from}"),
        "ns",
        1e9 / fib_spawns(c.n()),
        &mut 0,
        |_| {},
        |r| *r = around.call(|| fib_task(n)),
        |r| *r,
    );
}

pub fn fib(c: &Context) {
    let pool = c.pool();
    pool.install(|| fib_row(c, "", &Here));
    fib_row(c, " from main", &FromMain(&pool));
}

/// The sum of f(i) for first <= i < last, each a task: halves joined.
fn sum<F: Fn(usize) -> u64 + Sync>(first: usize, last: usize, f: &F) -> u64 {
    match last - first {
        0 => 0,
        1 => f(first),
        2 => {
            let (a, b) = rayon::join(|| f(first), || f(first + 1));
            a + b
        }
        n => {
            let middle = first + n / 2;
            let (a, b) = rayon::join(|| sum(first, middle, f), || sum(middle, last, f));
            a + b
        }
    }
}

const LIMIT: usize = 20;
type Board = [u8; LIMIT];

fn queens_safe(b: &Board, count: usize) -> bool {
    let row = count - 1;
    let q = i32::from(b[row]);
    for (i, &p) in b[..row].iter().enumerate() {
        let (p, distance) = (i32::from(p), (row - i) as i32);
        if p == q || p == q - distance || p == q + distance {
            return false;
        }
    }
    true
}

fn nqueens_task(n: usize, placed: usize, b: &Board) -> u64 {
    if placed == n {
        return 1;
    }
    let mut next = [[0u8; LIMIT]; LIMIT];
    let mut valid = 0;
    for column in 0..n {
        next[valid][..placed].copy_from_slice(&b[..placed]);
        next[valid][placed] = column as u8;
        valid += usize::from(queens_safe(&next[valid], placed + 1));
    }
    sum(0, valid, &|i| nqueens_task(n, placed + 1, &next[i]))
}

pub fn nqueens(c: &Context) {
    c.run(|| {
        let n = c.n().min(LIMIT);
        c.measure(
            "time",
            "ms",
            1e3,
            &mut 0,
            |_| {},
            |r| *r = nqueens_task(n, 0, &[0; LIMIT]),
            |r| *r,
        );
    });
}

trait Shape: Sync {
    const SEED_OFFSET: u64;
    fn children(&self, state: u64, level: u32) -> usize;
}

struct Binomial;

impl Shape for Binomial {
    const SEED_OFFSET: u64 = 0;
    fn children(&self, state: u64, level: u32) -> usize {
        if level == 0 {
            2000
        } else if state < 2303537166204480256 {
            8
        } else {
            0
        }
    }
}

struct Geometric([u64; 100]);

impl Geometric {
    fn new() -> Self {
        let mut p = 1.0;
        let mut thresholds = [0; 100];
        for t in &mut thresholds {
            p *= 0.8;
            *t = (p * 9007199254740992.0) as u64;
        }
        Geometric(thresholds)
    }
}

impl Shape for Geometric {
    const SEED_OFFSET: u64 = 36;
    fn children(&self, state: u64, level: u32) -> usize {
        if level >= 10 {
            return 0;
        }
        self.0.iter().take_while(|&&t| (state >> 11) < t).count()
    }
}

fn uts_task<S: Shape>(shape: &S, state: u64, level: u32) -> u64 {
    match shape.children(state, level) {
        0 => 1,
        count => {
            1 + sum(0, count, &|i| {
                uts_task(shape, mix64(state.wrapping_add(i as u64 + 1)), level + 1)
            })
        }
    }
}

fn uts_time<S: Shape>(c: &Context, metric: &str, shape: &S) {
    let root = mix64(c.n() as u64 + S::SEED_OFFSET);
    c.measure(
        metric,
        "ms",
        1e3,
        &mut 0,
        |_| {},
        |r| *r = uts_task(shape, root, 0),
        |r| *r,
    );
}

pub fn uts(c: &Context) {
    c.run(|| {
        if c.wants("binomial") {
            uts_time(c, "binomial", &Binomial);
        }
        if c.wants("geometric") {
            uts_time(c, "geometric", &Geometric::new());
        }
    });
}

fn skynet_task(first: u64, size: u64) -> u64 {
    if size < 10 {
        return first;
    }
    let part = size / 10;
    sum(0, 10, &|i| skynet_task(first + i as u64 * part, part))
}

pub fn skynet(c: &Context) {
    c.run(|| {
        c.measure(
            "time",
            "ms",
            1e3,
            &mut 0,
            |_| {},
            |r| *r = skynet_task(0, c.n() as u64),
            |r| *r,
        )
    });
}

#[inline(never)]
fn spawn_task(n: u32) -> u64 {
    if n < 2 {
        return n.into();
    }
    let mut x = 0;
    let y = rayon::scope(|s| {
        s.spawn(|_| x = spawn_task(n - 1));
        spawn_task(n - 2)
    });
    x + y
}

pub fn spawn(c: &Context) {
    const BATCH: usize = 256;
    const BATCHES: usize = 400;
    c.run(|| {
        if c.wants("tree") {
            c.measure(
                "tree",
                "ns",
                1e9 / fib_spawns(c.n()),
                &mut 0,
                |_| {},
                |r| *r = spawn_task(c.n() as u32),
                |r| *r,
            );
        }
        if c.wants("flat") {
            let scale = 1e9 / (BATCH * BATCHES) as f64;
            c.measure(
                "flat",
                "ns",
                scale,
                &mut vec![0u64; BATCH],
                |ran| ran.fill(0),
                |ran| {
                    for _ in 0..BATCHES {
                        rayon::scope(|s| {
                            for slot in ran.iter_mut() {
                                s.spawn(move |_| *slot += 1);
                            }
                        });
                    }
                },
                |ran| ran.iter().sum(),
            );
        }
    });
}
