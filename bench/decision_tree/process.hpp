// The program heddle-tree-<runtime>: trains one tree again and again on one runtime and prints one JSON line a time.
// One program a runtime, because libgomp and libomp cannot share a process, and because a runtime whose idle threads
// spin must not disturb the next one's measurement.
#pragma once

#include "dataset.hpp"
#include "generator.hpp"
#include "trainer.hpp"
#include "tsv.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <utility>

namespace heddle::bench::decision_tree {

struct process_options {
  std::string data;     // a tab-separated file; if empty, data are generated
  std::string test;     // held-out rows; if empty, the last tenth of data
  std::string binary;   // the file that an earlier --prepare wrote
  std::string prepare;  // the file to which the data are written; the program then ends
  std::size_t rows = 1'000'000;
  std::uint64_t seed = 1;
  unsigned workers = 0;  // 0 means the runtime's default
  std::string policy;
  unsigned warmup = 1;  // trainings not reported
  unsigned repeat = 1;
  training_options training;
};

// Reads the command line into options. Returns false after --help or an error, which it has printed; `status` is then
// the exit status.
bool parse_options(int argc, char** argv, process_options& options, int& status);

// The names and numbers of one training, as a JSON object on a line of standard output.
void print_training(std::string const& runtime, unsigned workers, std::string const& policy, training_data const& data,
                    training_result const& result);

// One line on standard error; the exit status.
int report_error(char const* program, std::exception const& error);

template <executor Executor>
training_data obtain_data(Executor& run, process_options const& options) {
  if (!options.binary.empty()) return load_binary(options.binary);
  if (!options.data.empty()) return read_training_data(options.data, options.test);
  dataset all;
  all.resize(options.rows, generated_features);
  constexpr std::size_t block = 4096;
  run.run([&] {
    run.parallel_for(0, (options.rows + block - 1) / block, 1, [&](std::size_t first, std::size_t last) {
      generate_rows(options.seed, first * block, std::min(last * block, options.rows), all);
    });
  });
  training_data data = hold_out_last_tenth(std::move(all), "--rows");
  require_trainable(data, "--rows " + std::to_string(options.rows));
  return data;
}

// make_executor(options) returns the executor to train on.
template <class MakeExecutor>
int run_process(int argc, char** argv, char const* runtime, MakeExecutor&& make_executor) {
  process_options options;
  int status = 0;
  if (!parse_options(argc, argv, options, status)) return status;
  try {
    auto run = make_executor(options);
    training_data const data = obtain_data(run, options);
    if (!options.prepare.empty()) {
      save_binary(data, options.prepare);
      return 0;
    }
    std::string policy;
    if constexpr (requires { run.policy(); }) policy = run.policy();
    trainer train(run, data.train, options.training);
    for (unsigned i = 0; i < options.warmup; ++i) (void)train.train();
    for (unsigned i = 0; i < options.repeat; ++i) print_training(runtime, run.workers(), policy, data, train.train());
  } catch (std::exception const& error) {
    return report_error(argv[0], error);
  }
  return 0;
}

}  // namespace heddle::bench::decision_tree
