// `heddle bench` as a process, on scripts that stand for the benchmark programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "bench/driver/programs.hpp"

#ifndef HEDDLE_COMMAND
#define HEDDLE_COMMAND ""
#endif

namespace heddle::bench {
namespace command_test {
namespace {

using testing::HasSubstr;

class bench_command : public testing::Test {
 protected:
  void SetUp() override {
    if (access(HEDDLE_COMMAND, X_OK) != 0) GTEST_SKIP() << "the command is not built";
    std::string pattern = testing::TempDir() + "heddle_bench_XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    runtime("serial", "2.0", "00000000000000aa");
    runtime("heddle", "4.0", "00000000000000aa");
    runtime("tbb", "80.0", "00000000000000aa");
  }
  void TearDown() override {
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }

  void runtime(const std::string& name, const std::string& sample, const std::string& checksum, int status = 0) {
    const auto path = folder_ / ("heddle-bench-" + name);
    std::ofstream(path) << "#!/bin/sh\nif [ \"$1\" = --list ]; then\n"
                        << "echo '{\"runtime\": \"" << name << "\", \"compiler\": \"gcc\", \"flags\": \"-O3\"}'\n"
                        << "echo '{\"kernel\": \"fib\", \"n\": 35, \"most\": 0}'\n"
                        << "echo '{\"kernel\": \"heat2d\", \"n\": 2048, \"most\": 0}'\nexit 0\nfi\n"
                        << "echo \"$*\" >> " << (folder_ / "calls").string() << "\n"
                        << "echo '{\"metric\": \"ns_per_spawn\", \"unit\": \"ns\", \"samples\": [" << sample
                        << "], \"checksum\": \"" << checksum << "\"}'\nexit " << status << "\n";
    chmod(path.c_str(), 0755);
  }

  process::ended bench(const std::string& arguments) {
    return run_program(
        "/bin/sh", {"-c", "HEDDLE_BENCH_DIR=" + folder_.string() + " " HEDDLE_COMMAND " bench " + arguments + " 2>&1"},
        std::chrono::seconds(60));
  }

  std::string calls() {
    std::ifstream file(folder_ / "calls");
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::filesystem::path folder_;
};

TEST_F(bench_command, alone_lists_the_kernels) {
  const process::ended o = bench("");
  EXPECT_EQ(o.status, 0);
  EXPECT_THAT(o.output, HasSubstr("fib"));
  EXPECT_THAT(o.output, HasSubstr("heat2d"));
  EXPECT_THAT(o.output, HasSubstr("tbb(35)"));
  EXPECT_EQ(calls(), "");
}

TEST_F(bench_command, an_unknown_kernel_is_one_line_with_the_nearest) {
  const process::ended o = bench("fibb");
  EXPECT_EQ(o.status, 2);
  EXPECT_THAT(o.output, HasSubstr("fibb"));
  EXPECT_THAT(o.output, HasSubstr("fib"));
  EXPECT_EQ(std::count(o.output.begin(), o.output.end(), '\n'), 1);
}

TEST_F(bench_command, an_unknown_rival_is_one_line_with_the_nearest) {
  const process::ended o = bench("fib --rivals tbbb");
  EXPECT_EQ(o.status, 2);
  EXPECT_THAT(o.output, HasSubstr("--rivals"));
  EXPECT_EQ(std::count(o.output.begin(), o.output.end(), '\n'), 1);
}

TEST_F(bench_command, an_unknown_policy_is_one_line_with_the_nearest) {
  const process::ended o = bench("fib --policy random_w");
  EXPECT_EQ(o.status, 2);
  EXPECT_THAT(o.output, HasSubstr("random_ws"));
  EXPECT_EQ(std::count(o.output.begin(), o.output.end(), '\n'), 1);
  EXPECT_EQ(calls(), "");
  EXPECT_EQ(bench("fib --policy serial:nonsense=1").status, 2);
  EXPECT_EQ(bench("fib --policy random_ws,serial --repeat 1").status, 0);
}

// Measurements of preemption are another program's, and have rows of another form.
TEST_F(bench_command, measurements_of_preemption_go_to_their_program) {
  const auto path = folder_ / "heddle-preempt";
  std::ofstream(path) << "#!/bin/sh\necho \"$*\" >> " << (folder_ / "calls").string()
                      << "\necho '{\"measurement\": \"cost\", \"rows\": [{\"way\": \"klt_direct\", \"median_us\": "
                         "12.5}, {\"way\": \"signal_yield\", \"note\": \"none\"}]}'\n";
  chmod(path.c_str(), 0755);
  const auto json = folder_ / "out.json";
  const process::ended o =
      bench("preempt-cost packing --workers 3 --interval 100us --timer chain --repeat 7 --json " + json.string());
  EXPECT_EQ(o.status, 0) << o.output;
  EXPECT_THAT(o.output, testing::AllOf(HasSubstr("klt_direct"), HasSubstr("12.50"), HasSubstr("note")));
  EXPECT_EQ(calls(),
            "cost --workers 3 --json - --interval-us 100 --timer chain --repeats 7\n"
            "packing --workers 3 --json - --interval-us 100 --timer chain --repeats 7\n");
  const auto written = nlohmann::json::parse(std::ifstream(json));
  EXPECT_EQ(written.at("preemption").at("preempt-cost").at("rows").at(0).at("median_us"), 12.5);
  EXPECT_TRUE(written.at("rows").empty());
  EXPECT_TRUE(written.at("header").at("machine").contains("processor"));
  const process::ended shown = bench("--from " + json.string());
  EXPECT_EQ(shown.status, 0) << shown.output;
  EXPECT_THAT(shown.output, HasSubstr("klt_direct"));
  EXPECT_EQ(bench("preempt-cost fib --repeat 1").status, 0);  // both kinds in one run
  EXPECT_THAT(bench("").output, HasSubstr("preempt-timers"));
}

TEST_F(bench_command, a_bad_argument_of_preemption_is_told_before_the_run) {
  EXPECT_EQ(bench("preempt-cost --interval 1").status, 2);
  EXPECT_THAT(bench("preempt-cost --interval 1ns").output, HasSubstr("--interval: expected a time from"));
  EXPECT_THAT(bench("preempt-cost --timer hourly").output, HasSubstr("--timer: expected creation, aligned"));
  EXPECT_EQ(bench("preempt-cost --timer hybrid:0").status, 2);
  EXPECT_THAT(bench("preempt-kost").output, HasSubstr("preempt-cost"));
  EXPECT_EQ(calls(), "");
}

TEST_F(bench_command, a_bad_number_is_a_bad_argument) {
  EXPECT_EQ(bench("fib --repeat 0").status, 2);
  EXPECT_EQ(bench("fib --workers zero").status, 2);
  EXPECT_EQ(bench("fib --nonsense").status, 2);
  for (const char* arguments :
       {"heat2d --n -5", "heat2d --n 0", "heat2d --n 1000000001", "fib --iterations -1", "fib --iterations 0",
        "fib --samples -1", "fib --repeat -2", "fib --workers 0", "fib --workers 5000", "fib --workers 1,-1",
        "fib --shrink 0", "heat2d --columns 0", "heat2d --leaf 0", "heat2d --leaf -3"}) {
    const process::ended o = bench(arguments);
    EXPECT_EQ(o.status, 2) << arguments;
    EXPECT_THAT(o.output, HasSubstr("expected an integer from ")) << arguments;
    EXPECT_EQ(std::count(o.output.begin(), o.output.end(), '\n'), 1) << o.output;
  }
  for (const char* arguments : {"heat2d --input /nowhere/a.mtx", "heat2d --level high"}) {
    const process::ended o = bench(arguments);
    EXPECT_EQ(o.status, 2) << arguments;
    EXPECT_EQ(std::count(o.output.begin(), o.output.end(), '\n'), 1) << o.output;
  }
  EXPECT_EQ(calls(), "");
}

TEST_F(bench_command, a_file_that_cannot_be_written_is_told_before_the_run) {
  const process::ended o = bench("fib --json " + (folder_ / "absent" / "out.json").string());
  EXPECT_EQ(o.status, 2);
  EXPECT_THAT(o.output, HasSubstr("there is no folder"));
  EXPECT_EQ(calls(), "");
}

// A variant that the kernel lacks is a bad argument if the kernel is heddle's; a rival then has no row.
TEST_F(bench_command, an_argument_that_the_kernel_lacks_is_a_bad_argument) {
  const auto refusing = [&](const std::string& name) {
    std::ofstream(folder_ / ("heddle-bench-" + name))
        << "#!/bin/sh\n[ \"$1\" = --list ] && { echo '{\"runtime\": \"" << name
        << "\", \"compiler\": \"\", \"flags\": \"\"}'; echo '{\"kernel\": \"fib\", \"n\": 35, \"most\": 0}'; exit 0; "
           "}\n"
        << "echo '{\"refused\": \"--variant x: fib has no variants\"}'; exit 5\n";
  };
  refusing("tbb");
  const process::ended without = bench("fib --rivals tbb --workers 1 --repeat 1 --variant x");
  EXPECT_EQ(without.status, 0) << without.output;
  EXPECT_THAT(without.output, testing::Not(HasSubstr("tbb")));
  refusing("heddle");
  const process::ended o = bench("fib --workers 1 --repeat 1 --variant x");
  EXPECT_EQ(o.status, 2);
  EXPECT_EQ(o.output, "heddle bench: --variant x: fib has no variants\n");
}

TEST_F(bench_command, writes_rows_and_header) {
  const auto file = folder_ / "out.json";
  const process::ended o = bench("fib --rivals all --workers 1,2 --repeat 3 --json " + file.string());
  ASSERT_EQ(o.status, 0) << o.output;
  EXPECT_THAT(o.output, HasSubstr("ns_per_spawn"));
  const auto j = nlohmann::json::parse(std::ifstream(file));
  for (const char* field : {"machine", "runtimes", "date", "kernel"})
    EXPECT_TRUE(j.at("header").contains(field)) << field;
  EXPECT_EQ(j.at("header").at("runtimes").at("tbb").at("compiler"), "gcc");
  ASSERT_EQ(j.at("rows").size(), 5u);  // serial, heddle and tbb on 1 and 2
  for (const auto& r : j.at("rows")) {
    EXPECT_EQ(r.at("samples").size(), 3u);
    EXPECT_TRUE(r.at("checked"));
  }
}

TEST_F(bench_command, from_shows_files_without_running) {
  const auto file = folder_ / "out.json";
  ASSERT_EQ(bench("fib --rivals tbb --workers 1 --repeat 1 --json " + file.string()).status, 0);
  std::filesystem::remove(folder_ / "calls");
  const process::ended o = bench("--from " + file.string());
  EXPECT_EQ(o.status, 0);
  EXPECT_THAT(o.output, HasSubstr("80.00 tbb"));
  EXPECT_EQ(calls(), "");
  EXPECT_EQ(bench("--from " + (folder_ / "absent.json").string()).status, 1);
}

TEST_F(bench_command, a_wrong_result_is_status_1) {
  runtime("tbb", "80.0", "00000000000000bb");
  const process::ended o = bench("fib --rivals tbb --workers 1 --repeat 1");
  EXPECT_EQ(o.status, 1);
  EXPECT_THAT(o.output, HasSubstr("WRONG"));
  EXPECT_EQ(bench("fib --workers 1 --repeat 1").status, 0);
}

TEST_F(bench_command, a_program_that_fails_is_status_1_and_the_others_go_on) {
  runtime("tbb", "80.0", "00000000000000aa", 7);
  const process::ended o = bench("fib --rivals tbb --workers 1 --repeat 1");
  EXPECT_EQ(o.status, 1);
  EXPECT_THAT(o.output, HasSubstr("exit status 7"));
  EXPECT_THAT(o.output, HasSubstr("heddle"));
}

TEST_F(bench_command, output_that_is_no_protocol_is_status_1) {
  runtime("tbb", "80.0", "00000000000000aa\\");
  const process::ended o = bench("fib --rivals tbb --workers 1 --repeat 1");
  EXPECT_EQ(o.status, 1);
  EXPECT_THAT(o.output, HasSubstr("unreadable output"));
  EXPECT_THAT(o.output, HasSubstr("ns_per_spawn"));
}

}  // namespace
}  // namespace command_test
}  // namespace heddle::bench
