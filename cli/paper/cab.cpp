// Chapter 3: CAB. Tables 3.5 and 3.7, figures 3.13, 3.14, 3.18, 3.19, 3.21 and 3.23, the sweep over boundary levels,
// the sizes of section 3.8.
#include "cli/paper/cab.hpp"

#include <fmt/format.h>

namespace heddle::cli::paper {
namespace {

constexpr const char* fto = "cab-fto";
constexpr const char* gto = "cab-gto";

// The book's counts: misses, and the time after over before where the book tells it.
struct counts {
  const char* name;
  double l2, l3;
};

void add_misses(experiment& e, const std::string& program, const std::string& policy, double l2, double l3,
                std::optional<goal> aim) {
  e.measures.push_back({.name = fmt::format("{}: L3 misses of {} over random_ws", program, policy),
                        .of = left_of_misses(program, policy, "l3"),
                        .says = claim::below,
                        .words = fmt::format("{:.1f} % fewer", 100 * (1 - l3)),
                        .number = l3,
                        .band = 2,
                        .aim = aim});
  e.measures.push_back({.name = fmt::format("{}: L2 misses of {} over random_ws", program, policy),
                        .of = left_of_misses(program, policy, "l2"),
                        .says = claim::below,
                        .words = fmt::format("{:.1f} % fewer", 100 * (1 - l2)),
                        .number = l2});
}

experiment table_3_5() {
  experiment e{
      .id = "cab-tab-3.5",
      .figure = "table 3.5",
      .title = "misses of CAB-FTO, trees that are full, 1024 x 1024",
      .machine = opteron,
      .workers = 16,
      .programs = {chen_rows("GE", "ge --leaf 8", "--n 512", "--n 1024"),
                   {.name = "Mergesort",
                    .command = "bench mergesort",
                    .quick = {.arguments = "--n 1048576"},
                    .full = {.arguments = "--n 1048576"},
                    .real = {}},
                   chen_rows("Heat", "heat --n 1024 --columns 1024 --leaf 64", "--iterations 10", "--iterations 200"),
                   chen_rows("SOR", "sor --n 1024 --columns 1024 --leaf 64", "--iterations 10", "--iterations 200")},
      .measures = {},
      .remark = std::string(chen_iterations) + "GE at quick scale is 512 x 512."};
  for (const counts& c : {counts{"GE", 2617207.0 / 4203604, 180145.0 / 1545310},
                          counts{"Mergesort", 3448768.0 / 5717785, 998605.0 / 1974802},
                          counts{"Heat", 5577723.0 / 8457899, 755786.0 / 2812464},
                          counts{"SOR", 10863876.0 / 14134418, 1256203.0 / 5259771}}) {
    add_misses(e, c.name, fto, c.l2, c.l3, {});
    e.measures.push_back({.name = fmt::format("{}: time of cab-fto over random_ws", c.name),
                          .of = left_of_time(c.name, fto),
                          .says = claim::below,
                          .words = "10 to 55 % less"});
  }
  return e;
}

experiment table_3_7() {
  const auto grid = [](const char* name, const char* kernel, const char* variant) {
    return chen_rows(name, fmt::format("{} --n 1024 --columns 512 --leaf 8 --variant {}", kernel, variant),
                     "--iterations 20", "--iterations 200");
  };
  experiment e{.id = "cab-tab-3.7",
               .figure = "table 3.7",
               .title = "misses of CAB-GTO, iterative programs, 1024 x 512",
               .machine = opteron,
               .workers = 16,
               .programs = {chen_rows("GE", "ge --leaf 8 --variant regular", "--n 512", "--n 1024"),
                            chen_rows("GE-ir", "ge --leaf 8 --variant irregular", "--n 512", "--n 1024"),
                            grid("Heat", "heat", "regular"), grid("Heat-ir", "heat", "irregular"),
                            grid("SOR", "sor", "regular"), grid("SOR-ir", "sor", "irregular")},
               .measures = {},
               .remark = std::string(chen_iterations) + "GE at quick scale is 512 x 512."};
  for (const counts& c : {counts{"GE", 50.3 / 58.8, 2.94 / 14.5}, counts{"GE-ir", 20.0 / 37.1, 2.15 / 10.7},
                          counts{"Heat", 67.5 / 79.6, 5.90 / 24.8}, counts{"Heat-ir", 67.6 / 78.7, 3.72 / 29.7},
                          counts{"SOR", 66.2 / 85.0, 4.75 / 29.6}, counts{"SOR-ir", 67.4 / 85.5, 8.27 / 30.7}}) {
    add_misses(e, c.name, gto, c.l2, c.l3, goal{0.4, false});
    e.measures.push_back({.name = fmt::format("{}: time of cab-gto over random_ws", c.name),
                          .of = left_of_time(c.name, gto),
                          .says = claim::below,
                          .words = "35.3 to 74.4 % less"});
    e.measures.push_back({.name = fmt::format("{}: L3 misses of cab-gto:soid=profile over random_ws", c.name),
                          .of = left_of_misses(c.name, "cab-gto:soid=profile", "l3"),
                          .says = claim::below,
                          .words = fmt::format("{:.1f} % fewer, sizes measured in iteration 1", 100 * (1 - c.l3)),
                          .number = c.l3,
                          .band = 2,
                          .aim = goal{0.4, false}});
  }
  return e;
}

// The innermost column of table 3.7, in an experiment of its own.
experiment table_3_7_l1() {
  experiment e = table_3_7();
  e.id = "cab-tab-3.7-l1";
  e.figure = "table 3.7, L1";
  e.title = "misses of the L1 under CAB-GTO, iterative programs, 1024 x 512";
  e.measures.clear();
  struct count {
    const char* name;
    double left;
  };
  for (const count& c : {count{"GE", 53.9 / 60.8}, count{"GE-ir", 23.9 / 37.2}, count{"Heat", 71.1 / 82.7},
                         count{"Heat-ir", 71.3 / 82.2}, count{"SOR", 70.7 / 88.5}, count{"SOR-ir", 73.6 / 89.8}}) {
    e.measures.push_back({.name = fmt::format("{}: L1 misses of cab-gto over random_ws", c.name),
                          .of = left_of_misses(c.name, gto, "l1"),
                          .says = claim::below,
                          .words = fmt::format("{:.1f} % fewer", 100 * (1 - c.left)),
                          .number = c.left});
  }
  return e;
}

// Programs of one iteration: sizes come from the whole and the branching of the tree, and nothing is measured.
experiment one_iteration() {
  const auto grid = [](const char* name, const char* kernel, const char* variant) {
    return chen_rows(
        name, fmt::format("{} --n 1024 --columns 512 --leaf 8 --variant {} --iterations 1", kernel, variant), "", "");
  };
  experiment e{.id = "cab-3.19",
               .figure = "figure 3.19",
               .title = "CAB-GTO by branching, programs of one iteration, 1024 x 512",
               .machine = opteron,
               .workers = 16,
               .programs = {chen_rows("GE", "ge --leaf 8 --variant regular", "--n 512", "--n 1024"),
                            chen_rows("GE-ir", "ge --leaf 8 --variant irregular", "--n 512", "--n 1024"),
                            grid("Heat", "heat", "regular"), grid("Heat-ir", "heat", "irregular"),
                            grid("SOR", "sor", "regular"), grid("SOR-ir", "sor", "irregular")},
               .measures = {},
               .remark =
                   "The time is of a second run in the same process, so its data lies where the first one left it. GE "
                   "cannot have one iteration: its steps are iterations, of which none is measured here either."};
  std::vector<value> all;
  for (const program& p : e.programs) {
    all.push_back(left_of_time(p.name, "cab-gto:soid=branching"));
    e.measures.push_back({.name = fmt::format("{}: time of cab-gto:soid=branching over random_ws", p.name),
                          .of = all.back(),
                          .says = claim::below,
                          .words = "22.3 to 55.1 % less"});
    e.measures.push_back({.name = fmt::format("{}: L3 misses of cab-gto:soid=branching over random_ws", p.name),
                          .of = left_of_misses(p.name, "cab-gto:soid=branching", "l3"),
                          .says = claim::below,
                          .words = "fewer"});
  }
  e.measures.push_back({.name = "all: mean time of cab-gto:soid=branching over random_ws",
                        .of = mean(all),
                        .says = claim::below,
                        .words = "38.1 % less",
                        .number = 1 - 0.381});
  return e;
}

// The sizes that CAB-GTO measures in the first iteration against those that the tree's data has: 16 MiB for the root,
// half of that for each task of the next level, and so on.
experiment measured_sizes() {
  experiment e{
      .id = "cab-3.18",
      .figure = "figure 3.18",
      .title = "sizes of involved data as measured, Heat 2048 x 512",
      .machine = opteron,
      .workers = 16,
      .programs = {chen_rows("Heat", "heat --n 2048 --columns 512 --leaf 8", "--iterations 2", "--iterations 200")},
      .measures = {},
      .remark =
          "Mean of the tasks of a level, as cab-gto:soid=profile computes them from misses (Eq. 3.6), in "
          "the first iteration of the first run."};
  constexpr double whole = 2048.0 * 512 * 8 * 2;
  for (unsigned level = 1; level <= 4; ++level) {
    const double real = whole / (1 << (level - 1));
    e.measures.push_back(
        {.name = fmt::format("level {}: measured size over the real one", level),
         .of = 1 / real *
               noted("Heat", "cab-gto:soid=profile", fmt::format("cab-gto: mean bytes of a task of level {}", level)),
         .says = claim::about,
         .words = "close",
         .number = 1,
         .band = 1.25});
  }
  return e;
}

experiment fto_sizes() {
  experiment e{
      .id = "cab-fto-sizes",
      .figure = "figures 3.13 and 3.14",
      .title = "what CAB-FTO gains as square grids become larger",
      .machine = opteron,
      .workers = 16,
      .programs = {},
      .measures = {},
      .remark = std::string(chen_iterations) +
                "Leaves of 32 rows, because the book's stop when a part is smaller than 64. At quick scale the "
                "large grid is 2k x 2k, 64 MB for Heat and 32 for SOR; the book's is 4k x 4k."};
  struct kernel {
    const char *name, *command;
    double small, large;  // the book's cuts of time
  };
  for (const kernel& k : {kernel{"Heat", "heat", 0.546, 0.14}, kernel{"SOR", "sor", 0.687, 0.136}}) {
    const std::string small = fmt::format("{} 512", k.name), large = fmt::format("{} large", k.name);
    const std::string shape = fmt::format("{} --leaf 32", k.command);
    e.programs.push_back(chen_rows(small, shape + " --n 512 --columns 512", "--iterations 20", "--iterations 200"));
    e.programs.push_back(
        chen_rows(large, shape, "--n 2048 --columns 2048 --iterations 3", "--n 4096 --columns 4096 --iterations 20"));
    for (const auto& [program, cut] : {std::pair{small, k.small}, std::pair{large, k.large}}) {
      e.measures.push_back({.name = fmt::format("{}: time of cab-fto over random_ws", program),
                            .of = left_of_time(program, fto),
                            .says = claim::below,
                            .words = fmt::format("{:.1f} % less", 100 * cut),
                            .number = 1 - cut});
    }
    e.measures.push_back({.name = fmt::format("{}: what is left, large over 512", k.name),
                          .of = left_of_time(large, fto) / left_of_time(small, fto),
                          .says = claim::above,
                          .words = "the gain shrinks"});
    // The text gives one pair of numbers for both programs.
    for (const auto& [program, cut] : {std::pair{small, 0.682}, std::pair{large, 0.106}}) {
      e.measures.push_back({.name = fmt::format("{}: L3 misses of cab-fto over random_ws", program),
                            .of = left_of_misses(program, fto, "l3"),
                            .says = claim::below,
                            .words = fmt::format("{:.1f} % fewer", 100 * cut),
                            .number = 1 - cut,
                            .band = 2});
    }
  }
  return e;
}

// Heat with leaves of 64 rows. Eq. 3.4 gives level 3 for the first two sizes and 4 for the third; the book's largest
// size has 5.
experiment boundary_levels() {
  experiment e{.id = "cab-levels",
               .figure = "section 3.8, sweep of L_b",
               .title = "Heat under CAB-FTO with each boundary level",
               .machine = opteron,
               .workers = 16,
               .programs = {},
               .measures = {},
               .remark = std::string(chen_iterations) +
                         "Rows by columns; leaves of 64 rows, so that the deepest level has as many tasks as the grid "
                         "has leaves. The book's largest size is 3k x 2k."};
  struct grid {
    const char* name;
    unsigned rows, columns, deepest;
    bool quick;
  };
  for (const grid& g : {grid{"1k x 512", 1024, 512, 5, true}, grid{"1k x 1k", 1024, 1024, 5, true},
                        grid{"2k x 1k", 2048, 1024, 6, true}, grid{"3k x 2k", 3072, 2048, 7, false}}) {
    program p = chen_rows(g.name, fmt::format("heat --n {} --columns {} --leaf 64", g.rows, g.columns),
                          "--iterations 6", "--iterations 50");
    if (!g.quick) p.quick.left_out = "96 MB at every level takes too long at this scale";
    e.programs.push_back(std::move(p));
    std::vector<value> others;
    for (unsigned level = 1; level <= g.deepest; ++level)
      others.push_back(time(g.name, fmt::format("cab-fto:level={}", level)));
    e.measures.push_back({.name = fmt::format("{}: computed level over the best one", g.name),
                          .of = time(g.name, fto) / least(others),
                          .says = claim::at_most,
                          .words = "the computed L_b is best",
                          .number = 1,
                          .band = 1.05});
    e.measures.push_back({.name = fmt::format("{}: level 1 over the computed one", g.name),
                          .of = others.front() / time(g.name, fto),
                          .says = claim::above,
                          .words = "one socket works alone"});
    e.measures.push_back({.name = fmt::format("{}: level {} over the computed one", g.name, g.deepest),
                          .of = others.back() / time(g.name, fto),
                          .says = claim::above,
                          .words = "one worker a socket"});
  }
  return e;
}

experiment cab_sizes() {
  experiment e{.id = "cab-sizes",
               .figure = "section 3.8, scalability of CAB-GTO",
               .title = "what CAB-GTO gains as grids of 512 columns become longer",
               .machine = opteron,
               .workers = 16,
               .programs = {},
               .measures = {},
               .remark = std::string(chen_iterations) +
                         "Leaves of 8 rows. The book's largest is 8k; at quick scale Heat has 4k and SOR 8k, 32 MB "
                         "on sockets of 6 MB."};
  struct kernel {
    const char *name, *command, *variant;
    double small, large;  // the book's cuts of time, at 1k and 8k
  };
  for (const kernel& k :
       {kernel{"Heat", "heat", "regular", 0.404, 0.123}, kernel{"SOR", "sor", "regular", 0.561, 0.211},
        kernel{"Heat-ir", "heat", "irregular", 0.353, 0.114}, kernel{"SOR-ir", "sor", "irregular", 0.449, 0.18}}) {
    const std::string shape = fmt::format("{} --columns 512 --leaf 8 --variant {}", k.command, k.variant);
    const std::string small = fmt::format("{} 1k", k.name), large = fmt::format("{} long", k.name);
    e.programs.push_back(chen_rows(small, shape + " --n 1024", "--iterations 20", "--iterations 200"));
    // The other programs have two grids.
    const bool one_grid = std::string(k.command) == "sor";
    e.programs.push_back(chen_rows(large, shape, one_grid ? "--n 8192 --iterations 4" : "--n 4096 --iterations 4",
                                   "--n 8192 --iterations 100"));
    e.measures.push_back({.name = fmt::format("{}, 1k rows: time of cab-gto over random_ws", k.name),
                          .of = left_of_time(small, gto),
                          .says = claim::below,
                          .words = fmt::format("{:.1f} % less", 100 * k.small),
                          .number = 1 - k.small});
    e.measures.push_back({.name = fmt::format("{}, long: time of cab-gto over random_ws", k.name),
                          .of = left_of_time(large, gto),
                          .says = claim::below,
                          .words = fmt::format("{:.1f} % less at 8k", 100 * k.large),
                          .number = 1 - k.large});
    e.measures.push_back({.name = fmt::format("{}: what is left, long over 1k", k.name),
                          .of = left_of_time(large, gto) / left_of_time(small, gto),
                          .says = claim::above,
                          .words = "the gain shrinks"});
  }
  return e;
}

// The misses behind cab-sizes.
experiment misses_by_size() {
  experiment e = cab_sizes();
  e.id = "cab-3.21";
  e.figure = "figures 3.21 and 3.23";
  e.title = "misses of CAB-GTO as grids of 512 columns become longer";
  e.measures.clear();
  std::erase_if(e.programs,
                [](const program& p) { return p.name.starts_with("SOR ") || p.name.starts_with("Heat-ir"); });
  struct row {
    const char* program;
    double l3, l2;  // the book's cuts, at 1k and 8k
  };
  for (const row& r : {row{"Heat 1k", 0.761, 0.152}, row{"Heat long", 0.559, 0.036}, row{"SOR-ir 1k", 0.731, 0.212},
                       row{"SOR-ir long", 0.382, 0.052}})
    add_misses(e, r.program, gto, 1 - r.l2, 1 - r.l3, {});
  for (const char* name : {"Heat", "SOR-ir"}) {
    const std::string small = fmt::format("{} 1k", name), large = fmt::format("{} long", name);
    e.measures.push_back({.name = fmt::format("{}: L3 misses that are left, long over 1k", name),
                          .of = left_of_misses(large, gto, "l3") / left_of_misses(small, gto, "l3"),
                          .says = claim::above,
                          .words = "the gain shrinks"});
  }
  return e;
}

// Runs only on the machine at hand, cut into two sockets of its own, because there must be something to decide.
experiment computing() {
  experiment e{.id = "cab-computing",
               .figure = "sections 3.8 and 4.10.5",
               .title = "what CAB and LAWS cost programs that compute",
               .machine = opteron,
               .workers = 16,
               .programs = {},
               .measures = {},
               .remark =
                   "Sizes are ours; the book tells those of Queens alone (20 and 15). Where the machine has no "
                   "counters, nothing is measured and no program falls back; cab and laws then cut by the "
                   "number of sockets, which are two halves of the workers (sockets=2)."};
  struct kernel {
    const char *name, *quick, *real;
  };
  for (const kernel& k :
       {kernel{"Queens", "nqueens --n 10", "nqueens --n 13"}, kernel{"FFT", "fft --n 65536", "fft"},
        kernel{"Cholesky", "cholesky --n 256", "cholesky"}, kernel{"Mandelbrot", "mandelbrot --n 256", "mandelbrot"},
        kernel{"GA", "ga", "ga"}, kernel{"Knapsack", "knapsack", "knapsack"}, kernel{"CK", "checkers", "checkers"}}) {
    e.programs.push_back({.name = k.name,
                          .command = fmt::format("bench {}", k.quick),
                          .quick = {.arguments = "", .left_out = "the figure is one of costs that are measured"},
                          .full = {.arguments = "", .left_out = "the figure is one of costs that are measured"},
                          .real = fmt::format("bench {}", k.real)});
    for (const auto& [policy, most] : {std::pair{"cab-gto:sockets=2", 1.02}, std::pair{"laws:sockets=2", 1.03}}) {
      e.measures.push_back({.name = fmt::format("{}: time of {} over random_ws", k.name, policy),
                            .of = left_of_time(k.name, policy),
                            .says = claim::at_most,
                            .words = most < 1.025 ? "1 to 2 % more" : "less than 3 % more",
                            .number = most,
                            .band = 1.05,
                            .aim = goal{1.01, false}});
    }
  }
  return e;
}

const registration cab_entry{paper{"cab",
                                   "Q. Chen, M. Guo, Task scheduling for multi-core and parallel architectures, 2017, "
                                   "chapter 3: CAB",
                                   cab_tables}};

}  // namespace

std::vector<experiment> cab_tables() {
  return {table_3_5(), table_3_7(), table_3_7_l1(),   one_iteration(), measured_sizes(), boundary_levels(),
          fto_sizes(), cab_sizes(), misses_by_size(), computing(),     cab_locality()};
}

}  // namespace heddle::cli::paper
