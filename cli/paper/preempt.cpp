// Section 3 of S. Shiina's thesis: preemptive user-level threads. The
// programs are heddle-preempt-model's (bench/preempt_model).
#include <fmt/format.h>

#include "cli/paper/experiment.hpp"

namespace heddle::cli::paper {
namespace {

constexpr const char* skylake = "skylake-2x28";
constexpr const char* one_core = "synthetic:pu:1+skylake-2x28";
constexpr const char* one_core_knl = "synthetic:pu:1+knl-7250";
constexpr const char* policy = "random_ws";
constexpr unsigned all = 56;
constexpr const char* given =
    "The machine's file has its costs of signals and of kernel threads' switches from table 3.1 and from one point of "
    "figure 3.4 (its sources and assumptions say which): these figures are put in, the others come out.";

value figure_of(const std::string& program) { return time(program, policy); }
value in_us(const std::string& program) { return 1e6 * time(program, policy); }

program model(const std::string& name, const std::string& arguments, const std::string& metric, const size& quick,
              const size& full, const std::string& real) {
  return {.name = name,
          .command = "preempt-model " + arguments,
          .quick = quick,
          .full = full,
          .real = real.empty() ? real : "preempt-model " + real,
          .metric = metric,
          .real_metric = metric};
}

// A figure that is not repeated, and why.
experiment left_out(const std::string& number, const std::string& title, const std::string& machine, unsigned workers,
                    const std::string& words, const std::string& why) {
  const size none{.arguments = {}, .shrink = 1, .left_out = why};
  return {.id = "preempt-" + number,
          .figure = "figure " + number,
          .title = title,
          .machine = machine,
          .workers = workers,
          .programs = {{.name = "the figure", .command = {}, .quick = none, .full = none, .real = {}}},
          .measures = {{.name = title, .of = figure_of("the figure"), .says = claim::above, .words = words}},
          .remark = {}};
}

experiment table_3_1(const std::string& id, const std::string& machine, const std::string& title, double threads,
                     double yield, double klt, bool real) {
  const auto cost = [real](const std::string& name, const std::string& how) {
    const size any{.arguments = how};
    return model(name, "cost", "gap", any, any, real ? "cost " + how : std::string());
  };
  return {.id = id,
          .figure = "table 3.1",
          .title = title,
          .machine = machine,
          .workers = 1,
          .programs = {cost("1:1", "--technique threads"), cost("signal-yield", "--technique signal_yield"),
                       cost("KLT-switching", "--technique klt_switching --klt local"),
                       cost("direct", "--technique klt_switching --klt direct")},
          .measures = {{.name = "1:1 threads, us",
                        .of = in_us("1:1"),
                        .says = claim::about,
                        .words = "table 3.1",
                        .number = threads,
                        .band = 1.1},
                       {.name = "signal-yield, us",
                        .of = in_us("signal-yield"),
                        .says = claim::about,
                        .words = "table 3.1",
                        .number = yield,
                        .band = 1.1},
                       {.name = "KLT-switching, us",
                        .of = in_us("KLT-switching"),
                        .says = claim::about,
                        .words = "table 3.1",
                        .number = klt,
                        .band = 1.1},
                       {.name = "signal-yield over 1:1",
                        .of = figure_of("signal-yield") / figure_of("1:1"),
                        .says = claim::above,
                        .words = "table 3.1",
                        .number = yield / threads,
                        .band = 1.1,
                        .aim = goal{1.3, false}},
                       {.name = "KLT-switching over 1:1",
                        .of = figure_of("KLT-switching") / figure_of("1:1"),
                        .says = claim::above,
                        .words = "table 3.1",
                        .number = klt / threads,
                        .band = 1.15,
                        .aim = goal{3, false}},
                       {.name = "KLT-switching straight to the next carrier (heddle's) over 1:1",
                        .of = figure_of("direct") / figure_of("1:1"),
                        .says = claim::below,
                        .words = "the thesis has none",
                        .pivot = klt / threads,
                        .aim = goal{3, false}}},
          .remark = given};
}

experiment figure_3_4() {
  const auto timer = [](const std::string& name, const std::string& kind, unsigned workers) {
    return model(
        name, fmt::format("run --technique signal_yield --timer {} --workers {}", kind, workers), "tick",
        {.arguments = "--ms 50"}, {.arguments = "--ms 1000"},
        workers == all ? fmt::format("run --technique signal_yield --timer {} --ms 500", kind) : std::string());
  };
  return {.id = "preempt-3.4",
          .figure = "figure 3.4",
          .title = "average time of a timer's interruption, every 1 ms, one thread a worker",
          .machine = skylake,
          .workers = all,
          .programs = {timer("creation", "creation", all), timer("aligned", "aligned", all),
                       timer("aligned, 1 worker", "aligned", 1), timer("one-to-all", "one-to-all", all),
                       timer("chain", "chain", all)},
          .measures = {{.name = "per-worker, creation-time, 56 workers, us",
                        .of = in_us("creation"),
                        .says = claim::about,
                        .words = "as much as 100 us",
                        .number = 100},
                       {.name = "per-worker, aligned: 56 workers over 1",
                        .of = figure_of("aligned") / figure_of("aligned, 1 worker"),
                        .says = claim::about,
                        .words = "does not increase with core counts",
                        .number = 1,
                        .band = 1.15},
                       {.name = "per-process, one-to-all, 56 workers, us",
                        .of = in_us("one-to-all"),
                        .says = claim::above,
                        .words = "tens of us",
                        .pivot = 10},
                       {.name = "one-to-all over chain",
                        .of = figure_of("one-to-all") / figure_of("chain"),
                        .says = claim::above,
                        .words = "significantly improve"},
                       {.name = "chain over aligned",
                        .of = figure_of("chain") / figure_of("aligned"),
                        .says = claim::above,
                        .words = "slightly worse"}},
          .remark = std::string(given) +
                    " 50 ticks a worker; the thesis has 1,000. Simulated workers are made at the same moment, so "
                    "timers from then all tick at once."};
}

experiment figure_3_6() {
  const auto groups = [](const std::string& name, const std::string& technique, unsigned n) {
    return model(name, fmt::format("run --technique {} --timer hybrid:{} --workers 56 --threads 10", technique, n),
                 "ratio", {.arguments = "--ms 10"}, {.arguments = "--ms 100"},
                 fmt::format("run --technique {} --timer hybrid:{} --threads 10 --ms 50", technique, n));
  };
  return {.id = "preempt-3.6",
          .figure = "figure 3.6",
          .title = "overhead of timers by the number of groups, ten threads a worker, 1 ms",
          .machine = skylake,
          .workers = all,
          .programs = {groups("a, 1 group", "none", 1), groups("a, 56 groups", "none", 56),
                       groups("b, 1 group", "signal_yield", 1), groups("b, 7 groups", "signal_yield", 7),
                       groups("b, 56 groups", "signal_yield", 56)},
          .measures = {{.name = "a, nonpreemptive threads: 56 groups over 1",
                        .of = figure_of("a, 56 groups") / figure_of("a, 1 group"),
                        .says = claim::above,
                        .words = "lowest with one group",
                        .why = "heddle's timers stand still where no preemptive thread runs, whatever their kind"},
                       {.name = "b, preemptive threads: 1 group over 56",
                        .of = figure_of("b, 1 group") / figure_of("b, 56 groups"),
                        .says = claim::above,
                        .words = "lowest with most groups"},
                       {.name = "b, preemptive threads: 1 group over 7",
                        .of = figure_of("b, 1 group") / figure_of("b, 7 groups"),
                        .says = claim::above,
                        .words = "lowest with most groups"}},
          .remark = given};
}

experiment figure_3_7() {
  const auto run = [](const std::string& name, const std::string& how, const std::string& metric) {
    return model(name, "run --workers 56 --threads 10 " + how, metric, {.arguments = "--ms 50"},
                 {.arguments = "--ms 400"}, "run --threads 10 --ms 100 " + how);
  };
  const std::string yield = "--technique signal_yield", klt = "--technique klt_switching --klt ";
  constexpr const char* made_meanwhile =
      "A preemption of 10 us each ms is 1 % by itself; to it comes the making of kernel threads, on which the others "
      "wait";
  return {.id = "preempt-3.7",
          .figure = "figure 3.7",
          .title = "overhead of preemption at 1 ms, ten computing threads a worker, against threads without",
          .machine = skylake,
          .workers = all,
          .programs = {run("signal-yield", yield, "overhead"), run("local", klt + "local", "overhead"),
                       run("direct", klt + "direct", "overhead"), run("signal-yield, each", yield, "preemption"),
                       run("naive, each", klt + "naive", "preemption"), run("futex, each", klt + "futex", "preemption"),
                       run("local, each", klt + "local", "preemption"),
                       model("timer alone", "run --technique signal_yield --workers 56", "tick",
                             {.arguments = "--ms 50"}, {.arguments = "--ms 1000"}, {})},
          .measures = {{.name = "signal-yield",
                        .of = figure_of("signal-yield"),
                        .says = claim::at_most,
                        .words = "less than 1 %",
                        .number = 0.01,
                        .band = 1},
                       {.name = "KLT-switching, both optimisations",
                        .of = figure_of("local"),
                        .says = claim::at_most,
                        .words = "less than 1 %",
                        .number = 0.01,
                        .band = 1,
                        .why = made_meanwhile},
                       {.name = "KLT-switching straight to the next carrier",
                        .of = figure_of("direct"),
                        .says = claim::at_most,
                        .words = "less than 1 %",
                        .number = 0.01,
                        .band = 1,
                        .why = made_meanwhile},
                       {.name = "a preemption by signal-yield over a timer's interruption",
                        .of = figure_of("signal-yield, each") / figure_of("timer alone"),
                        .says = claim::about,
                        .words = "virtually identical",
                        .number = 1,
                        .band = 1.1},
                       {.name = "naive KLT-switching over futex",
                        .of = figure_of("naive, each") / figure_of("futex, each"),
                        .says = claim::above,
                        .words = "reduces somewhat"},
                       {.name = "naive KLT-switching over both optimisations",
                        .of = figure_of("naive, each") / figure_of("local, each"),
                        .says = claim::above,
                        .words = "approximately two times",
                        .number = 2,
                        .band = 1.5,
                        .why = "Modelled signals hold the process's lock from end to end: with three for each "
                               "preemption 56 workers wait for it"}},
          .remark = std::string(given) +
                    " Kernel threads are made while the simulated threads run; times of one preemption are time lost "
                    "over preemptions."};
}

experiment figure_3_8() {
  const auto meet = [](const std::string& name, const std::string& how, unsigned us) {
    const std::string interval = fmt::format(" --interval-us {}", us);
    return model(name, "barrier --workers 56 --threads 10 " + how + interval, "barrier",
                 {.arguments = fmt::format("--barriers 3 --turn-us {}", us / 200.0)},
                 {.arguments = fmt::format("--barriers 30 --turn-us {}", us / 500.0)},
                 "barrier --threads 10 --barriers 20 " + how + interval);
  };
  const std::string yield = "--technique signal_yield", klt = "--technique klt_switching";
  const size blocks{.arguments = {},
                    .shrink = 1,
                    .left_out =
                        "pthread_barrier_wait would block the one kernel thread of the simulator; on real ones "
                        "tests/worker/preempt_foreign_test.cpp runs it"};
  return {.id = "preempt-3.8",
          .figure = "figure 3.8",
          .title = "time of a barrier over the other threads of a worker, ten threads a worker",
          .machine = skylake,
          .workers = all,
          .programs = {meet("signal-yield, 10 ms", yield, 10000),
                       meet("KLT-switching, 10 ms", klt, 10000),
                       meet("signal-yield, 1 ms", yield, 1000),
                       meet("KLT-switching, 1 ms", klt, 1000),
                       meet("signal-yield, 100 us", yield, 100),
                       meet("KLT-switching, 100 us", klt, 100),
                       meet("1:1", "--technique threads", 10000),
                       {.name = "pthread", .command = {}, .quick = blocks, .full = blocks, .real = {}}},
          .measures = {{.name = "signal-yield, 10 ms: over the interval",
                        .of = 100 * figure_of("signal-yield, 10 ms"),
                        .says = claim::about,
                        .words = "close to the ideal",
                        .number = 1,
                        .band = 1.1},
                       {.name = "KLT-switching, 10 ms: over the interval",
                        .of = 100 * figure_of("KLT-switching, 10 ms"),
                        .says = claim::about,
                        .words = "close to the ideal",
                        .number = 1,
                        .band = 1.1},
                       {.name = "signal-yield, 1 ms: over the interval",
                        .of = 1000 * figure_of("signal-yield, 1 ms"),
                        .says = claim::about,
                        .words = "close to the ideal",
                        .number = 1,
                        .band = 1.1},
                       {.name = "KLT-switching, 1 ms: over the interval",
                        .of = 1000 * figure_of("KLT-switching, 1 ms"),
                        .says = claim::about,
                        .words = "close to the ideal",
                        .number = 1,
                        .band = 1.1},
                       {.name = "signal-yield, 100 us: over the interval",
                        .of = 10000 * figure_of("signal-yield, 100 us"),
                        .says = claim::above,
                        .words = "visibly larger",
                        .pivot = 1.1},
                       {.name = "KLT-switching, 100 us: over signal-yield",
                        .of = figure_of("KLT-switching, 100 us") / figure_of("signal-yield, 100 us"),
                        .says = claim::above,
                        .words = "larger"},
                       {.name = "1:1 over signal-yield at 10 ms",
                        .of = figure_of("1:1") / figure_of("signal-yield, 10 ms"),
                        .says = claim::about,
                        .words = "close to that of M:N threads",
                        .number = 1,
                        .band = 1.25},
                       {.name = "pthread barrier",
                        .of = figure_of("pthread"),
                        .says = claim::above,
                        .words = "contention is exacerbated"}},
          .remark = std::string(given) +
                    " The thesis has 1,000 barriers. Ideal: an interval. A look of a waiting loop takes a 200th of it "
                    "in the simulator."};
}

experiment figure_3_9() {
  const auto go = [](const std::string& name, unsigned threads, unsigned us) {
    return model(
        name,
        fmt::format("run --workers 56 --technique klt_switching --array-kb 1024 --threads {} --interval-us {}", threads,
                    us),
        "ratio", {.arguments = "--passes 150"}, {.arguments = "--passes 1500"},
        fmt::format("run --technique klt_switching --array-kb 1024 --passes 2000 --threads {} --interval-us {}",
                    threads, us));
  };
  return {.id = "preempt-3.9",
          .figure = "figure 3.9",
          .title = "preemption of threads that read 1 MB each again and again: times slower than without",
          .machine = skylake,
          .workers = all,
          .programs = {go("56 MB, 1 ms", 1, 1000), go("224 MB, 1 ms", 4, 1000), go("224 MB, 10 ms", 4, 10000)},
          .measures = {{.name = "56 MB, 1 ms",
                        .of = figure_of("56 MB, 1 ms"),
                        .says = claim::at_most,
                        .words = "at most 2 %",
                        .number = 1.02,
                        .band = 1},
                       {.name = "224 MB over 56 MB, 1 ms",
                        .of = figure_of("224 MB, 1 ms") / figure_of("56 MB, 1 ms"),
                        .says = claim::above,
                        .words = "increases"},
                       {.name = "224 MB: 1 ms over 10 ms",
                        .of = figure_of("224 MB, 1 ms") / figure_of("224 MB, 10 ms"),
                        .says = claim::above,
                        .words = "frequent preemption degrades"}},
          .remark = std::string(given) + " The thesis reads 10,000 times."};
}

experiment figure_3_12() {
  const auto pack = [](const std::string& name, unsigned workers, unsigned active, const std::string& how) {
    return model(name, fmt::format("packing --workers {} --active {} {}", workers, active, how), "over_ideal",
                 {.arguments = "--ms 100"}, {.arguments = "--ms 1000"}, {});
  };
  const std::string klt = "--technique klt_switching", slow = klt + " --interval-us 10000", none = "--technique none";
  const auto close = [](const std::string& of) {
    return measure{.name = of + ": over the ideal",
                   .of = figure_of(of),
                   .says = claim::about,
                   .words = "close to the ideal",
                   .number = 1,
                   .band = 1.1};
  };
  const size linux_only{
      .arguments = {},
      .shrink = 1,
      .left_out = "what that shows is how Linux balances kernel threads between processors, which is not modelled"};
  return {.id = "preempt-3.12",
          .figure = "figure 3.12",
          .title = "thread packing: as many equal threads as workers on n of them",
          .machine = skylake,
          .workers = 28,
          .programs = {pack("28 on 27", 28, 27, klt),
                       pack("28 on 20", 28, 20, klt),
                       pack("28 on 14", 28, 14, klt),
                       pack("28 on 10", 28, 10, klt),
                       pack("28 on 27, 10 ms", 28, 27, slow),
                       pack("28 on 27, nonpreemptive", 28, 27, none),
                       pack("28 on 20, nonpreemptive", 28, 20, none),
                       pack("28 on 14, nonpreemptive", 28, 14, none),
                       pack("56 on 55", 56, 55, klt),
                       pack("56 on 40", 56, 40, klt),
                       pack("56 on 28", 56, 28, klt),
                       {.name = "1:1", .command = {}, .quick = linux_only, .full = linux_only, .real = {}}},
          .measures = {close("28 on 27"),
                       close("28 on 20"),
                       close("28 on 14"),
                       close("28 on 10"),
                       {.name = "28 on 27: 10 ms over 1 ms",
                        .of = figure_of("28 on 27, 10 ms") / figure_of("28 on 27"),
                        .says = claim::above,
                        .words = "1 ms performs better"},
                       {.name = "28 on 27, nonpreemptive: over the ideal",
                        .of = figure_of("28 on 27, nonpreemptive"),
                        .says = claim::above,
                        .words = "poor",
                        .pivot = 1.5},
                       {.name = "28 on 20, nonpreemptive: over the ideal",
                        .of = figure_of("28 on 20, nonpreemptive"),
                        .says = claim::above,
                        .words = "poor",
                        .pivot = 1.25},
                       {.name = "28 on 14, nonpreemptive: over the ideal",
                        .of = figure_of("28 on 14, nonpreemptive"),
                        .says = claim::about,
                        .words = "good at divisors of 28",
                        .number = 1,
                        .band = 1.05},
                       close("56 on 55"),
                       close("56 on 40"),
                       close("56 on 28"),
                       {.name = "1:1 threads by taskset",
                        .of = figure_of("1:1"),
                        .says = claim::above,
                        .words = "far from the ideal"}},
          .remark = std::string(given) +
                    " HPGMG-FV's threads are equal and meet at barriers; here they only compute. At this machine's own "
                    "size: `heddle bench packing`."};
}

// LAMMPS's place is taken by steps of a serial part, a region with a thread on
// each worker, and a wait for messages that keeps the main thread's worker.
program beside(const std::string& name, const std::string& technique, bool priorities, unsigned every, unsigned pieces,
               const std::string& metric) {
  const std::string how = fmt::format(
      "insitu --technique {} --priorities {} --every {} --pieces {} --timer chain --serial-us 2000 --region-us 10000 "
      "--gap-us 10000 --analysis-us 15000",
      technique, priorities ? 1 : 0, every, pieces);
  return model(name, how + " --workers 56", metric, {.arguments = "--steps 10"}, {.arguments = "--steps 100"},
               how + " --steps 10");
}

constexpr const char* of_our_own =
    " A step: 2 ms of the main thread, 10 ms on all workers, 10 ms in which the main thread waits for messages as MPI "
    "does, on its worker; an analysis: 15 ms on each worker but one, more than there is idle time "
    "when every step has one, less when every second has. LAMMPS's own times are not in the text, so of the figure its "
    "directions are compared.";

experiment figure_3_13() {
  const size linux_only{.arguments = {},
                        .shrink = 1,
                        .left_out =
                            "how Linux shares processors between kernel threads by nice values is not modelled; on "
                            "this machine: `heddle bench insitu`"};
  const std::string yield = "signal_yield", last_step = "slowdown", all_ended = "slowdown_all";
  return {.id = "preempt-3.13",
          .figure = "figure 3.13",
          .title = "in situ analysis: time over that of the simulation alone",
          .machine = skylake,
          .workers = all,
          .programs = {beside("a, plain", yield, false, 1, 1, all_ended),
                       beside("a, priorities", yield, true, 1, 1, all_ended),
                       beside("b, plain", yield, false, 2, 1, all_ended),
                       beside("b, priorities", yield, true, 2, 1, all_ended),
                       beside("b, priorities, last step", yield, true, 2, 1, last_step),
                       {.name = "1:1", .command = {}, .quick = linux_only, .full = linux_only, .real = {}}},
          .measures = {{.name = "a, each step: without priorities over with",
                        .of = figure_of("a, plain") / figure_of("a, priorities"),
                        .says = claim::above,
                        .words = "prioritization helps"},
                       {.name = "b, every second step: without priorities over with",
                        .of = figure_of("b, plain") / figure_of("b, priorities"),
                        .says = claim::above,
                        .words = "prioritization helps"},
                       {.name = "what priorities gain: b over a",
                        .of = (figure_of("b, plain") / figure_of("b, priorities")) /
                              (figure_of("a, plain") / figure_of("a, priorities")),
                        .says = claim::above,
                        .words = "more pronounced every two iterations"},
                       {.name = "b: the simulation's last step, priorities",
                        .of = figure_of("b, priorities, last step"),
                        .says = claim::about,
                        .words = "analysis completes while no simulation threads exist",
                        .number = 1,
                        .band = 1.05},
                       {.name = "1:1 threads with nice values over ours",
                        .of = figure_of("1:1"),
                        .says = claim::above,
                        .words = "Argobots with priorities is best"}},
          .remark = std::string(given) + of_our_own};
}

experiment figure_3_14() {
  const std::string none = "none", yield = "signal_yield", metric = "slowdown";
  return {.id = "preempt-3.14",
          .figure = "figure 3.14",
          .title =
              "in situ analysis, by the number of analysis threads, with priorities: until the last step, over the "
              "simulation alone",
          .machine = skylake,
          .workers = all,
          .programs = {beside("nonpreemptive, 55", none, true, 2, 1, metric),
                       beside("nonpreemptive, 220", none, true, 2, 4, metric),
                       beside("nonpreemptive, 880", none, true, 2, 16, metric),
                       beside("nonpreemptive, 3520", none, true, 2, 64, metric),
                       beside("preemptive, 55", yield, true, 2, 1, metric),
                       beside("preemptive, 220", yield, true, 2, 4, metric),
                       beside("preemptive, 880", yield, true, 2, 16, metric)},
          .measures = {{.name = "55 threads: nonpreemptive over preemptive",
                        .of = figure_of("nonpreemptive, 55") / figure_of("preemptive, 55"),
                        .says = claim::above,
                        .words = "at best as good"},
                       {.name = "220 threads: nonpreemptive over preemptive",
                        .of = figure_of("nonpreemptive, 220") / figure_of("preemptive, 220"),
                        .says = claim::above,
                        .words = "at best as good"},
                       {.name = "880 threads: nonpreemptive over preemptive",
                        .of = figure_of("nonpreemptive, 880") / figure_of("preemptive, 880"),
                        .says = claim::above,
                        .words = "at best as good"},
                       {.name = "nonpreemptive: 55 threads over 880",
                        .of = figure_of("nonpreemptive, 55") / figure_of("nonpreemptive, 880"),
                        .says = claim::above,
                        .words = "overdecomposition improves"},
                       {.name = "nonpreemptive, 3,520 threads, over preemptive, 55",
                        .of = figure_of("nonpreemptive, 3520") / figure_of("preemptive, 55"),
                        .says = claim::about,
                        .words = "can achieve the same performance",
                        .number = 1,
                        .band = 1.02},
                       {.name = "preemptive: 55 threads over 880",
                        .of = figure_of("preemptive, 55") / figure_of("preemptive, 880"),
                        .says = claim::about,
                        .words = "robust to thread granularity",
                        .number = 1,
                        .band = 1.05}},
          .remark = std::string(given) + of_our_own};
}

std::vector<experiment> preempt() {
  const std::string openmp = "needs an OpenMP runtime over preemptive threads, and Intel's MKL";
  return {table_3_1("preempt-tab-3.1", one_core, "what a preemption costs, Skylake", 2.8, 3.5, 9.9, true),
          table_3_1("preempt-tab-3.1-knl", one_core_knl, "what a preemption costs, Knights Landing", 15, 18, 62, false),
          figure_3_4(),
          left_out("3.5", "when timers tick, as a drawing", skylake, all, "ticks do not overlap",
                   "a drawing; tests/worker and figure 3.4 check what it shows"),
          figure_3_6(),
          figure_3_7(),
          figure_3_8(),
          figure_3_9(),
          left_out("3.10", "parallel DGEMM in parallel threads", skylake, all, "preemptive outperforms IOMP", openmp),
          left_out("3.11", "Cholesky decomposition", skylake, all, "preemptive outperforms IOMP", openmp),
          figure_3_12(),
          figure_3_13(),
          figure_3_14()};
}

const registration entry{
    paper{"preempt", "S. Shiina: Efficient thread scheduling strategies for nested parallel programs, 2021, section 3",
          preempt}};

}  // namespace
}  // namespace heddle::cli::paper
