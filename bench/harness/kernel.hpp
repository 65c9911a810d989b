// A kernel's view of its executable: the settings it was started with, and the place of its figures.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::bench {

struct settings {
  std::string kernel;
  std::size_t n = 0;           // size; the kernel's default unless given
  std::size_t iterations = 0;  // 0 means the kernel's default
  std::size_t columns = 0;     // of grids that are cut by rows; 0 means the kernel's default
  std::size_t leaf = 0;        // rows of a leaf there; 0 means the kernel's default
  unsigned workers = 2;
  unsigned samples = 3;
  unsigned warmup = 1;
  std::string policy;
  std::string variant;
  std::string input, output;    // files, of kernels that read or write one
  std::optional<double> level;  // of a surface in a volume
  std::string touch;            // how memory is placed: first, interleave, serial; the kernel's choice unless given
  double alpha = 0;             // by how much hints are wrong, where the kernel can err: 0 .. 1
  bool alpha_random = false;
};

// Prints one JSON line on standard output for each metric. `samples` may be empty: the checksum alone is then reported,
// so that a runtime that cannot be timed (serial, in the kernels about threads) still gives the expected result.
void print_metric(std::string_view metric, std::string_view unit, const std::vector<double>& samples,
                  std::uint64_t checksum);

class context {
 public:
  explicit context(settings given) : settings_(std::move(given)) {}

  [[nodiscard]] const settings& options() const { return settings_; }
  [[nodiscard]] std::size_t n() const { return settings_.n; }
  [[nodiscard]] std::size_t iterations(std::size_t otherwise) const {
    takes_iterations_ = true;
    return settings_.iterations != 0 ? settings_.iterations : otherwise;
  }
  // Returns the file to read. If it is empty, the kernel makes its own data, of size n().
  [[nodiscard]] const std::string& input() const {
    takes_input_ = true;
    return settings_.input;
  }
  // Returns the file to which the result is written after all samples, or an empty name for none.
  [[nodiscard]] const std::string& output() const {
    takes_output_ = true;
    return settings_.output;
  }
  [[nodiscard]] double level(double otherwise) const {
    takes_level_ = true;
    return settings_.level.value_or(otherwise);
  }
  [[nodiscard]] std::size_t columns(std::size_t otherwise) const {
    takes_columns_ = true;
    return settings_.columns != 0 ? settings_.columns : otherwise;
  }
  [[nodiscard]] std::size_t leaf(std::size_t otherwise) const {
    takes_leaf_ = true;
    return settings_.leaf != 0 ? settings_.leaf : otherwise;
  }

  // A variant that was not asked for by name is skipped only if another was asked for.
  [[nodiscard]] bool wants(std::string_view variant) const { return settings_.variant.empty() || chose(variant); }
  // Returns true if the variant was asked for by name; such a variant does not run otherwise.
  [[nodiscard]] bool chose(std::string_view variant) const {
    if (std::find(variants_.begin(), variants_.end(), variant) == variants_.end()) variants_.emplace_back(variant);
    has_variant_ = has_variant_ || settings_.variant == variant;
    return settings_.variant == variant;
  }

  // Ends the program if it was given an argument that the kernel does not have. It is called before the first
  // measurement, when the kernel has looked for its variants; after the first run of a body that might have asked for
  // its iterations or sizes; and at the end.
  void check_variant() const {
    if (settings_.variant.empty() || has_variant_) return;
    std::string known;
    for (const auto& v : variants_) known += (known.empty() ? "" : ", ") + v;
    refuse("--variant '" + settings_.variant + "': " + settings_.kernel +
           (known.empty() ? " has no variants" : " has " + known));
  }
  void check_taken() const {
    const auto check = [this](const char* option, bool given, bool taken) {
      if (given && !taken) refuse(std::string(option) + ": " + settings_.kernel + " takes none");
    };
    check("--iterations", settings_.iterations != 0, takes_iterations_);
    check("--columns", settings_.columns != 0, takes_columns_);
    check("--leaf", settings_.leaf != 0, takes_leaf_);
    check("--input", !settings_.input.empty(), takes_input_);
    check("--output", !settings_.output.empty(), takes_output_);
    check("--level", settings_.level.has_value(), takes_level_);
  }

  // Runs setup, body and check for each warm-up and each sample; only body is timed. A sample is `scale` times the
  // seconds that it took. The checksum must be the same in all of them; a difference ends the program with an error.
  template <class Setup, class Body, class Check>
  void measure(std::string_view metric, std::string_view unit, double scale, Setup&& setup, Body&& body,
               Check&& check) {
    const measured m = take(metric, scale, setup, body, check);
    print_metric(metric, unit, m.samples, m.checksum);
  }

  // Does the same, but returns the figures instead of printing them.
  struct measured {
    std::vector<double> samples;
    std::uint64_t checksum = 0;
    [[nodiscard]] double middle() const {
      std::vector<double> sorted = samples;
      std::sort(sorted.begin(), sorted.end());
      return sorted.empty() ? 0 : sorted[sorted.size() / 2];
    }
  };
  template <class Setup, class Body, class Check>
  measured take(std::string_view metric, double scale, Setup&& setup, Body&& body, Check&& check) {
    check_variant();
    measured m;
    for (unsigned round = 0; round < settings_.warmup + settings_.samples; ++round) {
      setup();
      const auto begin = std::chrono::steady_clock::now();
      body();
      const auto end = std::chrono::steady_clock::now();
      const std::uint64_t sum = check();
      check_taken();
      if (round != 0 && sum != m.checksum) fail_checksum(metric, m.checksum, sum);
      m.checksum = sum;
      if (round >= settings_.warmup) m.samples.push_back(std::chrono::duration<double>(end - begin).count() * scale);
    }
    return m;
  }

  // The same where the body measures itself: it returns the sample, in the metric's unit.
  template <class Body, class Check>
  void collect(std::string_view metric, std::string_view unit, Body&& body, Check&& check) {
    check_variant();
    std::vector<double> samples;
    std::uint64_t checksum = 0;
    for (unsigned round = 0; round < settings_.warmup + settings_.samples; ++round) {
      const double sample = body();
      const std::uint64_t sum = check();
      check_taken();
      if (round != 0 && sum != checksum) fail_checksum(metric, checksum, sum);
      checksum = sum;
      if (round >= settings_.warmup) samples.push_back(sample);
    }
    print_metric(metric, unit, samples, checksum);
  }

  // Reports the result without a time; the timed rows of other runtimes must match it.
  void expect(std::string_view metric, std::uint64_t checksum) const { print_metric(metric, "", {}, checksum); }

 private:
  [[noreturn]] static void fail_checksum(std::string_view metric, std::uint64_t first, std::uint64_t then);
  [[noreturn]] static void refuse(const std::string& what);

  settings settings_;
  mutable std::vector<std::string> variants_;  // that the kernel asked about
  mutable bool has_variant_ = false;
  mutable bool takes_iterations_ = false, takes_columns_ = false, takes_leaf_ = false;
  mutable bool takes_input_ = false, takes_output_ = false, takes_level_ = false;
};

struct kernel_entry {
  std::string name;
  std::size_t n = 0;  // default size
  // The largest size that this runtime can finish in reasonable time; 0 means any.
  std::size_t most = 0;
  void (*execute)(context&) = nullptr;
};

// The kernels linked into this executable; filled by constructors before main.
std::vector<kernel_entry>& kernels();

// Each unit made by bench/CMakeLists.txt enrolls one kernel for one runtime, unless the runtime
// cannot express it.
template <class Kernel, class Backend>
struct enroll {
  explicit enroll(std::string_view name) {
    if constexpr (Kernel::template supports<Backend>) {
      if (Backend::can(name))
        kernels().push_back({std::string(name), Backend::size(name, Kernel::default_n), Backend::most(name),
                             &Kernel::template execute<Backend>});
    }
  }
};

}  // namespace heddle::bench
