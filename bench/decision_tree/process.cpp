#include "process.hpp"

#include <array>
#include <charconv>
#include <cinttypes>
#include <cstdio>
#include <limits>
#include <string_view>

namespace heddle::bench::decision_tree {

namespace {

struct option {
  std::string_view name;
  std::string_view value;  // what it takes, as --help shows it
  std::string_view help;
  void (*text)(process_options&, std::string_view) = nullptr;
  void (*number)(process_options&, std::uint64_t) = nullptr;
  std::uint64_t least = 0;
  std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
};

constexpr std::uint64_t any_size = std::numeric_limits<std::uint32_t>::max();

constexpr std::array options_table{
    option{"--data", "FILE", "tab-separated rows: label 0 or 1, then the features; without it rows are generated",
           [](process_options& o, std::string_view v) { o.data = v; }},
    option{"--test", "FILE", "held-out rows; without it the last tenth of the rows is held out",
           [](process_options& o, std::string_view v) { o.test = v; }},
    option{"--binary", "FILE", "rows that --prepare wrote",
           [](process_options& o, std::string_view v) { o.binary = v; }},
    option{"--prepare", "FILE", "write the rows there and train nothing",
           [](process_options& o, std::string_view v) { o.prepare = v; }},
    option{"--rows", "N", "rows to generate (1000000)", nullptr,
           [](process_options& o, std::uint64_t v) { o.rows = v; }, 10, most_rows - 1},
    option{"--seed", "N", "of the generator (1)", nullptr, [](process_options& o, std::uint64_t v) { o.seed = v; }},
    option{"--depth", "N", "greatest depth of the tree (17)", nullptr,
           [](process_options& o, std::uint64_t v) { o.training.depth = static_cast<unsigned>(v); }, 1, 64},
    option{"--min-leaf", "N", "fewest rows in a leaf (20)", nullptr,
           [](process_options& o, std::uint64_t v) { o.training.min_leaf = static_cast<std::uint32_t>(v); }, 1,
           any_size / 4},
    option{"--bins", "N", "most bins a feature (256)", nullptr,
           [](process_options& o, std::uint64_t v) { o.training.bins = v; }, 2, most_bins},
    option{"--recursion-cutoff", "BYTES", "rows below which a subtree is one task (65536)", nullptr,
           [](process_options& o, std::uint64_t v) { o.training.recursion_cutoff = v; }, 1, any_size},
    option{"--loop-cutoff", "BYTES", "rows in a chunk of a parallel loop (262144)", nullptr,
           [](process_options& o, std::uint64_t v) { o.training.loop_cutoff = v; }, 1, any_size},
    option{"--workers", "N", "workers, 0 for the runtime's default (0)", nullptr,
           [](process_options& o, std::uint64_t v) { o.workers = static_cast<unsigned>(v); }, 0, 4096},
    option{"--policy", "NAME", "scheduling policy, for heddle",
           [](process_options& o, std::string_view v) { o.policy = v; }},
    option{"--warmup", "N", "trainings before those reported (1)", nullptr,
           [](process_options& o, std::uint64_t v) { o.warmup = static_cast<unsigned>(v); }, 0, any_size},
    option{"--repeat", "N", "trainings reported (1)", nullptr,
           [](process_options& o, std::uint64_t v) { o.repeat = static_cast<unsigned>(v); }, 0, any_size},
};

void print_help(char const* program) {
  std::printf("usage: %s [option]...\nTrains a decision tree; prints one JSON line a training.\n\n", program);
  for (option const& one : options_table) {
    std::string const left = std::string(one.name) + " " + std::string(one.value);
    std::printf("  %-26s %.*s\n", left.c_str(), static_cast<int>(one.help.size()), one.help.data());
  }
}

bool fail(char const* program, std::string const& what, int& status) {
  std::fprintf(stderr, "%s: %s\n", program, what.c_str());
  status = 2;
  return false;
}

std::string all_names() {
  std::string names;
  for (option const& one : options_table) names += (names.empty() ? "" : " ") + std::string(one.name);
  return names;
}

}  // namespace

bool parse_options(int argc, char** argv, process_options& options, int& status) {
  for (int i = 1; i < argc; ++i) {
    std::string_view const name = argv[i];
    if (name == "--help") {
      print_help(argv[0]);
      status = 0;
      return false;
    }
    option const* found = nullptr;
    for (option const& one : options_table) {
      if (one.name == name) found = &one;
    }
    if (found == nullptr)
      return fail(argv[0], "unknown option '" + std::string(name) + "'; known: " + all_names(), status);
    if (i + 1 == argc) return fail(argv[0], std::string(name) + " needs a value: " + std::string(found->value), status);
    std::string_view const value = argv[++i];
    if (found->text != nullptr) {
      found->text(options, value);
      continue;
    }
    std::uint64_t parsed = 0;
    auto const [end, error] = std::from_chars(value.data(), value.data() + value.size(), parsed);
    if (error != std::errc{} || end != value.data() + value.size() || parsed < found->least || parsed > found->most) {
      return fail(argv[0],
                  std::string(name) + " takes a number from " + std::to_string(found->least) + " to " +
                      std::to_string(found->most) + ", not '" + std::string(value) + "'",
                  status);
    }
    found->number(options, parsed);
  }
  if (!options.test.empty() && options.data.empty()) return fail(argv[0], "--test needs --data", status);
  return true;
}

void print_training(std::string const& runtime, unsigned workers, std::string const& policy, training_data const& data,
                    training_result const& result) {
  std::printf(
      "{\"runtime\": \"%s\", \"workers\": %u, \"policy\": \"%s\", \"rows\": %zu, \"features\": %zu, \"bin_s\": %.6f, "
      "\"build_s\": %.6f, \"train_s\": %.6f, "
      "\"hash\": \"%016" PRIx64 "\", \"nodes\": %zu, \"depth\": %u, \"accuracy\": %.6f, \"majority\": %.6f}\n",
      runtime.c_str(), workers, policy.c_str(), data.train.rows(), data.train.features(), result.bin_seconds,
      result.build_seconds, result.bin_seconds + result.build_seconds, result.trained.hash(),
      result.trained.nodes().size(), result.trained.depth(), result.trained.accuracy(data.test),
      majority_rate(data.test));
  std::fflush(stdout);  // the demo reads lines as they come
}

int report_error(char const* program, std::exception const& error) {
  // Errors in the data name the file themselves.
  if (dynamic_cast<data_error const*>(&error) != nullptr) {
    std::fprintf(stderr, "%s\n", error.what());
  } else {
    std::fprintf(stderr, "%s: %s\n", program, error.what());
  }
  return 1;
}

}  // namespace heddle::bench::decision_tree
