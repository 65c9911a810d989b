// heddle-bench-<runtime>: runs one kernel on one runtime and prints one JSON line per metric.
// Exit status: 0 done, 1 wrong result or failure, 2 bad argument, 3 this runtime cannot express the
// kernel, 5 the kernel has no such variant, or takes no such option.
#include <algorithm>
#include <charconv>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>

#include "harness/kernel.hpp"
#include "harness/memory_use.hpp"
#include "harness/placement.hpp"
#include "harness/scale.hpp"

#ifndef HEDDLE_BENCH_RUNTIME
#error "HEDDLE_BENCH_RUNTIME names the runtime this executable measures"
#endif
#ifndef HEDDLE_BENCH_FLAGS
#define HEDDLE_BENCH_FLAGS ""
#endif

namespace heddle::bench {

namespace {
// ctest and the driver read lines as they come.
void line(const char* text) {
  std::fputs(text, stdout);
  std::fputc('\n', stdout);
  std::fflush(stdout);
}
}  // namespace

std::vector<kernel_entry>& kernels() {
  static std::vector<kernel_entry> all;
  return all;
}

void print_metric(std::string_view metric, std::string_view unit, const std::vector<double>& samples,
                  std::uint64_t checksum) {
  std::string out =
      "{\"metric\": \"" + std::string(metric) + "\", \"unit\": \"" + std::string(unit) + "\", \"samples\": [";
  char number[64];
  for (std::size_t i = 0; i < samples.size(); ++i) {
    std::snprintf(number, sizeof number, "%s%.9g", i == 0 ? "" : ", ", samples[i]);
    out += number;
  }
  std::snprintf(number, sizeof number, "], \"checksum\": \"%016" PRIx64 "\"}", checksum);
  line((out + number).c_str());
}

void context::fail_checksum(std::string_view metric, std::uint64_t first, std::uint64_t then) {
  std::fprintf(stderr, "%.*s: two runs differ: %016" PRIx64 " and %016" PRIx64 "\n", static_cast<int>(metric.size()),
               metric.data(), first, then);
  std::exit(1);
}

// `heddle bench` reads this. The runtime may be at work, so nothing is torn down.
void context::refuse(const std::string& said) {
  std::string what = said;  // holds what was given
  std::replace_if(what.begin(), what.end(), [](char c) { return c == '"' || c == '\\' || c < ' '; }, '?');
  line(("{\"refused\": \"" + what + "\"}").c_str());
  std::_Exit(5);
}

namespace {

[[noreturn]] void usage(const char* what, const char* value) {
  std::fprintf(stderr,
               "heddle-bench-" HEDDLE_BENCH_RUNTIME
               ": %s '%s'; known: --kernel --n --workers --samples --warmup --iterations --policy "
               "--columns --leaf --input --output --level --variant --touch --alpha --shrink --leaf-rate --list\n",
               what, value);
  std::exit(2);
}

std::size_t number(const char* option, std::string_view text) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) usage(option, text.data());
  return value;
}

std::size_t positive(const char* option, const char* text) {
  const std::size_t value = number(option, text);
  if (value == 0) usage((std::string(option) + " must be at least 1, not").c_str(), text);
  return value;
}

double real(const char* option, std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) usage(option, text.data());
  return value;
}

// "10" or "random:10", in per cent.
void read_alpha(std::string_view text, settings& s) {
  s.alpha_random = text.starts_with("random:");
  const std::size_t percent = number("--alpha", s.alpha_random ? text.substr(7) : text);
  if (percent > 100) usage("--alpha is at most 100 per cent, not", text.data());
  s.alpha = static_cast<double>(percent) / 100;
}

void list() {
  std::sort(kernels().begin(), kernels().end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  line("{\"runtime\": \"" HEDDLE_BENCH_RUNTIME
       "\", \"compiler\": \""
#if defined(__clang__)
       "clang " __clang_version__
#else
       "gcc " __VERSION__
#endif
       "\", \"flags\": \"" HEDDLE_BENCH_FLAGS "\"}");
  for (const auto& k : kernels()) {
    char text[256];
    std::snprintf(text, sizeof text, "{\"kernel\": \"%s\", \"n\": %zu, \"most\": %zu}", k.name.c_str(), k.n, k.most);
    line(text);
  }
}

int run(int argc, char** argv) {
  settings s;
  bool sized = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    if (option == "--list") return list(), 0;
    if (i + 1 == argc) usage("option without a value, or unknown:", argv[i]);
    const char* const value = argv[++i];
    if (option == "--kernel") s.kernel = value;
    else if (option == "--n") s.n = number("--n", value), sized = true;
    else if (option == "--workers") s.workers = static_cast<unsigned>(number("--workers", value));
    else if (option == "--samples") s.samples = static_cast<unsigned>(number("--samples", value));
    else if (option == "--warmup") s.warmup = static_cast<unsigned>(number("--warmup", value));
    else if (option == "--iterations") s.iterations = number("--iterations", value);
    else if (option == "--columns") s.columns = positive("--columns", value);
    else if (option == "--leaf") s.leaf = positive("--leaf", value);
    else if (option == "--input") s.input = value;
    else if (option == "--output") s.output = value;
    else if (option == "--level") s.level = real("--level", value);
    else if (option == "--policy") s.policy = value;
    else if (option == "--variant") s.variant = value;
    else if (option == "--touch") {
      s.touch = value;
      if (!is_touch(s.touch)) usage("--touch is first, interleave or serial, not", value);
    } else if (option == "--alpha") read_alpha(value, s);
    else if (option == "--shrink") {
      shrink = number("--shrink", value);
      if (shrink == 0) usage("--shrink must be at least 1, not", value);
    } else if (option == "--leaf-rate") leaf_rate = static_cast<double>(number("--leaf-rate", value));
    else usage("unknown option", argv[i - 1]);
  }
  if (s.workers == 0) usage("--workers must be at least 1, not", "0");
  if (s.kernel == "empty") {  // the program without any runtime started: the memory kernel's zero
    std::printf("%zu\n", peak_resident_kib());
    return 0;
  }
  const auto found =
      std::find_if(kernels().begin(), kernels().end(), [&](const auto& k) { return k.name == s.kernel; });
  if (found == kernels().end()) {
    line("{\"unsupported\": true}");
    return 3;
  }
  if (!sized) s.n = found->n;
  context c(s);
  found->execute(c);
  c.check_variant();
  c.check_taken();
  return 0;
}

}  // namespace
}  // namespace heddle::bench

int main(int argc, char** argv) {
  try {
    return heddle::bench::run(argc, argv);
  } catch (const std::bad_alloc&) {
    std::fputs("heddle-bench-" HEDDLE_BENCH_RUNTIME ": not enough memory; a smaller --n, or file, needs less\n",
               stderr);
    return 1;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "heddle-bench-" HEDDLE_BENCH_RUNTIME ": %s\n", e.what());
    return 1;
  }
}
