// `heddle paper run` from end to end.
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/paper/outcome.hpp"
#include "cli/paper/rows.hpp"
#include "support/shell.hpp"
#include "tests/cli/captured.hpp"

namespace heddle::cli::paper {
namespace paper_run_test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

process::ended run_command(const std::string& arguments) {
  return heddle_test::shell(HEDDLE_COMMAND " " + arguments + " 2>&1");
}

TEST(paper_run, table_4_2_here_and_in_the_simulator_and_once_more) {
  namespace fs = std::filesystem;
  const fs::path build = fs::path(HEDDLE_COMMAND).parent_path();
  if (!fs::exists(build / "sim") || !fs::exists(build / "libexec" / "heddle" / "heddle-bench-heddle-shared") ||
      !fs::exists(build / "libexec" / "heddle" / "heddle-bench-serial"))
    GTEST_SKIP() << "needs the simulator and the benchmarks";
  const scratch_folder folder("heddle-paper-test");
  const std::string what = "paper run adws-tab-4.2 --only 'n = 20' --real --real-workers 2 --into " + folder.file("f");
  const process::ended e = run_command(what);
  ASSERT_EQ(e.status, 0) << e.output;
  EXPECT_THAT(e.output, HasSubstr("measure"));
  const std::string file = folder.file("f/adws-tab-4.2.json");
  const std::vector<json> rows = read_rows(file);
  ASSERT_EQ(rows.size(), 1u) << e.output;
  const json& r = rows[0];
  SCOPED_TRACE(r.dump());
  for (const char* key : {"id", "measure", "paper", "simulated", "measured", "machine", "scale", "verdict", "reason",
                          "commit", "command"})
    EXPECT_TRUE(r.contains(key)) << key;
  EXPECT_EQ(r.at("id"), "adws-tab-4.2");
  EXPECT_GT(r.at("simulated"), 0);
  EXPECT_EQ(r.at("simulated_runs").size(), 5u);
  EXPECT_LE(r.at("simulated_low"), r.at("simulated"));
  EXPECT_GE(r.at("simulated_high"), r.at("simulated"));
  EXPECT_EQ(r.at("measured_runs").size(), 9u);
  EXPECT_EQ(r.at("checked"), true);
  EXPECT_NE(r.at("verdict"), "not run");
  EXPECT_EQ(r.at("command"), "heddle paper run adws-tab-4.2 --only 'n = 20' --real --real-workers 2");
  const process::ended page = run_command("paper report " + file);
  EXPECT_EQ(page.status, 0);
  EXPECT_THAT(page.output, HasSubstr("## adws-tab-4.2"));

  // Killed after some runs: what the notebook has is not run again, the rest is, and the figures are the same.
  const auto lines_of = [&] {
    std::ifstream stream(folder.file("f/runs.jsonl"));
    std::vector<std::string> lines;
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
  };
  const std::vector<std::string> all = lines_of();
  ASSERT_EQ(all.size(), 12u) << "five pairs, two policies; two measured here";
  std::ofstream(folder.file("f/runs.jsonl")) << all[0] << "\n" << all[1] << "\n" << all[2].substr(0, 40);
  ASSERT_EQ(run_command(what).status, 0);
  EXPECT_EQ(read_rows(file)[0].at("simulated_runs"), r.at("simulated_runs"));
  const std::vector<std::string> again = lines_of();
  ASSERT_EQ(again.size(), 12u);
  EXPECT_EQ(again[0], all[0]);
  EXPECT_EQ(again[1], all[1]);
  ASSERT_EQ(run_command(what).status, 0);
  EXPECT_EQ(lines_of(), again) << "nothing is left to run";

  // Several at once: the same figures of the simulator.
  const process::ended at_once =
      run_command("paper run adws-tab-4.2 --only 'n = 20' --jobs 4 --into " + folder.file("at-once"));
  ASSERT_EQ(at_once.status, 0) << at_once.output;
  EXPECT_EQ(read_rows(folder.file("at-once/adws-tab-4.2.json")).at(0).at("simulated_runs"), r.at("simulated_runs"));
}

}  // namespace
}  // namespace paper_run_test
}  // namespace heddle::cli::paper
