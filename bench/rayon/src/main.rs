//! heddle-bench-rayon: the protocol of bench/harness/main.cpp, the kernels of bench/, on Rayon.

mod harness;
mod matrices;
mod micro;
mod sorts;
mod trees;
mod vectors;

use harness::{number, Context, Settings};
use std::process::exit;

struct Kernel {
    name: &'static str,
    n: usize,
    execute: fn(&Context),
}

const KERNELS: [Kernel; 17] = [
    Kernel {
        name: "fft",
        n: 1 << 20,
        execute: vectors::fft,
    },
    Kernel {
        name: "fib",
        n: 35,
        execute: trees::fib,
    },
    Kernel {
        name: "heat2d",
        n: 2048,
        execute: matrices::heat2d,
    },
    Kernel {
        name: "idle",
        n: 10,
        execute: micro::idle,
    },
    Kernel {
        name: "join",
        n: 1_000_000,
        execute: micro::join,
    },
    Kernel {
        name: "loop",
        n: 0,
        execute: vectors::saxpy,
    },
    Kernel {
        name: "lu",
        n: 1024,
        execute: matrices::lu,
    },
    Kernel {
        name: "matmul",
        n: 1024,
        execute: matrices::matmul,
    },
    Kernel {
        name: "memory",
        n: 35,
        execute: micro::memory,
    },
    Kernel {
        name: "mergesort",
        n: 4_000_000,
        execute: sorts::mergesort,
    },
    Kernel {
        name: "nqueens",
        n: 12,
        execute: trees::nqueens,
    },
    Kernel {
        name: "quicksort",
        n: 4_000_000,
        execute: sorts::quicksort,
    },
    Kernel {
        name: "rendezvous",
        n: 20_000,
        execute: micro::rendezvous,
    },
    Kernel {
        name: "skynet",
        n: 1_000_000,
        execute: trees::skynet,
    },
    Kernel {
        name: "spawn",
        n: 32,
        execute: trees::spawn,
    },
    Kernel {
        name: "uts",
        n: 584,
        execute: trees::uts,
    },
    Kernel {
        name: "wavefront",
        n: 256,
        execute: micro::wavefront,
    },
];

fn usage(what: &str, value: &str) -> ! {
    eprintln!("heddle-bench-rayon: {what} '{value}'; known: --kernel --n --workers --samples --warmup --iterations --policy --variant --list");
    exit(2);
}

fn list() {
    println!(
        "{{\"runtime\": \"rayon\", \"compiler\": \"{}\", \"flags\": \"release, lto=fat{}\"}}",
        env!("HEDDLE_BENCH_RUSTC"),
        option_env!("HEDDLE_BENCH_RUSTFLAGS").map_or(String::new(), |f| format!(", {f}"))
    );
    for k in &KERNELS {
        println!(
            "{{\"kernel\": \"{}\", \"n\": {}, \"most\": 0}}",
            k.name, k.n
        );
    }
}

fn main() {
    let mut s = Settings {
        kernel: String::new(),
        n: 0,
        iterations: 0,
        workers: 2,
        samples: 3,
        warmup: 1,
        variant: String::new(),
    };
    let mut sized = false;
    let mut arguments = std::env::args().skip(1);
    while let Some(option) = arguments.next() {
        if option == "--list" {
            return list();
        }
        let Some(value) = arguments.next() else {
            usage("option without a value, or unknown:", &option)
        };
        let parsed = || number(&value).unwrap_or_else(|| usage(&option, &value));
        match option.as_str() {
            "--kernel" => s.kernel = value,
            "--n" => {
                s.n = parsed();
                sized = true;
            }
            "--workers" => s.workers = parsed(),
            "--samples" => s.samples = parsed(),
            "--warmup" => s.warmup = parsed(),
            "--iterations" => s.iterations = parsed(),
            "--policy" => {}
            "--variant" => s.variant = value,
            _ => usage("unknown option", &option),
        }
    }
    if s.workers == 0 {
        usage("--workers must be at least 1, not", "0");
    }
    if s.kernel == "empty" {
        println!("{}", harness::status_field_kib("VmHWM"));
        return;
    }
    let Some(kernel) = KERNELS.iter().find(|k| k.name == s.kernel) else {
        println!("{{\"unsupported\": true}}");
        exit(3);
    };
    if !sized {
        s.n = kernel.n;
    }
    (kernel.execute)(&Context { settings: s });
}
