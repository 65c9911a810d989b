// The programs of `heddle demo` that train a decision tree, one for each runtime, and their output.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heddle::cli::demo {

// The options of the user.
struct request {
  std::string data;
  std::string test;
  std::uint64_t rows = 1'000'000;
  std::uint64_t seed = 1;
  unsigned depth = 17;
  unsigned min_leaf = 20;
  unsigned workers = 0;
  unsigned repeat = 5;
  std::string rivals = "all";
  std::string policy;
  std::string json;
};

// One runtime.
struct contender {
  std::string name;
  std::string program;
  std::vector<double> seconds;
  std::vector<double> build_seconds;  // the part of `seconds` after quantisation
  unsigned workers = 0;
  double accuracy = 0;
  std::string policy;
  std::string hash;
  bool same_tree = true;
};

// The facts about the rows and the tree that one training reports.
struct trained_on {
  std::uint64_t rows = 0;
  std::uint64_t features = 0;
  std::uint64_t nodes = 0;
  unsigned depth = 0;
  double majority = 0;
};

// `heddle sim` simulates only programs that use heddle, and a second round would repeat the first.
bool simulated();

// Reads a list separated by commas. The result is in the order of the table and always contains serial and heddle.
// Throws usage_error.
std::vector<std::string> chosen_runtimes(const std::string& rivals);
// Returns the packages that a runtime needs to be built.
std::string needs_of(const std::string& runtime);
// Returns heddle-FAMILY-RUNTIME if it is built.
std::optional<std::string> find_program(const std::string& family, const std::string& runtime);

// The rows as a file without a name: children inherit the descriptor, and nothing is left behind however the program
// ends.
class shared_rows {
 public:
  shared_rows();
  ~shared_rows();
  shared_rows(const shared_rows&) = delete;
  shared_rows& operator=(const shared_rows&) = delete;

  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

// `program` reads or generates the rows. Throws std::runtime_error with the program's message.
void prepare(const request& given, const std::string& program, const shared_rows& rows);
// Trains once, and adds the times to `one`.
void train(contender& one, const request& given, unsigned workers, const shared_rows& rows, trained_on& about);

}  // namespace heddle::cli::demo
