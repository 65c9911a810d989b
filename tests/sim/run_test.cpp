// `heddle sim` on programs: results, determinism, golden virtual times, refusals.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "support/shell.hpp"
#include "support/simulated.hpp"

namespace run_test {
namespace {

namespace fs = std::filesystem;
using heddle::process::ended;
using nlohmann::json;

ended run(const std::string& arguments) { return heddle_test::shell(HEDDLE_COMMAND " sim " + arguments + " 2>&1"); }

std::string program(const std::string& name) {
  return (fs::path(HEDDLE_COMMAND).parent_path() / "tests" / "sim_programs" / name).string();
}

std::string read(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(stream), {});
}

class sim_test : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "heddle-sim-test-XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string file(const std::string& name) const { return (folder_ / name).string(); }

  json figures(const std::string& arguments) {
    const ended e = run("--json " + file("figures.json") + " " + arguments);
    EXPECT_EQ(e.status, 0) << e.output;
    return e.status == 0 ? json::parse(read(file("figures.json"))) : json::array({json::object()});
  }

 private:
  fs::path folder_;
};

// The command is built with the rest, or not at all.
TEST_F(sim_test, a_program_computes_what_it_computes) {
  SKIP_WITHOUT_SIMULATOR(program("fib"));
  const ended e = run("--machine skylake-4x16 --workers 64 -- " + program("fib") + " 18");
  EXPECT_EQ(e.status, 0);
  EXPECT_NE(e.output.find("2584\n"), std::string::npos) << e.output;
  EXPECT_NE(e.output.find("speed-up"), std::string::npos) << e.output;
}

TEST_F(sim_test, the_rows_hold_every_field) {
  SKIP_WITHOUT_SIMULATOR(program("fib"));
  const json rows = figures("--machine skylake-4x16 --workers 64 --seed 7 -- " + program("loop"));
  ASSERT_EQ(rows.size(), 1u);
  for (const char* key :
       {"program", "machine", "policy", "workers", "seed", "virtual_seconds", "serial_virtual_seconds", "speedup",
        "levels", "nodes", "steals", "failed_steals", "migrations", "busy", "idle", "overhead", "real_seconds"}) {
    EXPECT_TRUE(rows[0].contains(key)) << key;
  }
  EXPECT_EQ(rows[0]["program"], "loop");
  EXPECT_EQ(rows[0]["machine"], "skylake-4x16");
  EXPECT_EQ(rows[0]["policy"], "random_ws");
  EXPECT_EQ(rows[0]["workers"], 64);
  EXPECT_EQ(rows[0]["seed"], 7);
  EXPECT_NEAR(rows[0]["busy"].get<double>() + rows[0]["idle"].get<double>() + rows[0]["overhead"].get<double>(), 1,
              1e-3);
  EXPECT_NEAR(rows[0]["speedup"].get<double>(),
              rows[0]["serial_virtual_seconds"].get<double>() / rows[0]["virtual_seconds"].get<double>(), 1e-6);
  EXPECT_EQ(rows[0]["levels"].size(), 3u);
  EXPECT_EQ(rows[0]["nodes"].size(), 4u);
  // Each sweep reads and writes 512 rows of 128 lines.
  EXPECT_GE(rows[0]["levels"][0]["accesses"].get<std::uint64_t>(), 10u * 512 * 128 * 2);
  EXPECT_LE(rows[0]["levels"][0]["accesses"].get<std::uint64_t>(), 10u * 512 * 130 * 2);
}

TEST_F(sim_test, the_same_seed_gives_the_same_trace_byte_for_byte) {
  SKIP_WITHOUT_SIMULATOR(program("fib"));
  for (const char* name : {"fib", "loop"}) {
    for (const std::string run_name : {"a", "b"}) {
      figures("--machine skylake-4x16 --workers 64 --no-serial --trace " + file(run_name + ".heddle") + " -- " +
              program(name));
    }
    figures("--machine skylake-4x16 --workers 64 --no-serial --seed 43 --trace " + file("c.heddle") + " -- " +
            program(name));
    const std::string first = read(file("a.heddle"));
    EXPECT_GT(first.size(), 10'000u);
    EXPECT_TRUE(first == read(file("b.heddle"))) << name;
    EXPECT_FALSE(first == read(file("c.heddle"))) << name << ": another seed, other victims";
  }
}

// HEDDLE_SEED=0 takes a seed from the system elsewhere.
// Nor do addresses depend on the sizes of what the simulator allocates, nor on the system's stack.
TEST_F(sim_test, names_and_the_environment_change_nothing) {
  SKIP_WITHOUT_SIMULATOR(program("loop"));
  const std::string renamed = file("a_program_whose_name_is_much_longer_than_that_of_the_other_one");
  fs::copy_file(program("loop"), renamed);
  const auto seconds = [&](const std::string& variables, const std::string& program) {
    const ended e =
        heddle_test::shell(variables + " " HEDDLE_COMMAND " sim --no-serial --machine skylake-4x16 --seed 3 --json " +
                           file("figures.json") + " -- " + program + " 2>&1");
    EXPECT_EQ(e.status, 0) << e.output;
    return e.status == 0 ? json::parse(read(file("figures.json")))[0]["virtual_seconds"].get<double>() : 0;
  };
  for (const char* policy : {"random_ws", "ml-adaptive"}) {
    const std::string chosen = std::string("HEDDLE_POLICY=") + policy;
    const double usual = seconds(chosen, program("loop"));
    EXPECT_EQ(seconds(chosen, renamed), usual);
    EXPECT_EQ(seconds(chosen + " ANY=" + std::string(3000, 'x'), program("loop")), usual);
    EXPECT_EQ(seconds(chosen + " MALLOC_TOP_PAD_=100000", program("loop")), usual);
  }
}

TEST_F(sim_test, seed_0_is_a_seed_like_others) {
  SKIP_WITHOUT_SIMULATOR(program("fib"));
  for (const std::string run_name : {"a", "b"}) {
    figures("--machine skylake-4x16 --workers 64 --no-serial --seed 0 --trace " + file(run_name + ".heddle") + " -- " +
            program("fib"));
  }
  EXPECT_TRUE(read(file("a.heddle")) == read(file("b.heddle")));
}

// Parts of loops are stolen from lanes, everything else from queues.
TEST_F(sim_test, a_trace_has_all_steals_that_were_counted) {
  SKIP_WITHOUT_SIMULATOR(program("fib"));
  const json row =
      figures("--machine skylake-4x16 --workers 16 --no-serial --trace " + file("t.heddle") + " -- " + program("loop"))
          .at(0);
  const ended report = heddle_test::shell(HEDDLE_COMMAND " report --json " + file("t.heddle"));
  const auto traced = json::parse(report.output).at("traces").at(0).at("total").at("steals").get<std::uint64_t>();
  EXPECT_GT(traced, 0u);
  EXPECT_EQ(row.at("steals").get<std::uint64_t>(), traced);
}

// A policy in a shared object, which needs neither libheddle nor the simulator when it is compiled.
TEST_F(sim_test, a_plugin_schedules_simulated_programs) {
  SKIP_WITHOUT_SIMULATOR(program("fib"));
  setenv("HEDDLE_POLICY_PLUGIN", HEDDLE_PLUGINS "/loyal_policy.so", 1);
  const json rows = figures(
      "--machine skylake-4x16 --workers 64 --no-serial --seeds 1 --compare random_ws,loyal,loyal:patience=50 -- " +
      program("fib") + " 18");
  unsetenv("HEDDLE_POLICY_PLUGIN");
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[1]["policy"], "loyal");
  EXPECT_GT(rows[1]["steals"].get<int>(), 0);
  EXPECT_NE(rows[1]["virtual_seconds"], rows[0]["virtual_seconds"]) << "it chooses other victims";
  EXPECT_NE(rows[1]["virtual_seconds"], rows[2]["virtual_seconds"]);
}

// Serial virtual times are sums of what the programs tell: they change with a machine file or the cache model, and with
// nothing else.
TEST_F(sim_test, golden_serial_times) {
  SKIP_WITHOUT_SIMULATOR(program("fib"));
  const json fib = figures("--machine skylake-4x16 --policy serial --workers 1 -- " + program("fib") + " 20");
  // 10946 leaves of 20 cycles and 10945 joins of 10 at the machine's frequency, and no scheduler.
  const double cycles = 10946.0 * 20 + 10945.0 * 10;
  const double frequency = cycles / fib[0]["serial_virtual_seconds"].get<double>() / 1e9;
  EXPECT_GT(frequency, 1.0);
  EXPECT_LT(frequency, 5.0);
  const json again = figures("--machine skylake-4x16 --policy serial --workers 1 -- " + program("fib") + " 20");
  EXPECT_EQ(fib[0]["virtual_seconds"], again[0]["virtual_seconds"]);
}

TEST_F(sim_test, golden_parallel_times) {
  SKIP_WITHOUT_SIMULATOR(program("fib"));
  std::ifstream golden(std::string(HEDDLE_SOURCE_DIR) + "/tests/sim/golden.json");
  const json expected = json::parse(golden);
  for (const json& one : expected) {
    const json rows =
        figures("--machine " + one.at("machine").get<std::string>() + " --policy " +
                one.at("policy").get<std::string>() + " --workers " +
                std::to_string(one.at("workers").get<unsigned>()) + " --no-serial -- " + program(one.at("program")));
    EXPECT_EQ(rows[0].value("virtual_seconds", 0.0), one.at("virtual_seconds").get<double>())
        << one.dump()
        << "\nA change of a policy, the run loop, the cache model or the machine file moves it: scripts/sim-golden.sh "
           "writes the new ones.";
  }
}

TEST_F(sim_test, tells_what_a_ratio_owes_to_assumed_figures) {
  SKIP_WITHOUT_SIMULATOR(program("fib"));
  const std::string machine = file("m.toml");
  std::ofstream(machine)
      << "tree = \"synthetic:l2:4(size=1MiB) core:1 pu:1\"\nfrequency = 2\noverlap = 10\nwindow = 50\n"
         "time_slice = 1e6\n[cache.l2]\nlatency = 5\ntransfer = 60\nupgrade = 60\n[memory]\n"
         "latency = 90\nbandwidth = 80\ntransfer = 80\nupgrade = 80\n[costs]\n"
         "fork = 2\njoin = 2\nspawn = 40\nthread_switch = 10\nsteal_per_level = 100\n"
         "failed_steal = 20\nwake = 1500\nwake_latency = 5000\nsleep = 1500\nheavy_fence = 1000\n"
         "signal = 2000\nsignal_lock = 1000\nsignal_send = 300\nkernel_switch = 1500\nclock = 25\n"
         "steal = 200\n[origin]\ncosts.steal = \"assumed 0 to 100000: for this test\"\n";
  const ended e = run("--machine " + machine + " --workers 4 --compare random_ws,serial --sensitivity -- " +
                      program("fib") + " 16");
  EXPECT_EQ(e.status, 0) << e.output;
  EXPECT_NE(e.output.find("time of random_ws over serial: "), std::string::npos) << e.output;
  const std::size_t line = e.output.find("costs.steal ");
  ASSERT_NE(line, std::string::npos) << e.output;
  double least = -1, at_least = -1, most = -1, at_most = -1;
  ASSERT_EQ(std::sscanf(e.output.c_str() + line, "costs.steal %lf %lf %lf %lf", &least, &at_least, &most, &at_most), 4)
      << e.output;
  EXPECT_EQ(least, 0);
  EXPECT_EQ(most, 100'000);
  EXPECT_LT(at_least, at_most) << "steals of 100 us make random_ws slower";
  EXPECT_NE(e.output.find("not varied"), std::string::npos) << e.output;
  EXPECT_EQ(run("--machine " + machine + " --sensitivity -- " + program("fib")).status, 2) << "no ratio is asked for";
}

TEST_F(sim_test, more_workers_are_faster_and_less_than_proportionally) {
  SKIP_WITHOUT_SIMULATOR(program("fib"));
  double before = 1e9, serial = 0;
  for (const unsigned n : {1u, 4u, 16u}) {
    const json rows =
        figures("--machine skylake-4x16 --workers " + std::to_string(n) + " -- " + program("fib") + " 22");
    const double time = rows[0]["virtual_seconds"];
    serial = rows[0]["serial_virtual_seconds"];
    EXPECT_LT(time, before) << n;
    EXPECT_GE(time * n, serial) << n << ": compute alone cannot be faster than work over workers";
    before = time;
  }
}

// Fifteen iterations that hold the work stand next to each other at the end: no chunk whose length was chosen before
// may keep them together. Of two workers one has eight of them, so 15 / 8 is the most.
TEST_F(sim_test, dear_iterations_at_the_end_of_a_loop_are_shared) {
  SKIP_WITHOUT_SIMULATOR(program("fib"));
  for (const auto& [workers, least] : {std::pair(2u, 1.6), std::pair(4u, 2.6), std::pair(8u, 4.0)}) {
    const json rows =
        figures("--machine skylake-4x16 --workers " + std::to_string(workers) + " -- " + program("spike"));
    EXPECT_GE(rows[0].value("speedup", 0.0), least) << workers;
  }
}

TEST_F(sim_test, fast_mode_costs_the_same) {
  SKIP_WITHOUT_SIMULATOR(program("fib"));
  const std::string what = "--machine skylake-4x16 --workers 16 --no-serial -- " + program("loop");
  const json whole = figures(what);
  const json fast = figures("--fast " + what);
  EXPECT_EQ(whole[0]["virtual_seconds"], fast[0]["virtual_seconds"]);
}

TEST_F(sim_test, told_cycles_can_be_fitted_to_another_processor) {
  SKIP_WITHOUT_SIMULATOR(program("fib"));
  const std::string what = "--machine skylake-4x16 --workers 4 --no-serial -- " + program("fib") + " 15";
  const double told = figures(what)[0]["program_seconds"];
  ASSERT_GT(told, 0);
  EXPECT_NEAR(figures("--cycles 2.5 " + what)[0]["program_seconds"].get<double>() / told, 2.5, 0.01);
  const ended nothing = run("--cycles 0 " + what);
  EXPECT_EQ(nothing.status, 2);
  EXPECT_NE(nothing.output.find("--cycles: expected a number from 0.001 to 1000, not '0'"), std::string::npos)
      << nothing.output;
}

TEST_F(sim_test, clocks_and_sleeps_are_virtual) {
  SKIP_WITHOUT_SIMULATOR(program("fib"));
  const ended e = run("--machine skylake-4x16 --workers 2 --no-serial -- " + program("sleeper"));
  EXPECT_EQ(e.status, 0);
  EXPECT_NE(e.output.find("3600 3600\n"), std::string::npos) << e.output;
}

TEST_F(sim_test, mutexes_of_the_standard_library_exclude_workers_from_each_other) {
  SKIP_WITHOUT_SIMULATOR(program("fib"));
  const ended e = run("--machine skylake-4x16 --workers 8 -- " + program("std_mutex"));
  EXPECT_EQ(e.status, 0) << e.output;
  EXPECT_NE(e.output.find("19900\n"), std::string::npos) << e.output;
}

TEST_F(sim_test, a_comparison_has_five_pairs_of_runs) {
  SKIP_WITHOUT_SIMULATOR(program("fib"));
  const json rows = figures("--machine skylake-4x16 --workers 8 --compare random_ws,random_ws:spawn=parent -- " +
                            program("fib") + " 15");
  ASSERT_EQ(rows.size(), 10u);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i]["policy"], i % 2 == 0 ? "random_ws" : "random_ws:spawn=parent");
    EXPECT_EQ(rows[i]["seed"], 42 + i / 2);
    EXPECT_EQ(rows[i]["padding"] == 0, i < 2) << "the first runs are as without --compare";
    EXPECT_GT(rows[i]["speedup"], 0);
  }
  EXPECT_NE(rows[0]["virtual_seconds"], rows[2]["virtual_seconds"]);
  EXPECT_EQ(
      figures("--machine skylake-4x16 --workers 8 --seeds 2 --compare random_ws,adws -- " + program("fib") + " 15")
          .size(),
      4u);
  EXPECT_EQ(figures("--machine skylake-4x16 --workers 8 --seeds 3 -- " + program("fib") + " 15").size(), 3u);
}

TEST_F(sim_test, a_comparison_says_what_it_decides) {
  SKIP_WITHOUT_SIMULATOR(program("fib"));
  const ended e =
      run("--machine skylake-4x16 --workers 8 --no-serial --compare random_ws,serial -- " + program("fib") + " 18");
  EXPECT_EQ(e.status, 0);
  EXPECT_NE(e.output.find("5 pairs of runs"), std::string::npos) << e.output;
  EXPECT_NE(e.output.find("slower\n"), std::string::npos) << e.output;
  const ended few = run("--machine skylake-4x16 --workers 8 --no-serial --seeds 3 --compare random_ws,serial -- " +
                        program("fib") + " 15");
  EXPECT_NE(few.output.find("undecided\n"), std::string::npos) << few.output;
  EXPECT_NE(few.output.find("at least 5 tell an interval"), std::string::npos) << few.output;
}

TEST_F(sim_test, a_table_without_caches_says_so_first) {
  SKIP_WITHOUT_SIMULATOR(program("fib"));
  const ended measured = run("--machine skylake-4x16 --workers 4 --charge measured --no-serial -- " + program("loop"));
  EXPECT_EQ(measured.output.find("misses"), std::string::npos) << measured.output;
  EXPECT_LT(measured.output.find("No caches were modelled: the program was charged"), measured.output.find("policy"));
  const ended arithmetic = run("--machine skylake-4x16 --workers 4 --no-serial -- " + program("fib") + " 10");
  EXPECT_EQ(arithmetic.output.find("misses"), std::string::npos) << arithmetic.output;
  EXPECT_NE(arithmetic.output.find("the program told no access to memory"), std::string::npos) << arithmetic.output;
  const ended told = run("--machine skylake-4x16 --workers 4 --no-serial -- " + program("loop"));
  EXPECT_EQ(told.output.find("No caches"), std::string::npos) << told.output;
  EXPECT_NE(told.output.find("l3 misses"), std::string::npos) << told.output;
}

TEST_F(sim_test, unannotated_programs_are_measured) {
  SKIP_WITHOUT_SIMULATOR(program("fib"));
  const json rows = figures("--machine skylake-4x16 --workers 4 --charge measured --no-serial -- " + program("loop"));
  EXPECT_EQ(rows[0]["charged"], "measured");
  EXPECT_GT(rows[0]["virtual_seconds"].get<double>(), 1e-4);
  EXPECT_EQ(rows[0]["levels"][0]["accesses"], 0) << "what is told does not count then";
}

TEST_F(sim_test, deadlocks_are_reported_with_the_threads_stacks) {
  SKIP_WITHOUT_SIMULATOR(program("fib"));
  const ended e = run("--machine skylake-4x16 --workers 2 --no-serial -- " + program("deadlock"));
  EXPECT_EQ(e.status, 1);
  EXPECT_NE(e.output.find("deadlock at"), std::string::npos) << e.output;
  EXPECT_NE(e.output.find("waits for: mutex"), std::string::npos) << e.output;
}

TEST_F(sim_test, a_parked_threads_stack_is_unwound_and_its_names_are_readable) {
  SKIP_WITHOUT_SIMULATOR(program("fib"));
  const ended e = run("--machine skylake-4x16 --workers 2 --no-serial -- " + program("deadlock"));
  EXPECT_NE(e.output.find("heddle::mutex::lock_slow"), std::string::npos) << e.output;
  EXPECT_EQ(e.output.find("_ZN"), std::string::npos) << e.output;
  EXPECT_NE(e.output.find("ended with status 3 (deadlock)"), std::string::npos) << e.output;
}

TEST_F(sim_test, a_programs_own_status_is_no_deadlock) {
  SKIP_WITHOUT_SIMULATOR(program("fib"));
  const ended e = run("--machine skylake-4x16 --workers 2 --no-serial -- " + program("status"));
  EXPECT_EQ(e.status, 1);
  EXPECT_NE(e.output.find("ended with status 3\n"), std::string::npos) << e.output;
}

TEST_F(sim_test, waiting_loops_end_by_pause_and_by_yield) {
  SKIP_WITHOUT_SIMULATOR(program("fib"));
  for (const std::string how : {"pause", "yield"}) {
    for (const std::string charge : {"auto", "annotations", "measured"}) {
      const ended e = run("--machine skylake-4x16 --workers 2 --no-serial --charge " + charge + " -- " +
                          program("meeting") + " " + how);
      EXPECT_EQ(e.status, 0) << e.output;
      EXPECT_NE(e.output.find("met\n"), std::string::npos) << how << e.output;
    }
  }
}

TEST_F(sim_test, a_loop_without_scheduling_points_ends_with_its_stack) {
  SKIP_WITHOUT_SIMULATOR(program("fib"));
  const ended e =
      run("--machine skylake-4x16 --workers 2 --no-serial --stall-limit 1 -- " + program("meeting") + " spin");
  EXPECT_EQ(e.status, 1);
  EXPECT_NE(e.output.find("stall at"), std::string::npos) << e.output;
  EXPECT_NE(e.output.find("meet(void (*)())"), std::string::npos) << e.output;
  EXPECT_NE(e.output.find("ended with status 4 (stall)"), std::string::npos) << e.output;
  // Two must meet, and the serial run has one worker: it waits by pauses, for ever.
  const ended serial = run("--machine skylake-4x16 --workers 2 --stall-limit 1 -- " + program("meeting") + " pause");
  EXPECT_EQ(serial.status, 1);
  EXPECT_NE(serial.output.find("the serial run ended with status 4 (stall); --no-serial"), std::string::npos)
      << serial.output;
}

// A worker looks for work for 50 us as a rule, in which a small program is over.
TEST_F(sim_test, workers_sleep_soon_where_interleavings_are_explored) {
  SKIP_WITHOUT_SIMULATOR(program("fib"));
  const ended e = run("--machine skylake-4x16 --workers 2 --explore-seed 1 -- " + program("spin"));
  EXPECT_EQ(e.status, 0) << e.output;
  EXPECT_NE(e.output.find("spin 2\n"), std::string::npos) << e.output;
}

TEST_F(sim_test, code_that_tells_nothing_beside_code_that_does_is_warned_of) {
  SKIP_WITHOUT_SIMULATOR(program("fib"));
  const std::string what = "--machine skylake-4x16 --workers 4 --no-serial -- " + program("mixed");
  const ended some = run(what);
  EXPECT_EQ(some.status, 0);
  EXPECT_NE(some.output.find("warning: the program told costs of"), std::string::npos) << some.output;
  const ended all = run(what + " all");
  EXPECT_EQ(all.status, 0);
  EXPECT_EQ(all.output.find("warning:"), std::string::npos) << all.output;
}

TEST_F(sim_test, workers_are_as_many_as_the_models_units) {
  SKIP_WITHOUT_SIMULATOR(program("fib"));
  EXPECT_EQ(figures("--machine skylake-4x16 --no-serial -- " + program("fib") + " 5")[0]["workers"], 64);
}

TEST_F(sim_test, no_speed_up_where_nothing_is_told) {
  SKIP_WITHOUT_SIMULATOR(program("fib"));
  const json rows = figures("--machine skylake-4x16 --workers 2 -- " + program("fib") + " 2");
  EXPECT_TRUE(rows[0]["speedup"].is_null()) << rows.dump();
}

TEST_F(sim_test, exploration_finds_a_schedule_and_repeats_it) {
  SKIP_WITHOUT_SIMULATOR(program("fib"));
  const ended found = run("--machine skylake-4x16 --workers 2 --explore 400 -- " + program("lost_wakeup"));
  ASSERT_EQ(found.status, 1) << found.output;
  const std::size_t at = found.output.find("--explore-seed ");
  ASSERT_NE(at, std::string::npos) << found.output;
  const std::string seed = std::to_string(std::strtoull(found.output.c_str() + at + 15, nullptr, 10));
  const ended again =
      run("--machine skylake-4x16 --workers 2 --explore-seed " + seed + " -- " + program("lost_wakeup"));
  EXPECT_EQ(again.status, 1);
  EXPECT_NE(again.output.find("deadlock at"), std::string::npos) << again.output;
  EXPECT_EQ(run("--machine skylake-4x16 --workers 2 --explore 20 -- " + program("fib") + " 5").status, 0);
}

TEST_F(sim_test, what_cannot_be_simulated_is_refused) {
  SKIP_WITHOUT_SIMULATOR(program("fib"));
  const ended threads = run("--workers 2 -- " + program("kernel_thread"));
  EXPECT_EQ(threads.status, 1);
  EXPECT_NE(threads.output.find("use heddle::thread"), std::string::npos) << threads.output;
  const ended foreign = run("--workers 2 -- true");
  EXPECT_EQ(foreign.status, 1);
  EXPECT_NE(foreign.output.find("shared libheddle.so"), std::string::npos) << foreign.output;
  const ended missing = run("-- no-such-program-here");
  EXPECT_EQ(missing.status, 1);
  EXPECT_NE(missing.output.find("not found"), std::string::npos) << missing.output;
  EXPECT_EQ(run("--machine no-such-machine -- true").status, 2);
  EXPECT_EQ(run("--policy no-such-policy -- true").status, 2);
  EXPECT_EQ(run("--machine skylake-4x16 --workers 65 -- " + program("fib")).status, 2) << "it has 64 units";
  EXPECT_EQ(run("--machine 'synthetic:l3:1(size=0) pu:4' -- " + program("fib")).status, 2);
  EXPECT_EQ(run("--machine skylake-4x16").status, 2);
}

}  // namespace
}  // namespace run_test
