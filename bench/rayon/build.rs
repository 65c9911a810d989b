//! Passes the compiler's version and flags on to `--list`.
use std::process::Command;

fn main() {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let version = Command::new(rustc)
        .arg("--version")
        .output()
        .map(|o| String::from_utf8_lossy(&o.stdout).trim().to_string())
        .unwrap_or_default();
    println!("cargo:rustc-env=HEDDLE_BENCH_RUSTC={version}");
    if let Ok(flags) = std::env::var("CARGO_ENCODED_RUSTFLAGS") {
        if !flags.is_empty() {
            println!(
                "cargo:rustc-env=HEDDLE_BENCH_RUSTFLAGS={}",
                flags.replace('\u{1f}', " ")
            );
        }
    }
}
