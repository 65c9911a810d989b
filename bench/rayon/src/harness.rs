//! Settings, samples, one JSON line per metric; the inputs' random numbers and the digests of bench/harness/random.hpp.

use std::time::Instant;

pub struct Settings {
    pub kernel: String,
    pub n: usize,
    pub iterations: usize,
    pub workers: usize,
    pub samples: usize,
    pub warmup: usize,
    pub variant: String,
}

pub struct Context {
    pub settings: Settings,
}

/// Where one operation of a measurement is called from.
pub trait Around: Sync {
    fn call<R: Send>(&self, f: impl FnOnce() -> R + Send) -> R;
}

/// Right here, inside the pool.
pub struct Here;
impl Around for Here {
    #[inline(always)]
    fn call<R: Send>(&self, f: impl FnOnce() -> R + Send) -> R {
        f()
    }
}

/// From outside the pool, by the program's main thread.
pub struct FromMain<'a>(pub &'a rayon::ThreadPool);
impl Around for FromMain<'_> {
    fn call<R: Send>(&self, f: impl FnOnce() -> R + Send) -> R {
        self.0.install(f)
    }
}

pub fn number(text: &str) -> Option<usize> {
    text.parse().ok()
}

pub fn print_metric(metric: &str, unit: &str, samples: &[f64], checksum: u64) {
    let list: Vec<String> = samples.iter().map(|s| format!("{s:.9}")).collect();
    println!("{{\"metric\": \"{metric}\", \"unit\": \"{unit}\", \"samples\": [{}], \"checksum\": \"{checksum:016x}\"}}", list.join(", "));
}

impl Context {
    pub fn n(&self) -> usize {
        self.settings.n
    }

    pub fn iterations(&self, otherwise: usize) -> usize {
        if self.settings.iterations != 0 {
            self.settings.iterations
        } else {
            otherwise
        }
    }

    pub fn wants(&self, variant: &str) -> bool {
        self.settings.variant.is_empty() || self.settings.variant == variant
    }

    /// A pool of the asked number of workers; `f` runs inside it.
    pub fn run<R: Send>(&self, f: impl FnOnce() -> R + Send) -> R {
        self.pool().install(f)
    }

    pub fn pool(&self) -> rayon::ThreadPool {
        rayon::ThreadPoolBuilder::new()
            .num_threads(self.settings.workers)
            .build()
            .expect("a pool")
    }

    /// Runs setup, body, check for each warm-up and sample; only the body is timed, in seconds times `scale`.
    pub fn measure<S>(
        &self,
        metric: &str,
        unit: &str,
        scale: f64,
        state: &mut S,
        setup: impl Fn(&mut S),
        body: impl Fn(&mut S),
        check: impl Fn(&S) -> u64,
    ) {
        self.collect(
            metric,
            unit,
            state,
            |s| {
                setup(s);
                let begin = Instant::now();
                body(s);
                begin.elapsed().as_secs_f64() * scale
            },
            check,
        );
    }

    /// The same where the body returns its own sample.
    pub fn collect<S>(
        &self,
        metric: &str,
        unit: &str,
        state: &mut S,
        body: impl Fn(&mut S) -> f64,
        check: impl Fn(&S) -> u64,
    ) {
        let mut samples = Vec::new();
        let mut checksum = 0;
        for round in 0..self.settings.warmup + self.settings.samples {
            let sample = body(state);
            let sum = check(state);
            if round != 0 && sum != checksum {
                eprintln!("{metric}: two runs differ: {checksum:016x} and {sum:016x}");
                std::process::exit(1);
            }
            checksum = sum;
            if round >= self.settings.warmup {
                samples.push(sample);
            }
        }
        print_metric(metric, unit, &samples, checksum);
    }
}

pub fn mix64(z: u64) -> u64 {
    let mut z = z.wrapping_add(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d049bb133111eb);
    z ^ (z >> 31)
}

#[derive(Default)]
pub struct Digest(u64);

impl Digest {
    pub fn add(&mut self, value: u64) {
        self.0 = mix64(self.0 ^ value);
    }
    pub fn value(&self) -> u64 {
        self.0
    }
}

pub fn status_field_kib(field: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status
        .lines()
        .find_map(|l| {
            l.strip_prefix(field)?
                .strip_prefix(':')?
                .split_whitespace()
                .next()?
                .parse()
                .ok()
        })
        .unwrap_or(0)
}

/// A pointer that several tasks write through, each to places of its own.
pub struct Shared<T>(pub *mut T);
impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Shared<T> {}
unsafe impl<T> Send for Shared<T> {}
unsafe impl<T> Sync for Shared<T> {}

impl<T> Shared<T> {
    /// # Safety
    /// As for `pointer::add`.
    #[inline(always)]
    pub unsafe fn at(self, offset: usize) -> Self {
        Shared(self.0.add(offset))
    }
}
