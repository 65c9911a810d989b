//! join, rendezvous, idle, wavefront, memory: see the headers of the same names in bench/.

use crate::harness::{print_metric, status_field_kib, Around, Context, FromMain, Here};
use crate::trees::fib_task;
use std::hint::{black_box, spin_loop};
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

fn busy(length: Duration) {
    let begin = Instant::now();
    while begin.elapsed() < length {}
}

fn join_rows(c: &Context, pairs: usize, from: &str, around: &impl Around) {
    if c.wants("pair") {
        c.measure(
            &format!("pair{from}"),
            "ns",
            1e9 / pairs as f64,
            &mut (0u64, 0u64),
            |s| *s = (0, 0),
            |s| {
                for _ in 0..pairs {
                    let (left, right) = (&mut s.0, &mut s.1);
                    around.call(|| {
                        rayon::join(|| *black_box(left) += 1, || *black_box(right) += 1);
                    });
                }
            },
            |s| s.0 * 2 + s.1,
        );
    }
    if c.wants("coarse") {
        let (mut medians, mut tails) = (Vec::new(), Vec::new());
        for round in 0..c.settings.warmup + c.settings.samples {
            let mut starts: Vec<f64> = (0..50)
                .map(|_| {
                    let half = || {
                        let start = Instant::now();
                        busy(Duration::from_micros(1000));
                        start
                    };
                    let fork = Instant::now();
                    let (first, second) = around.call(|| rayon::join(half, half));
                    busy(Duration::from_micros(50));
                    first.max(second).duration_since(fork).as_secs_f64() * 1e6
                })
                .collect();
            starts.sort_by(f64::total_cmp);
            if round >= c.settings.warmup {
                medians.push(starts[starts.len() / 2]);
                tails.push(starts[starts.len() * 9 / 10]);
            }
        }
        print_metric(&format!("coarse{from}"), "us", &medians, 2);
        print_metric(&format!("coarse_p90{from}"), "us", &tails, 2);
    }
}

pub fn join(c: &Context) {
    let pool = c.pool();
    pool.install(|| join_rows(c, c.n(), "", &Here));
    join_rows(c, c.n() / 20 + 1, " from main", &FromMain(&pool));
}

#[repr(align(64))]
struct Meeting(AtomicI32);

impl Meeting {
    fn arrive(&self) {
        let both = (self.0.fetch_add(1, Ordering::SeqCst) | 1) + 1;
        while self.0.load(Ordering::SeqCst) < both {
            spin_loop();
        }
    }
    fn region(&self) {
        rayon::join(|| self.arrive(), || self.arrive());
    }
}

pub fn rendezvous(c: &Context) {
    if c.settings.workers < 2 {
        eprintln!("heddle-bench-rayon: rendezvous needs two workers");
        std::process::exit(1);
    }
    c.run(|| {
        let m = Meeting(AtomicI32::new(0));
        let mut counted = (0, 0);
        if c.wants("hot") {
            c.measure(
                "hot",
                "us",
                1e6 / c.n() as f64,
                &mut counted,
                |s| s.0 = m.0.load(Ordering::SeqCst),
                |s| {
                    (0..c.n()).for_each(|_| m.region());
                    s.1 = m.0.load(Ordering::SeqCst);
                },
                |s| (s.1 - s.0) as u64 / c.n() as u64,
            );
        }
        if c.wants("idle20") {
            c.collect(
                "idle20",
                "us",
                &mut counted,
                |s| {
                    s.0 = m.0.load(Ordering::SeqCst);
                    let mut waits: Vec<f64> = (0..20)
                        .map(|_| {
                            std::thread::sleep(Duration::from_millis(20));
                            let begin = Instant::now();
                            m.region();
                            begin.elapsed().as_secs_f64() * 1e6
                        })
                        .collect();
                    s.1 = m.0.load(Ordering::SeqCst);
                    waits.sort_by(f64::total_cmp);
                    waits[waits.len() / 2]
                },
                |s| (s.1 - s.0) as u64 / 20,
            );
        }
    });
}

/// User and system time of this process, in seconds: fields 14 and 15 of /proc/self/stat, in ticks of 10 ms.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat
        .rsplit(')')
        .next()
        .unwrap_or("")
        .split_whitespace()
        .collect();
    let ticks = |i: usize| {
        fields
            .get(i)
            .and_then(|f| f.parse::<f64>().ok())
            .unwrap_or(0.0)
    };
    (ticks(11) + ticks(12)) / 100.0
}

pub fn idle(c: &Context) {
    let pool = c.pool();
    let length = Duration::from_secs(c.n() as u64);
    let percent = |body: &mut dyn FnMut()| {
        let (before, begin) = (cpu_seconds(), Instant::now());
        body();
        100.0 * (cpu_seconds() - before) / begin.elapsed().as_secs_f64()
    };
    let (left, right) = (AtomicU64::new(0), AtomicU64::new(0));
    let once = || {
        pool.install(|| {
            rayon::join(
                || left.fetch_add(1, Ordering::Relaxed),
                || right.fetch_add(1, Ordering::Relaxed),
            )
        });
    };
    once();
    let counted = || left.load(Ordering::Relaxed) + right.load(Ordering::Relaxed);
    if c.wants("quiet") {
        let used = percent(&mut || std::thread::sleep(length));
        print_metric("quiet", "%", &[used], counted() - 2);
    }
    let each_millisecond = |once: &dyn Fn()| {
        let mut ticks = 0;
        let used = percent(&mut || {
            let begin = Instant::now();
            while begin.elapsed() < length {
                std::thread::sleep(Duration::from_millis(1));
                once();
                ticks += 1;
            }
        });
        (used, ticks)
    };
    if c.wants("timer") {
        let before = counted();
        let (used, ticks) = each_millisecond(&|| {
            pool.install(|| left.fetch_add(1, Ordering::Relaxed));
        });
        print_metric("timer", "%", &[used], counted() - before - ticks);
    }
    if c.wants("timer_fork") {
        let before = counted();
        let (used, ticks) = each_millisecond(&once);
        print_metric("timer_fork", "%", &[used], counted() - before - 2 * ticks);
    }
}

struct Node {
    missing: AtomicI32,
    paths: AtomicU64,
    predecessors: i32,
}

struct Graph {
    side: usize,
    nodes: Vec<Node>,
}

impl Graph {
    fn new(side: usize) -> Self {
        let nodes = (0..side * side)
            .map(|x| {
                let predecessors = i32::from(x / side > 0) + i32::from(x % side > 0);
                Node {
                    missing: AtomicI32::new(predecessors),
                    paths: AtomicU64::new(0),
                    predecessors,
                }
            })
            .collect();
        Graph { side, nodes }
    }

    fn visit(&self, x: usize) {
        let paths = |y: usize| self.nodes[y].paths.load(Ordering::Relaxed);
        let up = if x >= self.side {
            paths(x - self.side)
        } else {
            0
        };
        let left = if x % self.side > 0 { paths(x - 1) } else { 0 };
        self.nodes[x].paths.store(
            if x == 0 { 1 } else { up.wrapping_add(left) },
            Ordering::Relaxed,
        );
    }

    fn run_from<'s>(&'s self, scope: &rayon::Scope<'s>, first: usize) {
        let mut current = Some(first);
        while let Some(x) = current {
            self.visit(x);
            self.nodes[x]
                .missing
                .store(self.nodes[x].predecessors, Ordering::Relaxed);
            current = None;
            let right = (x % self.side + 1 < self.side).then_some(x + 1);
            let down = (x + self.side < self.nodes.len()).then_some(x + self.side);
            for s in [right, down].into_iter().flatten() {
                let node = &self.nodes[s];
                // pairs with the same line in the other predecessor's task: whoever comes last sees both predecessors' paths
                if node.predecessors != 1 && node.missing.fetch_sub(1, Ordering::AcqRel) != 1 {
                    continue;
                }
                if current.is_none() {
                    current = Some(s);
                } else {
                    scope.spawn(move |scope| self.run_from(scope, s));
                }
            }
        }
    }
}

pub fn wavefront(c: &Context) {
    const RUNS: usize = 20;
    if c.n() == 0 {
        eprintln!("heddle-bench-rayon: wavefront: --n must be at least 1");
        std::process::exit(1);
    }
    c.run(|| {
        let mut graph = Graph::new(c.n());
        if c.wants("counters") {
            let scale = 1e9 / (RUNS * c.n() * c.n()) as f64;
            c.measure(
                "counters",
                "ns",
                scale,
                &mut graph,
                |g| {
                    g.nodes
                        .iter()
                        .for_each(|n| n.paths.store(0, Ordering::Relaxed))
                },
                |g| {
                    let g: &Graph = g;
                    (0..RUNS).for_each(|_| rayon::scope(|s| g.run_from(s, 0)));
                },
                |g| {
                    g.nodes
                        .last()
                        .map_or(0, |n| n.paths.load(Ordering::Relaxed))
                },
            );
        }
    });
}

pub fn memory(c: &Context) {
    if !c.wants("fib") {
        return;
    }
    let empty = std::env::current_exe().and_then(|p| {
        std::process::Command::new(p)
            .args(["--kernel", "empty"])
            .output()
    });
    let base: u64 = empty
        .ok()
        .and_then(|o| String::from_utf8_lossy(&o.stdout).trim().parse().ok())
        .expect("the empty program's peak");
    let result = c.run(|| fib_task(c.n() as u32));
    print_metric(
        "fib",
        "KiB",
        &[status_field_kib("VmHWM").saturating_sub(base) as f64],
        result,
    );
}
