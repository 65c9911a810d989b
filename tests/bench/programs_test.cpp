#include "bench/driver/programs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

namespace heddle::bench {
namespace programs_test {
namespace {

// A folder with shell scripts that stand for the benchmark programs.
class program_folder : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "heddle_bench_XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string script(const std::string& name, const std::string& text) {
    const auto path = folder_ / name;
    std::ofstream(path) << "#!/bin/sh\n" << text;
    chmod(path.c_str(), 0755);
    return path.string();
  }

  std::filesystem::path folder_;
};

TEST_F(program_folder, output_and_status_come_back) {
  const auto path = script("p", "echo one \"$1\"; echo two; exit 3\n");
  const process::ended o = run_program(path, {"argument"}, std::chrono::seconds(60));
  EXPECT_EQ(o.output, "one argument\ntwo\n");
  EXPECT_EQ(o.status, 3);
  EXPECT_FALSE(o.late);
}

TEST_F(program_folder, found_are_those_that_answer) {
  script("heddle-bench-good",
         "echo '{\"runtime\": \"good\", \"compiler\": \"gcc 12\", \"flags\": \"-O3\"}'\n"
         "echo '{\"kernel\": \"fib\", \"n\": 35, \"most\": 40}'\n");
  script("heddle-bench-broken", "exit 1\n");
  script("heddle-bench-garbage", "echo hello\n");
  script("other", "echo '{\"runtime\": \"other\", \"compiler\": \"\", \"flags\": \"\"}'\n");
  const auto found = find_programs({folder_ / "absent", folder_});
  ASSERT_EQ(found.size(), 1u);
  const program& p = found.at("good");
  EXPECT_EQ(p.compiler, "gcc 12");
  EXPECT_EQ(p.kernels.at("fib").n, 35u);
  EXPECT_EQ(p.kernels.at("fib").most, 40u);
}

TEST(kernel_size, is_the_default_what_is_asked_or_the_most) {
  EXPECT_EQ((kernel_size{20, 22}).chosen(0), 20u);
  EXPECT_EQ((kernel_size{20, 22}).chosen(21), 21u);
  EXPECT_EQ((kernel_size{20, 22}).chosen(35), 22u);
  EXPECT_EQ((kernel_size{35, 0}).chosen(45), 45u);
}

TEST(parse_metrics, reads_the_lines_of_the_protocol) {
  const auto metrics = parse_metrics(
      "{\"metric\": \"hot\", \"unit\": \"us\", \"samples\": [0.5, 1], \"checksum\": "
      "\"0000000000000002\"}\n"
      "{\"metric\": \"idle20\", \"unit\": \"\", \"samples\": [], \"checksum\": \"02\"}\n");
  ASSERT_EQ(metrics.size(), 2u);
  EXPECT_EQ(metrics[0].metric, "hot");
  EXPECT_THAT(metrics[0].samples, testing::ElementsAre(0.5, 1));
  EXPECT_EQ(metrics[0].checksum, "0000000000000002");
  EXPECT_TRUE(metrics[1].samples.empty());
}

TEST(parse_metrics, throws_on_anything_else) {
  EXPECT_THROW(parse_metrics("Segmentation fault\n"), nlohmann::json::exception);
  EXPECT_THROW(parse_metrics("{\"metric\": \"hot\"}\n"), nlohmann::json::exception);
}

}  // namespace
}  // namespace programs_test
}  // namespace heddle::bench
