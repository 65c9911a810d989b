#include "cli/demo/nested.hpp"

#include <fmt/format.h>

#include <chrono>
#include <map>
#include <stdexcept>

#include "bench/driver/programs.hpp"
#include "cli/median.hpp"

namespace heddle::cli::demo {

void run_nested(std::vector<nested_contender>& all, unsigned workers, unsigned repeat) {
  std::map<std::string, std::string> results;  // by metric: the checksum of the program that ran first
  for (unsigned round = 0; round < repeat; ++round) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      // so that none always runs behind the same neighbour
      nested_contender& one = all[(round + i) % all.size()];
      const process::ended done = bench::run_program(
          one.program,
          {"--kernel", "nested", "--n", "3", "--workers", std::to_string(workers), "--samples", "1", "--warmup", "1"},
          std::chrono::seconds(120));
      if (done.status != 0 || done.late)
        throw std::runtime_error(
            fmt::format("{} {}", one.program,
                        done.late ? "took longer than two minutes" : fmt::format("ended with status {}", done.status)));
      for (const bench::metric_line& line : bench::parse_metrics(done.output)) {
        if (results.try_emplace(line.metric, line.checksum).first->second != line.checksum)
          throw std::runtime_error(one.program + ": another result than the others'");
        std::vector<double>& into = line.metric == "solvers" ? one.milliseconds : one.open;
        into.insert(into.end(), line.samples.begin(), line.samples.end());
      }
      if (one.runtime == "serial") one.open.clear();  // it would be the same program once more
    }
  }
}

std::string nested_table(const std::vector<nested_contender>& all, unsigned workers) {
  std::string table = fmt::format(
      "Parallel code that calls parallel code: 3 solvers at once on {} workers, each of\n1,000 short parallel "
      "loops\n\n{:<30} {:>12} {:>9}\n",
      workers, "runtime", "median time", "speed-up");
  const double serial = median(all.front().milliseconds);
  const auto line = [&](const std::string& name, const std::vector<double>& samples) {
    if (!samples.empty())
      table += fmt::format("{:<30} {:>9.1f} ms {:>8.2f}x\n", name, median(samples), serial / median(samples));
  };
  for (const nested_contender& one : all) {
    line(one.runtime, one.milliseconds);
    line(one.runtime + ", nested regions on", one.open);
  }
  return table;
}

}  // namespace heddle::cli::demo
