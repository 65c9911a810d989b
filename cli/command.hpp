// The table of subcommands. Each subcommand is one file, or one folder of cli/ with a file of the same name in it, that
// registers itself with a static object, so that a new one needs no list to be edited:
//
//   namespace heddle::cli {
//   namespace {
//   std::function<int()> add_bench(CLI::App& app) {
//     auto given = std::make_shared<arguments>();
//     app.add_option("--repeat", given->repeat, "Runs of each kernel")->capture_default_str();
//     return [given] { return run(*given); };
//   }
//   const registration bench_entry{command{"bench", "run the benchmarks", add_bench}};
//   }  // namespace
//   }  // namespace heddle::cli
//
// Exit status of every subcommand: 0 done; 1 failed (any exception, its text on one line of stderr); 2 a bad argument
// (usage_error, or what CLI11 found), one line that names the argument and the nearest valid ones.
#pragma once

#include <CLI/CLI.hpp>

#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::cli {

struct command {
  const char* name;
  const char* help;  // one line for `heddle --help`; also the head of `heddle NAME --help`
  // Declares the options of the subcommand. Returns the function that is run when they are parsed; its value is the
  // exit status. `add` does nothing but declare, because `heddle help NAME` calls it, too. If it is null, the
  // subcommand is a program of its own, heddle-NAME beside the command, which takes over the process.
  std::function<int()> (*add)(CLI::App& app);
};

// A page of `heddle help NAME` that belongs to no subcommand.
struct topic {
  const char* name;
  const char* help;  // one line for `heddle --help`
  std::string (*text)();
  std::string (*markdown)() = nullptr;  // for `heddle help NAME --markdown`, if there is such a form
};

struct registration {
  explicit registration(const command& c);
  explicit registration(const topic& t);
};

// Both are ordered by name.
std::vector<command> commands();
std::vector<topic> topics();

// Returns the text of `heddle NAME --help`.
std::string help_of(const command& which);

// A bad argument that only the subcommand can recognise.
class usage_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
  // Returns "ARGUMENT 'GIVEN' is unknown; did you mean A or B?", with all the valid values if none is near.
  static usage_error unknown(std::string_view argument, std::string_view given, std::span<const std::string> valid);
};

// Runs the whole command: main() without the process around it. `arguments` excludes the program's name.
int run(std::span<const std::string> arguments);

}  // namespace heddle::cli
