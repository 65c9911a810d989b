// Chapter 3: CAB. Tables 3.5 and 3.7, the sweep over boundary levels, the sizes of section 3.8.
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

std::vector<experiment> cab_tables() { return {table_3_5(), table_3_7(), boundary_levels(), cab_sizes(), computing()}; }

}  // namespace heddle::cli::paper
