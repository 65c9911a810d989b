// The cost of a preemption: signals, timers, and switches of kernel threads.
#include "cli/paper/preempt.hpp"

#include <fmt/format.h>

namespace heddle::cli::paper::preemption {

namespace {

constexpr const char* one_core = "synthetic:pu:1+skylake-2x28";
constexpr const char* one_core_knl = "synthetic:pu:1+knl-7250";

experiment table_3_1_on(const std::string& id, const std::string& machine, const std::string& title, double threads,
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
                        .band = 1.1,
                        .input = true},
                       {.name = "signal-yield, us",
                        .of = in_us("signal-yield"),
                        .says = claim::about,
                        .words = "table 3.1",
                        .number = yield,
                        .band = 1.1,
                        .input = true},
                       {.name = "KLT-switching, us",
                        .of = in_us("KLT-switching"),
                        .says = claim::about,
                        .words = "table 3.1",
                        .number = klt,
                        .band = 1.1,
                        .input = true},
                       {.name = "signal-yield over 1:1",
                        .of = figure_of("signal-yield") / figure_of("1:1"),
                        .says = claim::above,
                        .words = "table 3.1",
                        .number = yield / threads,
                        .band = 1.1,
                        .aim = goal{1.3, false},
                        .input = true},
                       {.name = "KLT-switching over 1:1",
                        .of = figure_of("KLT-switching") / figure_of("1:1"),
                        .says = claim::above,
                        .words = "table 3.1",
                        .number = klt / threads,
                        .band = 1.15,
                        .aim = goal{3, false},
                        .input = true},
                       {.name = "KLT-switching straight to the next carrier (heddle's) over 1:1",
                        .of = figure_of("direct") / figure_of("1:1"),
                        .says = claim::below,
                        .words = "the thesis has none",
                        .pivot = klt / threads,
                        .aim = goal{3, false}}},
          .remark = given};
}

}  // namespace

experiment table_3_1() {
  return table_3_1_on("preempt-tab-3.1", one_core, "what a preemption costs, Skylake", 2.8, 3.5, 9.9, true);
}
experiment table_3_1_knl() {
  return table_3_1_on("preempt-tab-3.1-knl", one_core_knl, "what a preemption costs, Knights Landing", 15, 18, 62,
                      false);
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
                        .number = 100,
                        .input = true},
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

}  // namespace heddle::cli::paper::preemption
