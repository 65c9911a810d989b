// heddle demo: trains a decision tree on heddle and on other runtimes, on the same rows, and shows how long each took.
//
// Each runtime is a program of its own (bench/decision_tree/), started anew for each round, so that no runtime's idle
// threads disturb the next one. The rows are read or generated once, into memory that the programs inherit as a file.
// A second table shows what parallel loops within a parallel loop take (nested.cpp): there runtimes differ more.
#include "base/replace_file.hpp"
#include "cli/checks.hpp"
#include "cli/child.hpp"
#include "cli/command.hpp"
#include "cli/demo/nested.hpp"
#include "cli/median.hpp"
#include "cli/progress.hpp"
#include "policy/policy.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace heddle::cli {
namespace {

struct arguments {
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

struct known_runtime {
  const char* name;
  const char* needs;  // to be built
};

// serial and heddle always run: the one is the measure, the other the subject.
constexpr std::array known_runtimes{
    known_runtime{"serial", ""},
    known_runtime{"libgomp", "g++ with OpenMP"},
    known_runtime{"libomp", "clang++ with libomp"},
    known_runtime{"tbb", "oneTBB"},
    known_runtime{"heddle", ""},
};

struct contender {
  std::string name;
  std::string program;
  std::vector<double> seconds;
  std::vector<double> build_seconds;  // of these, after quantisation
  unsigned workers = 0;
  double accuracy = 0;
  std::string policy;
  std::string hash;
  bool same_tree = true;
};

// `heddle sim` simulates what uses heddle and nothing else, and a second round would repeat the first.
bool simulated() { return std::getenv("HEDDLE_SIM_MACHINE") != nullptr; }

std::vector<std::string> rival_names() {
  std::vector<std::string> names;
  for (const known_runtime& one : known_runtimes) names.emplace_back(one.name);
  return names;
}

std::vector<std::string> chosen_runtimes(const std::string& rivals) {
  std::vector<std::string> wanted;
  std::istringstream list(rivals);
  std::vector<std::string> valid = rival_names();
  valid.emplace_back("all");
  for (std::string name; std::getline(list, name, ',');) {
    if (std::find(valid.begin(), valid.end(), name) == valid.end()) throw usage_error::unknown("--rivals", name, valid);
    wanted.push_back(name);
  }
  const bool all = std::find(wanted.begin(), wanted.end(), "all") != wanted.end();
  std::vector<std::string> chosen;
  if (simulated()) return {"heddle"};
  for (const std::string& name : rival_names()) {
    const bool always = name == "serial" || name == "heddle";
    if (all || always || std::find(wanted.begin(), wanted.end(), name) != wanted.end()) chosen.push_back(name);
  }
  return chosen;
}

// Where the programs are: beside the command, in the build tree's libexec, or installed.
std::vector<std::filesystem::path> program_folders() {
  const std::filesystem::path here = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  return {here, here / "libexec" / "heddle", here / ".." / "libexec" / "heddle"};
}

std::optional<std::string> find_program(const std::string& family, const std::string& runtime) {
  for (const std::filesystem::path& folder : program_folders()) {
    // heddle's is there twice: linked statically, to be measured, and over the shared library, to be simulated.
    const std::string form = simulated() && runtime == "heddle" ? "-shared" : "";
    const std::filesystem::path program = folder / ("heddle-" + family + "-" + runtime + form);
    if (::access(program.c_str(), X_OK) == 0) return program.lexically_normal().string();
  }
  return std::nullopt;
}

struct ended {
  int status;          // exit status, or 128 + signal
  std::string output;  // standard output and standard error
};

ended run_program(const std::vector<std::string>& words) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  std::optional<child_process> child;
  try {
    child.emplace(words[0], [&] {
      ::dup2(ends[1], STDOUT_FILENO);
      ::dup2(ends[1], STDERR_FILENO);
      ::execv(argv[0], argv.data());
    });
  } catch (...) {
    ::close(ends[0]);
    ::close(ends[1]);
    throw;
  }
  ::close(ends[1]);
  ended result{};
  std::array<char, 4096> block;
  ssize_t got = 0;
  while ((got = ::read(ends[0], block.data(), block.size())) > 0 || (got < 0 && errno == EINTR)) {
    if (got > 0) result.output.append(block.data(), static_cast<std::size_t>(got));
  }
  ::close(ends[0]);
  result.status = exit_status(child->wait());
  return result;
}

// The rows, as a file without a name: children inherit the descriptor, and nothing is left behind however this ends.
class shared_rows {
 public:
  shared_rows() : descriptor_(::memfd_create("heddle-demo", 0)) {
    if (descriptor_ < 0) throw std::system_error(errno, std::generic_category(), "memory for the rows");
  }
  ~shared_rows() { ::close(descriptor_); }
  shared_rows(const shared_rows&) = delete;
  shared_rows& operator=(const shared_rows&) = delete;

  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

std::string last_line(const std::string& text) {
  const std::size_t end = text.find_last_not_of('\n');
  if (end == std::string::npos) return {};
  const std::size_t begin = text.find_last_of('\n', end);
  return text.substr(begin == std::string::npos ? 0 : begin + 1,
                     end - (begin == std::string::npos ? 0 : begin + 1) + 1);
}

void prepare(const arguments& given, const std::string& program, const shared_rows& rows) {
  std::vector<std::string> words{program, "--prepare", rows.path()};
  if (given.data.empty()) {
    words.insert(words.end(), {"--rows", std::to_string(given.rows), "--seed", std::to_string(given.seed)});
  } else {
    words.insert(words.end(), {"--data", given.data});
    if (!given.test.empty()) words.insert(words.end(), {"--test", given.test});
  }
  const ended made = run_program(words);
  if (made.status != 0)
    throw std::runtime_error(made.output.empty() ? fmt::format("{} ended with status {}", program, made.status)
                                                 : last_line(made.output));
}

// What one training said of the rows and the tree.
struct trained_on {
  std::uint64_t rows = 0;
  std::uint64_t features = 0;
  std::uint64_t nodes = 0;
  unsigned depth = 0;
  double majority = 0;
};

void train(contender& one, const arguments& given, unsigned workers, const shared_rows& rows, trained_on& about) {
  std::vector<std::string> words{one.program,
                                 "--binary",
                                 rows.path(),
                                 "--depth",
                                 std::to_string(given.depth),
                                 "--min-leaf",
                                 std::to_string(given.min_leaf),
                                 "--workers",
                                 std::to_string(workers),
                                 "--warmup",
                                 "1",
                                 "--repeat",
                                 "1"};
  if (one.name == "heddle" && !given.policy.empty()) words.insert(words.end(), {"--policy", given.policy});
  const ended made = run_program(words);
  if (made.status != 0)
    throw std::runtime_error(
        fmt::format("{} ended with status {}: {}", one.program, made.status, last_line(made.output)));
  const nlohmann::json line = nlohmann::json::parse(last_line(made.output), nullptr, false);
  if (line.is_discarded())
    throw std::runtime_error(fmt::format("{}: not understood: {}", one.program, last_line(made.output)));
  one.seconds.push_back(line.at("train_s"));
  one.build_seconds.push_back(line.at("build_s"));
  one.workers = line.at("workers");
  one.accuracy = line.at("accuracy");
  one.policy = line.at("policy");
  const std::string hash = line.at("hash");
  if (!one.hash.empty() && one.hash != hash) one.same_tree = false;  // not even with itself
  one.hash = hash;
  about = {line.at("rows"), line.at("features"), line.at("nodes"), line.at("depth"), line.at("majority")};
}

#if defined(__clang__)
constexpr const char* compiler = "clang " __clang_version__;
#else
constexpr const char* compiler = "gcc " __VERSION__;
#endif

std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.starts_with("model name")) return line.substr(std::min(line.size(), line.find(": ") + 2));
  }
  return "unknown";
}

void write_json(const arguments& given, const std::vector<contender>& all, const std::vector<nested_contender>& nested,
                const trained_on& about) {
  std::array<char, 32> date{};
  const std::time_t now = std::time(nullptr);
  std::strftime(date.data(), date.size(), "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
  nlohmann::json rows = nlohmann::json::array();
  for (const contender& one : all) {
    for (const auto& [metric, samples] : {std::pair{"train", &one.seconds}, std::pair{"build", &one.build_seconds}}) {
      rows.push_back({{"kernel", "decision_tree"},
                      {"runtime", one.name},
                      {"policy", one.policy},
                      {"workers", one.workers},
                      {"n", about.rows},
                      {"metric", metric},
                      {"unit", "s"},
                      {"median", median(*samples)},
                      {"min", *std::min_element(samples->begin(), samples->end())},
                      {"max", *std::max_element(samples->begin(), samples->end())},
                      {"samples", *samples},
                      {"checked", one.same_tree},
                      {"accuracy", one.accuracy}});
    }
  }
  for (const nested_contender& one : nested) {
    for (const auto& [metric, samples] :
         {std::pair{"solvers", &one.milliseconds}, std::pair{"solvers_open", &one.open}}) {
      if (samples->empty()) continue;
      rows.push_back({{"kernel", "nested"},
                      {"runtime", one.runtime},
                      {"workers", all.back().workers},
                      {"metric", metric},
                      {"unit", "ms"},
                      {"median", median(*samples)},
                      {"min", *std::min_element(samples->begin(), samples->end())},
                      {"max", *std::max_element(samples->begin(), samples->end())},
                      {"samples", *samples}});
    }
  }
  const nlohmann::json whole{{"machine", processor_name()}, {"compiler", compiler}, {"date", date.data()},
                             {"features", about.features},  {"depth", about.depth}, {"nodes", about.nodes},
                             {"majority", about.majority},  {"rows", rows}};
  base::replace_file(given.json, whole.dump(2) + "\n");
}

void print_table(const std::vector<contender>& all, const trained_on& about) {
  fmt::print("{} training rows of {} features; tree of depth {}, {} nodes; the more frequent class alone: {:.1f} %\n\n",
             about.rows, about.features, about.depth, about.nodes, 100 * about.majority);
  fmt::print("{:<9} {:>7} {:>12} {:>19} {:>9} {:>9}  {}\n", "runtime", "workers", "median time", "fastest - slowest",
             "speed-up", "accuracy", "same tree");
  const double serial = median(all.front().seconds);
  for (const contender& one : all) {
    const double time = median(one.seconds);
    const auto [least, most] = std::minmax_element(one.seconds.begin(), one.seconds.end());
    fmt::print("{:<9} {:>7} {:>9.1f} ms {:>19} {:>8.2f}x {:>7.1f} %  {}\n", one.name, one.workers, 1e3 * time,
               fmt::format("{:.1f} - {:.1f} ms", 1e3 * *least, 1e3 * *most), serial / time, 100 * one.accuracy,
               one.same_tree ? "yes" : "NO");
  }
}

// Below that a tenth of the rows, held out, tells no accuracy to the
// per cent, and a training is too short for the clock.
constexpr std::uint64_t fewest_rows = 10'000;

void print_verdict(const std::vector<contender>& all) {
  const contender& heddle = all.back();
  const contender* best = nullptr;
  for (const contender& one : all) {
    if (&one != &heddle && one.name != "serial" && (best == nullptr || median(one.seconds) < median(best->seconds)))
      best = &one;
  }
  const double own = median(heddle.seconds);
  fmt::print("\nheddle takes {:.2f} of the serial time", own / median(all.front().seconds));
  if (best != nullptr)
    fmt::print(" and {:.2f} of the time of the fastest rival, {}", own / median(best->seconds), best->name);
  fmt::print(".\n");
}

int run(const arguments& given) {
  if (!given.test.empty() && given.data.empty()) throw usage_error("--test needs --data");
  if (!given.policy.empty()) {
    try {
      (void)policy::make(given.policy);
    } catch (const std::invalid_argument& error) {
      throw usage_error(std::string("--policy: ") + error.what());
    }
  }
  std::vector<contender> all;
  std::vector<std::string> skipped;
  for (const std::string& name : chosen_runtimes(given.rivals)) {
    if (const std::optional<std::string> program = find_program("tree", name)) {
      all.push_back({.name = name, .program = *program, .seconds = {}, .build_seconds = {}, .policy = {}, .hash = {}});
    } else if (name == "serial" || name == "heddle") {
      throw std::runtime_error(fmt::format(
          "heddle-tree-{} is neither beside the command nor in ../libexec/heddle: build the target heddle_demo", name));
    } else {
      const auto known = std::find_if(known_runtimes.begin(), known_runtimes.end(),
                                      [&](const known_runtime& one) { return name == one.name; });
      skipped.push_back(fmt::format("{} (not built: needs {})", name, known->needs));
    }
  }

  const shared_rows rows;
  trained_on about;
  {
    progress bar("demo", 1 + all.size() * given.repeat);
    bar.advance(0, given.data.empty() ? "generating rows" : "reading " + given.data);
    prepare(given, all.back().program, rows);
    bar.advance(1);
    unsigned workers = given.workers;
    for (unsigned round = 0; round < (simulated() ? 1 : given.repeat); ++round) {
      for (std::size_t i = 0; i < all.size(); ++i) {
        // heddle begins: where no number of workers is given, all the others get what it takes. Each round begins with
        // another one after that, so that none always runs behind the same neighbour.
        contender& one = round == 0 ? all[(all.size() - 1 + i) % all.size()] : all[(round + i) % all.size()];
        bar.advance(0, one.name);
        train(one, given, workers, rows, about);
        if (one.name == "heddle") workers = one.workers;
        bar.advance(1);
      }
    }
  }

  bool agreed = true;
  for (contender& one : all) {
    one.same_tree = one.same_tree && one.hash == all.front().hash;
    agreed = agreed && one.same_tree;
  }
  print_table(all, about);
  if (about.rows < fewest_rows)
    fmt::print("\nwarning: {} training rows are too few: accuracy and times mean little below {}\n", about.rows,
               fewest_rows);
  for (const std::string& one : skipped) fmt::print("skipped: {}\n", one);
  if (all.size() > 1) print_verdict(all);
  std::vector<nested_contender> nested;
  for (const contender& one : all) {
    if (const std::optional<std::string> program = find_program("nested", one.name); program && !simulated())
      nested.push_back({one.name, *program, {}, {}});
  }
  if (nested.size() == all.size() && nested.size() > 1) {
    run_nested(nested, all.back().workers, given.repeat);
    fmt::print("\n{}", nested_table(nested, all.back().workers));
  }
  if (!given.json.empty()) write_json(given, all, nested, about);
  if (!agreed) throw std::runtime_error("not all runtimes made the same tree");
  return 0;
}

std::function<int()> add(CLI::App& app) {
  auto given = std::make_shared<arguments>();
  app.add_option("--data", given->data,
                 "Tab-separated rows: label 0 or 1, then the features; without it rows are generated");
  app.add_option("--test", given->test, "Held-out rows; without it the last tenth of the rows is held out");
  app.add_option("--rows", given->rows, "Rows to generate")->capture_default_str()->check(integer(10, 2'000'000'000));
  app.add_option("--seed", given->seed, "Seed of the generator")->capture_default_str()->check(integer(0, most_seed));
  app.add_option("--depth", given->depth, "Greatest depth of the tree")->capture_default_str()->check(integer(1, 64));
  app.add_option("--min-leaf", given->min_leaf, "Fewest rows in a leaf")
      ->capture_default_str()
      ->check(integer(1, 1u << 30));
  app.add_option("--workers", given->workers, "Workers of each runtime; 0: what heddle takes on this machine")
      ->capture_default_str()
      ->check(integer(0, most_workers));
  app.add_option("--repeat", given->repeat, "Rounds; each starts every runtime once")
      ->capture_default_str()
      ->check(integer(1, 1000));
  app.add_option("--rivals", given->rivals,
                 "Comma-separated: libgomp, libomp, tbb, or all; serial and heddle always run")
      ->capture_default_str();
  app.add_option("--policy", given->policy, "Scheduling policy of heddle");
  app.add_option("--json", given->json, "Also write the figures there")->check(output_file());
  return [given] { return run(*given); };
}

const registration entry{command{"demo", "train a decision tree on heddle and its rivals, and compare", add}};

}  // namespace
}  // namespace heddle::cli
