// `heddle reuse` on a program that tells its accesses.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "support/shell.hpp"
#include "support/simulated.hpp"

namespace reuse_test {
namespace {

namespace fs = std::filesystem;
using heddle::process::ended;
using nlohmann::json;

std::string program(const std::string& name) {
  return (fs::path(HEDDLE_COMMAND).parent_path() / "tests" / "sim_programs" / name).string();
}

ended reuse(const std::string& arguments, const char* streams = "") {
  return heddle_test::shell(HEDDLE_COMMAND " reuse " + arguments + streams);
}

// Ten sweeps over 512 rows of 8 KiB, each row read and then written. Rows begin anywhere in a line.
TEST(reuse_of_a_program, sweeps_miss_unless_all_of_it_fits) {
  SKIP_WITHOUT_SIMULATOR(program("loop"));
  const ended e = reuse("--json --machine nehalem-e5530 --iterations 5120 -- " + program("loop"));
  ASSERT_EQ(e.status, 0) << e.output;
  const json rows = json::parse(e.output);
  ASSERT_EQ(rows.size(), 1u);
  const json& r = rows[0];
  EXPECT_EQ(r["program"], "loop");
  EXPECT_EQ(r["cache_bytes"], 8u << 20);
  EXPECT_EQ(r["cores"], 4);
  EXPECT_EQ(r["iterations"], 5120);
  const std::uint64_t lines = r["lines"], accesses = r["accesses"];
  EXPECT_GE(lines, 512u * 128);
  EXPECT_LE(lines, 512u * 128 + 1);
  EXPECT_GE(accesses, 10u * 512 * 128 * 2);
  EXPECT_LE(accesses, 10u * 512 * 129 * 2);
  for (const json& c : r["capacities"]) {
    const std::uint64_t bytes = c["bytes"], misses = c["misses"];
    const bool is_swept = bytes >= 16384 && bytes <= 4u << 20;  // a row stays until it is written, not until it is read
    if (is_swept || bytes >= 8u << 20) {
      EXPECT_EQ(misses, is_swept ? 10 * lines : lines) << bytes;
    }
  }
  EXPECT_EQ(r["window"]["misses_alone"], lines);
  EXPECT_GT(r["window"]["misses_apart"], 9 * lines);
}

TEST(reuse_of_a_program, a_sample_is_near_to_all) {
  SKIP_WITHOUT_SIMULATOR(program("loop"));
  const ended e = reuse("--json --rate 0.05 --machine nehalem-e5530 -- " + program("loop"));
  ASSERT_EQ(e.status, 0) << e.output;
  const json r = json::parse(e.output)[0];
  EXPECT_NEAR(r["lines"].get<double>(), 512 * 128, 0.05 * 512 * 128);
  EXPECT_NEAR(r["window"]["misses_apart"].get<double>(), 10 * 512 * 128, 0.05 * 10 * 512 * 128);
}

TEST(reuse_of_a_program, one_that_tells_nothing_is_refused) {
  SKIP_WITHOUT_SIMULATOR(program("loop"));
  const ended e = reuse("-- " + program("fib") + " 10", " 2>&1");
  EXPECT_EQ(e.status, 2) << e.output;
  EXPECT_NE(e.output.find("told no accesses"), std::string::npos) << e.output;
  EXPECT_NE(e.output.find("heddle/cost.hpp"), std::string::npos) << e.output;
}

}  // namespace
}  // namespace reuse_test
