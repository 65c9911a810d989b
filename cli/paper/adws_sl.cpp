// Chapter 4.
#include "cli/paper/adws.hpp"

namespace heddle::cli::paper {
namespace {

constexpr const char* sweeps =
    "The thesis has 1,000 iterations. OpenMP static: rows in equal parts on threads that are pinned to their workers, "
    "whatever the policy in the formula.";
// Two grids of 1.8 MB fill the second-level caches of two workers.
constexpr const char* here_heat = "bench heat2d --n 480 --iterations 200";

experiment figure_4_17() {
  const std::string base = "2048 local";
  return {.id = "adws-4.17",
          .figure = "figure 4.17",
          .title = "speed-up of heat2d, pages interleaved over the nodes",
          .machine = machine4,
          .workers = 64,
          .programs = {heat2d("2048", "--n 2048 --touch interleave", "10", "100",
                              std::string(here_heat) + " --touch interleave"),
                       heat2d(base, "--n 2048 --touch first", "10", "100", std::string(here_heat) + " --touch first"),
                       heat2d_static("2048 static", "--n 2048 --touch interleave", "10", "100",
                                     std::string(here_heat) + " --touch interleave"),
                       heat2d("4096", "--n 4096 --touch interleave", "3", "50", {}),
                       heat2d_static("4096 static", "--n 4096 --touch interleave", "3", "50", {}),
                       heat2d("8192", "--n 8192 --touch interleave", "1", "20", {})},
          .measures = {{.name = "2048: adws over random_ws",
                        .of = faster("2048", "adws", "random_ws"),
                        .says = claim::above,
                        .words = "performed better"},
                       {.name = "2048: speed-up of adws over workers",
                        .of = efficiency("2048", "adws", base),
                        .says = claim::above,
                        .words = "superlinear"},
                       {.name = "2048: OpenMP static over random_ws",
                        .of = time("2048", "random_ws") / static_time("2048 static"),
                        .says = claim::above,
                        .words = "performed better"},
                       {.name = "2048: OpenMP static over adws",
                        .of = time("2048", "adws") / static_time("2048 static"),
                        .says = claim::above,
                        .words = "in many cases better, by the overheads of tasks"},
                       {.name = "2048: speed-up of OpenMP static over workers",
                        .of = efficiency("2048 static", "random_ws", base),
                        .says = claim::above,
                        .words = "superlinear"},
                       {.name = "4096: adws over random_ws",
                        .of = faster("4096", "adws", "random_ws"),
                        .says = claim::above,
                        .words = "performed better"},
                       {.name = "4096: OpenMP static over random_ws",
                        .of = time("4096", "random_ws") / static_time("4096 static"),
                        .says = claim::above,
                        .words = "performed better"},
                       {.name = "4096: OpenMP static over adws",
                        .of = time("4096", "adws") / static_time("4096 static"),
                        .says = claim::above,
                        .words = "in many cases better, by the overheads of tasks",
                        .why = "The loops are busy for less time, and wait longer at barriers"},
                       {.name = "2048: constrained_ws over random_ws",
                        .of = faster("2048", "constrained_ws", "random_ws"),
                        .says = claim::above,
                        .words = "worked better"},
                       {.name = "2048: adws over constrained_ws",
                        .of = faster("2048", "adws", "constrained_ws"),
                        .says = claim::above,
                        .words = "better than constrained WS"},
                       {.name = "2048: hierarchical_ws over random_ws",
                        .of = faster("2048", "hierarchical_ws", "random_ws"),
                        .says = claim::about,
                        .words = "did not improve",
                        .number = 1,
                        .band = 1.15},
                       {.name = "8192: advantage of adws over that at 2048",
                        .of = faster("8192", "adws", "random_ws") / faster("2048", "adws", "random_ws"),
                        .says = claim::below,
                        .words = "the difference became small"}},
          .remark = std::string(sweeps) + " Base of the speed-up: one core, its own node's memory."};
}

experiment figure_4_18() {
  return {
      .id = "adws-4.18",
      .figure = "figure 4.18",
      .title = "speed-up of heat2d, pages with the worker that first touches them",
      .machine = machine4,
      .workers = 64,
      .programs = {heat2d("2048", "--n 2048 --touch first", "10", "100", std::string(here_heat) + " --touch first"),
                   heat2d("8192", "--n 8192 --touch first", "1", "20",
                          "bench heat2d --n 2048 --iterations 10 --touch first"),
                   heat2d_static("8192 static", "--n 8192 --touch first", "1", "20", {}),
                   heat2d("4096", "--n 4096 --touch first", "3", "50", {}),
                   heat2d("4096 interleaved", "--n 4096 --touch interleave", "3", "50", {}),
                   heat2d("8192 interleaved", "--n 8192 --touch interleave", "1", "20", {}),
                   heat2d("2048 interleaved", "--n 2048 --touch interleave", "10", "100", {})},
      .measures = {{.name = "2048: adws over random_ws",
                    .of = faster("2048", "adws", "random_ws"),
                    .says = claim::above,
                    .words = "nearly six times",
                    .number = 6,
                    .band = 1.5,
                    .aim = goal{4}},
                   {.name = "2048: speed-up of adws over workers",
                    .of = efficiency("2048", "adws"),
                    .says = claim::above,
                    .words = "superlinear"},
                   {.name = "4096: adws over random_ws",
                    .of = faster("4096", "adws", "random_ws"),
                    .says = claim::above,
                    .words = "performed better, and improved"},
                   {.name = "4096: adws, first touch over interleaved",
                    .of = time("4096 interleaved", "adws") / time("4096", "adws"),
                    .says = claim::above,
                    .words = "improved",
                    .why = "The last level is missed more often than with interleaved pages"},
                   {.name = "8192: adws over OpenMP static",
                    .of = static_time("8192 static") / time("8192", "adws"),
                    .says = claim::above,
                    .words = "better than deterministic schedulers",
                    .why = "Modelled cores run equal work in equal time: nothing is left for stealing to even out"},
                   {.name = "8192: adws, first touch over interleaved",
                    .of = time("8192 interleaved", "adws") / time("8192", "adws"),
                    .says = claim::above,
                    .words = "clearly improved"},
                   {.name = "2048: random_ws, first touch over interleaved",
                    .of = time("2048 interleaved", "random_ws") / time("2048", "random_ws"),
                    .says = claim::about,
                    .words = "did not change",
                    .number = 1,
                    .band = 1.15},
                   {.name = "8192: adws over adws:steal=off",
                    .of = faster("8192", "adws", no_steal),
                    .says = claim::above,
                    .words = "better than deterministic schedulers",
                    .why = "Modelled cores run equal work in equal time: nothing is left for stealing to even out"}},
      .remark = sweeps};
}

experiment figure_4_19() {
  const auto matmul = [](const std::string& name, const size& quick, const size& full, const std::string& real,
                         const std::optional<size>& quick_beside, const std::optional<size>& medium) {
    return program{.name = name,
                   .command = "bench matmul --touch interleave",
                   .quick = quick,
                   .full = full,
                   .real = real,
                   .quick_beside = quick_beside,
                   .medium = medium,
                   .medium_beside = medium ? std::optional(quick) : std::nullopt};
  };
  const size too_long{.arguments = {}, .shrink = 1, .left_out = "550 thousand million multiply-adds a run take hours"};
  return {.id = "adws-4.19",
          .figure = "figure 4.19",
          .title = "cache-oblivious matrix multiplication",
          .machine = machine4,
          .workers = 64,
          .programs = {matmul("2048", {.arguments = "--n 512", .shrink = 16}, {.arguments = "--n 2048"},
                              "bench matmul --n 512", size{.arguments = "--n 704", .shrink = 8},
                              size{.arguments = "--n 1024", .shrink = 4}),
                       matmul("4096", {.arguments = "--n 1024", .shrink = 16}, {.arguments = "--n 4096"},
                              "bench matmul --n 1024", size{.arguments = "--n 1408", .shrink = 8},
                              size{.arguments = "--n 2048", .shrink = 4}),
                       matmul("8192", too_long, too_long, {}, {}, {})},
          .measures = {{.name = "2048: adws over random_ws",
                        .of = faster("2048", "adws", "random_ws"),
                        .says = claim::above,
                        .words = "outperformed other methods"},
                       {.name = "2048: adws over hierarchical_ws",
                        .of = faster("2048", "adws", "hierarchical_ws"),
                        .says = claim::above,
                        .words = "performed the best"},
                       {.name = "8192: adws over random_ws",
                        .of = faster("8192", "adws", "random_ws"),
                        .says = claim::above,
                        .words = "outperformed other methods"},
                       {.name = "4096: adws over random_ws",
                        .of = faster("4096", "adws", "random_ws"),
                        .says = claim::above,
                        .words = "outperformed other methods"},
                       {.name = "4096: hierarchical_ws over random_ws",
                        .of = faster("4096", "hierarchical_ws", "random_ws"),
                        .says = claim::above,
                        .words = "better than random WS"},
                       {.name = "4096: adws over hierarchical_ws",
                        .of = faster("4096", "adws", "hierarchical_ws"),
                        .says = claim::above,
                        .words = "performed the best"},
                       {.name = "4096: adws over adws:steal=off, 48 workers",
                        .of = time("4096", no_steal, 48) / time("4096", "adws", 48),
                        .says = claim::above,
                        .words = "no steal was poor"},
                       {.name = "4096: efficiency of adws:steal=off, 64 over 48 workers",
                        .of = efficiency("4096", no_steal) / efficiency("4096", no_steal, {}, 48),
                        .says = claim::above,
                        .words = "well when workers are a power of two"}},
          .remark =
              "The thesis tells 4085 GFLOPS at 4096, with leaves of 128 x 128 written for AVX-512; leaves here are 64 "
              "x 64 and compiled, so only schedulers are compared."};
}

experiment figure_4_20() {
  const auto sph = [](const std::string& name, const std::string& kernel, const std::string& quick,
                      const std::string& medium, const std::string& full, const std::string& real) {
    return program{.name = name,
                   .command = "bench " + kernel + " --touch interleave",
                   .quick = {.arguments = quick},
                   .full = {.arguments = full},
                   .real = real,
                   .medium = size{.arguments = medium}};
  };
  return {
      .id = "adws-4.20",
      .figure = "figure 4.20",
      .title = "interactions of particles of a breaking dam (SPH), tree of particles",
      .machine = machine4,
      .workers = 64,
      .programs = {sph("2D", "sph2d", "--iterations 3", "--iterations 8", "--iterations 20",
                       "bench sph2d --iterations 10"),
                   sph("3D", "sph3d", "--n 60000 --iterations 2", "--n 60000 --iterations 5",
                       "--n 160000 --iterations 10", "bench sph3d --iterations 5")},
      .measures = {{.name = "2D: adws over random_ws",
                    .of = faster("2D", "adws", "random_ws"),
                    .says = claim::above,
                    .words = "better than others",
                    .why = "Arithmetic takes nearly all of the time here: docs/investigations/simulator.md"},
                   {.name = "2D: adws over adws:steal=off",
                    .of = faster("2D", "adws", no_steal),
                    .says = claim::above,
                    .words = "better than others"},
                   {.name = "3D: adws over random_ws",
                    .of = faster("3D", "adws", "random_ws"),
                    .says = claim::about,
                    .words = "as robust to imbalance",
                    .number = 1,
                    .band = 1.15},
                   {.name = "3D: random_ws over adws:steal=off",
                    .of = faster("3D", "random_ws", no_steal),
                    .says = claim::above,
                    .words = "only no steal performed worse"}},
      .remark =
          "FDPS's own loop under OpenMP's dynamic schedule cannot be simulated: it is in no program here. Figure 4.1 "
          "draws where these particles ran; what it shows is measured on heat2d (adws-B.1). The thesis does not "
          "tell how many particles it has; why there are so many in 3D: docs/investigations/simulator.md."};
}

experiment figure_4_22() {
  constexpr const char* wrong_blocks = "The last level is missed more often with wrong hints";
  const auto wrong = [](const std::string& name, const std::string& alpha, const std::string& real) {
    return heat2d(name, "--n 2944 --touch interleave" + alpha, "10", "100", real);
  };
  const std::string here = std::string(here_heat) + " --touch interleave";
  const auto slower = [](const std::string& name) { return time(name, "adws") / time("right", "adws"); };
  return {.id = "adws-4.22",
          .figure = "figure 4.22",
          .title = "heat2d under adws with wrong hints of work",
          .machine = machine4,
          .workers = 64,
          .programs = {wrong("right", "", here), wrong("10 %", " --alpha 10", here + " --alpha 10"),
                       wrong("10 % random", " --alpha random:10", here + " --alpha random:10"),
                       wrong("100 %", " --alpha 100", here + " --alpha 100"),
                       wrong("100 % random", " --alpha random:100", here + " --alpha random:100")},
          .measures = {{.name = "error of 10 %, always the same: times slower",
                        .of = slower("10 %"),
                        .says = claim::at_most,
                        .words = "not more than about 30 %",
                        .number = 1.3,
                        .band = 1.1,
                        .aim = goal{1.3, false},
                        .why = wrong_blocks},
                       {.name = "error of 10 %, random: times slower",
                        .of = slower("10 % random"),
                        .says = claim::at_most,
                        .words = "not more than about 30 %",
                        .number = 1.3,
                        .band = 1.1,
                        .aim = goal{1.3, false},
                        .why = wrong_blocks},
                       {.name = "error of 100 %, always the same: adws over random_ws",
                        .of = time("right", "random_ws") / time("100 %", "adws"),
                        .says = claim::above,
                        .words = "better than random WS",
                        .aim = goal{1}},
                       {.name = "error of 100 %, random: adws over random_ws",
                        .of = time("right", "random_ws") / time("100 % random", "adws"),
                        .says = claim::above,
                        .words = "better than random WS",
                        .aim = goal{1}}},
          .remark =
              "The thesis has N = 4096, 84 % of all second- and third-level caches together, and 10,000 iterations. " +
              std::string(same_share)};
}

experiment table_4_2() {
  const auto fib = [](const std::string& name, const std::string& quick, const std::string& full,
                      const std::string& real) {
    return program{
        .name = name, .command = "bench fib", .quick = {.arguments = quick}, .full = {.arguments = full}, .real = real};
  };
  const auto longer = [](const std::string& name) { return time(name, "adws") / time(name, "random_ws"); };
  return {.id = "adws-tab-4.2",
          .figure = "table 4.2",
          .title = "fib with hints 2:1, time under adws over that under random_ws",
          .machine = machine4,
          .workers = 64,
          .programs = {fib("20", "--n 20", "--n 20", "bench fib --n 20"),
                       fib("40", "--n 30", "--n 40", "bench fib --n 40"),
                       {.name = "50",
                        .command = "bench fib",
                        .quick = {.arguments = "--n 50", .left_out = "41 billion forks take days in the simulator"},
                        .full = {.arguments = "--n 50", .left_out = "41 billion forks take days in the simulator"},
                        .real = {}}},
          .measures = {{.name = "n = 20",
                        .of = longer("20"),
                        .says = claim::below,
                        .words = "335 and 211 us, -37 %",
                        .number = 0.63,
                        .band = 1.25},
                       {.name = "n = 40",
                        .of = longer("40"),
                        .says = claim::above,
                        .words = "265 and 289 ms, +9.1 %",
                        .number = 1.091,
                        .band = 1.05,
                        .aim = goal{1.05, false}},
                       {.name = "n = 50",
                        .of = longer("50"),
                        .says = claim::above,
                        .words = "+9.2 %",
                        .number = 1.092,
                        .band = 1.05}},
          .remark = "n = 40 takes 331 million forks, at quick scale 1.3 million."};
}

}  // namespace

std::vector<experiment> adws_single_level() {
  return {figure_4_17(), figure_4_18(), figure_4_19(), figure_4_20(), figure_4_22(), table_4_2()};
}

}  // namespace heddle::cli::paper
