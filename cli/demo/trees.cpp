#include "cli/demo/trees.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <system_error>

#include "cli/command.hpp"
#include "process/beside.hpp"
#include "process/run.hpp"

namespace heddle::cli::demo {
namespace {

struct known_runtime {
  const char* name;
  const char* needs;  // the packages that it needs to be built
};

// serial and heddle always run: serial is the reference, and heddle is the subject.
constexpr std::array known_runtimes{
    known_runtime{"serial", ""},
    known_runtime{"libgomp", "g++ with OpenMP"},
    known_runtime{"libomp", "clang++ with libomp"},
    known_runtime{"tbb", "oneTBB"},
    known_runtime{"heddle", ""},
};

std::vector<std::string> rival_names() {
  std::vector<std::string> names;
  for (const known_runtime& one : known_runtimes) names.emplace_back(one.name);
  return names;
}

process::ended run_program(const std::vector<std::string>& words) {
  return process::run(words, {.output = process::stream::kept, .errors = process::stream::kept});
}

std::string last_line(const std::string& text) {
  const std::size_t end = text.find_last_not_of('\n');
  if (end == std::string::npos) return {};
  const std::size_t begin = text.find_last_of('\n', end);
  return text.substr(begin == std::string::npos ? 0 : begin + 1,
                     end - (begin == std::string::npos ? 0 : begin + 1) + 1);
}

}  // namespace

bool simulated() { return std::getenv("HEDDLE_SIM_MACHINE") != nullptr; }

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

std::string needs_of(const std::string& runtime) {
  const auto known = std::find_if(known_runtimes.begin(), known_runtimes.end(),
                                  [&](const known_runtime& one) { return runtime == one.name; });
  return known == known_runtimes.end() ? std::string() : known->needs;
}

std::optional<std::string> find_program(const std::string& family, const std::string& runtime) {
  // heddle's program exists twice: linked statically, to be measured, and over the shared library, to be simulated.
  const std::string form = simulated() && runtime == "heddle" ? "-shared" : "";
  return process::find_program(process::folders_beside(), "heddle-" + family + "-" + runtime + form);
}

shared_rows::shared_rows() : descriptor_(::memfd_create("heddle-demo", 0)) {
  if (descriptor_ < 0) throw std::system_error(errno, std::generic_category(), "memory for the rows");
}
shared_rows::~shared_rows() { ::close(descriptor_); }

void prepare(const request& given, const std::string& program, const shared_rows& rows) {
  std::vector<std::string> words{program, "--prepare", rows.path()};
  if (given.data.empty()) {
    words.insert(words.end(), {"--rows", std::to_string(given.rows), "--seed", std::to_string(given.seed)});
  } else {
    words.insert(words.end(), {"--data", given.data});
    if (!given.test.empty()) words.insert(words.end(), {"--test", given.test});
  }
  const process::ended made = run_program(words);
  if (made.status != 0)
    throw std::runtime_error(made.output.empty() ? fmt::format("{} ended with status {}", program, made.status)
                                                 : last_line(made.output));
}

void train(contender& one, const request& given, unsigned workers, const shared_rows& rows, trained_on& about) {
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
  const process::ended made = run_program(words);
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
  // it differs even from its own earlier result
  if (!one.hash.empty() && one.hash != hash) one.same_tree = false;
  one.hash = hash;
  about = {line.at("rows"), line.at("features"), line.at("nodes"), line.at("depth"), line.at("majority")};
}

}  // namespace heddle::cli::demo
