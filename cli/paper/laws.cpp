// Chapter 4: LAWS. Table 4.5 and the times beside it on both machines, the sizes of section 4.10 with figures 4.14 and
// 4.15, Algorithm 6.
#include <utility>

#include <fmt/format.h>

#include "cli/paper/cab.hpp"

namespace heddle::cli::paper {
namespace {

constexpr const char* laws = "laws";
constexpr const char* allocator = "laws-nc";
constexpr const char* hasty = "laws:repeats=1";
constexpr const char* cab = "cab-gto";
constexpr const char* settled = "laws: packing settled, after iterations";

// The book's grids have 8096 rows, which presumably means 8192. At quick scale they are shorter. So they are larger
// than all third-level caches together on the AMD machine (32 MB of 24) and smaller on Intel's (32 MB of 96); the
// book's are larger on both.
struct kernel {
  const char *name, *command, *variant;
  // The book's L3 misses and local accesses, LAWS over Cilk.
  double misses, local;
};

program grid_of(const kernel& k, bool intel) {
  const std::string shape = fmt::format("{} --leaf 8 --variant {}", k.command, k.variant), command = k.command;
  const char *quick = "--n 2048 --columns 1024 --iterations 6",
             *full = intel ? "--n 8192 --columns 4096 --iterations 50" : "--n 8192 --columns 1024 --iterations 100";
  if (command == "ge") {  // its work grows as the cube of its size
    quick = intel ? "--n 768" : "--n 512", full = intel ? "--n 8192" : "--n 2048";
  } else if (command == "sor") {  // it has one grid, the others have two
    quick = "--n 4096 --columns 1024 --iterations 6";
  } else if (command == "stencil6" || command == "stencil25") {
    quick = "--n 512 --columns 64 --iterations 6";
    full = intel ? "--n 8192 --columns 128 --iterations 20" : "--n 8192 --columns 64 --iterations 50";
  }
  return chen_rows(k.name, shape, quick, full);
}

experiment table_4_5(bool intel, const char* part, const std::vector<kernel>& kernels) {
  experiment e{
      .id = fmt::format("laws-tab-4.5-{}{}", intel ? "intel" : "amd", part),
      .figure = fmt::format("table 4.5 and section 4.10.1, {}", intel ? "Intel" : "AMD"),
      .title = fmt::format("LAWS, its allocator alone, and CAB-GTO, {} trees", *part == '\0' ? "regular" : "irregular"),
      .machine = intel ? xeon : opteron,
      .workers = intel ? 32u : 16u,
      .programs = {},
      .measures = {},
      .remark = std::string(chen_iterations) +
                "Local accesses: bytes that a socket's cores read from its own memory, on the socket where they are "
                "fewest; the book's straggler. Lines that other caches send do not count. Grids at quick scale have "
                "32 MB and 6 iterations: on AMD's machine larger than the third caches together, as the book's, "
                "on Intel's a third of them, where the book's are larger. GE is 512 and 768 instead of 2048 and "
                "8192."};
  std::vector<value> times;
  for (const kernel& k : kernels) {
    e.programs.push_back(grid_of(k, intel));
    times.push_back(left_of_time(k.name, laws));
    e.measures.push_back({.name = fmt::format("{}: time of laws over random_ws", k.name),
                          .of = left_of_time(k.name, laws),
                          .says = claim::below,
                          .words = intel ? "12.5 to 48.6 % less" : "23.5 to 54.2 % less"});
    e.measures.push_back({.name = fmt::format("{}: time of laws-nc over random_ws", k.name),
                          .of = left_of_time(k.name, allocator),
                          .says = claim::below,
                          .words = "less"});
    e.measures.push_back({.name = fmt::format("{}: time of laws over laws-nc", k.name),
                          .of = left_of_time(k.name, laws, allocator),
                          .says = claim::below,
                          .words = "less"});
    e.measures.push_back({.name = fmt::format("{}: time of laws over cab-gto", k.name),
                          .of = left_of_time(k.name, laws, cab),
                          .says = claim::below,
                          .words = "less"});
    e.measures.push_back({.name = fmt::format("{}: L3 misses of laws over random_ws", k.name),
                          .of = left_of_misses(k.name, laws, chen_l3),
                          .says = k.misses < 1 ? claim::below : claim::about,
                          .words = fmt::format("{:+.1f} %", 100 * (k.misses - 1)),
                          .number = k.misses});
    e.measures.push_back({.name = fmt::format("{}: local accesses, laws over random_ws", k.name),
                          .of = least_local_bytes(k.name, laws) / least_local_bytes(k.name, chen_random),
                          .says = k.local < 1 ? claim::below : claim::above,
                          .words = fmt::format("{:+.0f} %", 100 * (k.local - 1)),
                          .number = k.local});
  }
  e.measures.push_back({.name = "all: mean time of laws over random_ws",
                        .of = mean(times),
                        .says = claim::below,
                        .words = "less in each",
                        .aim = goal{0.8, false}});
  return e;
}

experiment laws_sizes(bool intel) {
  experiment e{.id = fmt::format("laws-sizes-{}", intel ? "intel" : "amd"),
               .figure = fmt::format("section 4.10.3, scalability, {}", intel ? "Intel" : "AMD"),
               .title = "what LAWS gains as grids become longer",
               .machine = intel ? xeon : opteron,
               .workers = intel ? 32u : 16u,
               .programs = {},
               .measures = {},
               .remark = std::string(chen_iterations) +
                         "Leaves of 8 rows. At quick scale the short grids have 16 MB on AMD's machine and 32 MB on "
                         "Intel's, and the long ones are four times as long (the book's 16 times)."};
  struct row {
    const char *name, *command, *variant;
    double small, large;  // the book's cuts of time
  };
  const std::vector<row> rows = intel ? std::vector<row>{{"SOR-ir", "sor", "irregular", 0.525, 0.427},
                                                         {"9P", "stencil9", "regular", 0.349, 0.247}}
                                      : std::vector<row>{{"Heat-ir", "heat", "irregular", 0.304, 0.436},
                                                         {"6P", "stencil6", "regular", 0.366, 0.458}};
  for (const row& r : rows) {
    const bool solid = std::string(r.command) == "stencil6";
    const std::string shape = fmt::format("{} --leaf 8 --variant {}", r.command, r.variant);
    const std::string columns = solid ? "--columns 64" : intel ? "--columns 4096" : "--columns 1024";
    const unsigned short_quick = solid ? 256 : intel ? (std::string(r.command) == "sor" ? 1024 : 512) : 1024;
    const unsigned short_full = intel ? 2048 : 1024;
    const std::string small = fmt::format("{} short", r.name), large = fmt::format("{} long", r.name);
    e.programs.push_back(chen_rows(small, shape, fmt::format("{} --n {} --iterations 10", columns, short_quick),
                                   fmt::format("{} --n {} --iterations 50", columns, short_full)));
    e.programs.push_back(chen_rows(large, shape, fmt::format("{} --n {} --iterations 5", columns, 4 * short_quick),
                                   fmt::format("{} --n {} --iterations 20", columns, 16 * short_full)));
    e.measures.push_back({.name = fmt::format("{}, short: time of laws over random_ws", r.name),
                          .of = left_of_time(small, laws),
                          .says = claim::below,
                          .words = fmt::format("{:.1f} % less", 100 * r.small),
                          .number = 1 - r.small});
    e.measures.push_back({.name = fmt::format("{}, long: time of laws over random_ws", r.name),
                          .of = left_of_time(large, laws),
                          .says = claim::below,
                          .words = fmt::format("{:.1f} % less", 100 * r.large),
                          .number = 1 - r.large});
    e.measures.push_back({.name = fmt::format("{}: what is left, long over short", r.name),
                          .of = left_of_time(large, laws) / left_of_time(small, laws),
                          .says = intel ? claim::above : claim::below,
                          .words = intel ? "the gain shrinks" : "the gain grows"});
  }
  return e;
}

// The misses and local accesses behind laws_sizes.
experiment laws_misses(bool intel) {
  experiment e = laws_sizes(intel);
  e.id = fmt::format("laws-{}", intel ? "4.15" : "4.14");
  e.figure = fmt::format("figure {}", intel ? "4.15" : "4.14");
  e.title = "L3 misses and local accesses of LAWS as grids become longer";
  e.measures.clear();
  for (const program& p : e.programs) {
    const bool is_short = p.name.ends_with("short"), is_9p = p.name.starts_with("9P");
    // The text gives one pair of numbers for both programs, on AMD's machine alone.
    const double misses_left = is_short ? 1 - 0.82 : 1 - 0.173, local = is_short ? 2.321 : 1.706;
    measure of_misses{.name = fmt::format("{}: L3 misses of laws over random_ws", p.name),
                      .of = left_of_misses(p.name, laws, chen_l3),
                      .says = is_9p ? claim::about : claim::below,
                      .words = is_9p ? "failed to reduce them" : "reduced",
                      .band = is_9p ? 1.1 : 2};
    measure of_local{.name = fmt::format("{}: local accesses, laws over random_ws", p.name),
                     .of = least_local_bytes(p.name, laws) / least_local_bytes(p.name, chen_random),
                     .says = claim::above,
                     .words = "increased",
                     .band = 1.5};
    if (is_9p) {
      of_misses.number = 1;
      of_misses.why =
          "At quick scale the grids have 32 and 128 MB, against caches of 96 MB together; the book's are larger";
    }
    if (is_short)
      of_local.why = "The grid fits into the third-level caches together, so little is read from memory at all";
    if (!intel) {
      of_misses.words = fmt::format("{:.1f} % fewer", 100 * (1 - misses_left));
      of_misses.number = misses_left;
      of_local.words = fmt::format("{:.1f} % more", 100 * (local - 1));
      of_local.number = local;
    }
    e.measures.push_back(std::move(of_misses));
    e.measures.push_back(std::move(of_local));
  }
  return e;
}

// The first cut by another size of cache, one level deeper each time, without tuning: all levels that there are.
experiment algorithm_6() {
  experiment e{.id = "laws-alg-6",
               .figure = "algorithm 6, figure 4.11",
               .title = "the search for the size of CF subtrees against trying all of them",
               .machine = opteron,
               .workers = 16,
               .programs = {},
               .measures = {},
               .remark =
                   "The time is of a second run in the same process, when the search has settled. All levels: "
                   "repeats=0 keeps the first cut, and cache=N moves that by a level for each half. One timing a cut: "
                   "repeats=1, as in the book, but after an iteration to warm up."};
  struct grid {
    const char *name, *command;
  };
  for (const grid& g : {grid{"Heat 1k x 512", "heat --n 1024 --columns 512 --leaf 8"},
                        grid{"Heat 4k x 512", "heat --n 4096 --columns 512 --leaf 8"},
                        grid{"SOR 1k x 512", "sor --n 1024 --columns 512 --leaf 8"},
                        grid{"9P 2k x 512", "stencil9 --n 2048 --columns 512 --leaf 8"}}) {
    e.programs.push_back(chen_rows(g.name, g.command, "--iterations 12", "--iterations 100"));
    std::vector<value> all;
    for (unsigned kib = 16 << 10; kib >= 64; kib /= 2)
      all.push_back(time(g.name, fmt::format("laws:repeats=0,cache={}", kib << 10)));
    for (const auto& [policy, how] : {std::pair{laws, ""}, std::pair{hasty, ", one timing a cut"}}) {
      e.measures.push_back({.name = fmt::format("{}: settled over the best level{}", g.name, how),
                            .of = time(g.name, policy) / least(all),
                            .says = claim::at_most,
                            .words = "finds the proper one",
                            .number = 1,
                            .band = 1.05,
                            .aim = goal{1.03, false}});
      e.measures.push_back({.name = fmt::format("{}: iterations until it settles{}", g.name, how),
                            .of = noted(g.name, policy, settled),
                            .says = claim::at_most,
                            .words = "several",
                            .number = 8,
                            .aim = goal{8, false}});
    }
  }
  return e;
}

const registration laws_entry{paper{"laws",
                                    "Q. Chen, M. Guo, Task scheduling for multi-core and parallel architectures, 2017, "
                                    "chapter 4: LAWS",
                                    laws_tables}};

}  // namespace

std::vector<experiment> laws_tables() {
  // Table 4.5: L3 misses, and local accesses of the straggler socket, LAWS over Cilk.
  const std::vector<kernel> amd{{"Heat", "heat", "regular", 4.62 / 5.72, 2.58 / 1.61},
                                {"SOR", "sor", "regular", 10.1 / 11.5, 5.71 / 3.28},
                                {"GE", "ge", "regular", 0.291 / 2.20, 0.65 / 6.1},
                                {"6P", "stencil6", "regular", 23.8 / 25.2, 15.19 / 8.15},
                                {"9P", "stencil9", "regular", 5.05 / 5.73, 2.72 / 1.72},
                                {"25P", "stencil25", "regular", 23.4 / 24.8, 12.5 / 8.32}};
  const std::vector<kernel> amd_ir{{"Heat-ir", "heat", "irregular", 5.05 / 5.74, 2.75 / 1.72},
                                   {"SOR-ir", "sor", "irregular", 8.76 / 10.1, 3.93 / 2.9},
                                   {"GE-ir", "ge", "irregular", 0.287 / 2.30, 0.47 / 5.64},
                                   {"6P-ir", "stencil6", "irregular", 23.4 / 25.4, 13.47 / 7.44},
                                   {"9P-ir", "stencil9", "irregular", 4.46 / 5.77, 2.48 / 1.53},
                                   {"25P-ir", "stencil25", "irregular", 23.5 / 24.8, 11.8 / 8.15}};
  const std::vector<kernel> intel{{"Heat", "heat", "regular", 9.96 / 11.9, 27563.0 / 9062},
                                  {"SOR", "sor", "regular", 20.1 / 23.9, 99510.0 / 79239},
                                  {"GE", "ge", "regular", 4.96 / 7.82, 145126.0 / 112344},
                                  {"6P", "stencil6", "regular", 30.7 / 34.8, 131165.0 / 110218},
                                  {"9P", "stencil9", "regular", 9.23 / 9.41, 27643.0 / 7576},
                                  {"25P", "stencil25", "regular", 22.2 / 23.1, 373682.0 / 269769}};
  const std::vector<kernel> intel_ir{{"Heat-ir", "heat", "irregular", 9.9 / 11.7, 24569.0 / 8444},
                                     {"SOR-ir", "sor", "irregular", 19.7 / 24.3, 102833.0 / 71723},
                                     {"GE-ir", "ge", "irregular", 4.97 / 8.35, 147161.0 / 121324},
                                     {"6P-ir", "stencil6", "irregular", 23.8 / 28.5, 125722.0 / 86822},
                                     {"9P-ir", "stencil9", "irregular", 9.33 / 9.42, 19406.0 / 4142},
                                     {"25P-ir", "stencil25", "irregular", 22.3 / 23.5, 381267.0 / 266848}};
  return {table_4_5(false, "", amd),
          table_4_5(false, "-ir", amd_ir),
          table_4_5(true, "", intel),
          table_4_5(true, "-ir", intel_ir),
          laws_sizes(false),
          laws_sizes(true),
          laws_misses(false),
          laws_misses(true),
          algorithm_6()};
}

}  // namespace heddle::cli::paper
