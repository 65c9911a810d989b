// Chen and Guo (2017), chapter 5: AATS, on machines whose cores differ in speed. Here are figure 5.13 (a) and the part
// of figure 5.11 that GA has.
#include <fmt/format.h>

#include <optional>

#include "cli/paper/experiment.hpp"

namespace heddle::cli::paper {
namespace {

constexpr const char *cilk = "random_ws:spawn=child", *pfws = "pfws", *aats = "aats", *without = "aats-np",
                     *book_order = "aats:pools=random";

// GA with that many islands of each of the three heavier loads, in batches of 128.
program ga(unsigned heavy) {
  const auto sizes = [&](unsigned batches) {
    return size{.arguments = fmt::format("--n 128 --leaf {} --iterations {}", heavy, batches)};
  };
  return {.name = fmt::format("GA {}", heavy),
          .command = "bench ga_loads",
          .quick = sizes(10),
          .full = sizes(40),
          .real = {},
          .metric = "time"};
}

measure compared(const program& p, const char* policy, const char* with, claim says, std::optional<double> number,
                 const char* words) {
  return {.name = fmt::format("{}: time of {} over {}", p.name, policy, with),
          .of = time(p.name, policy) / time(p.name, with),
          .says = says,
          .words = words,
          .number = number};
}

experiment scalability() {
  experiment e{.id = "aats-5.13",
               .figure = "figure 5.13 (a)",
               .title = "GA with more and more heavy islands, 8 cores at 2.5 and 8 at 0.8 GHz",
               .machine = "opteron-8380-a-8-0-0-8",
               .workers = 16,
               .programs = {},
               .measures = {},
               .remark =
                   "The book gives the gain at the smallest and the largest number of heavy islands, and tells of "
                   "the numbers only 20, where RTS is 54.1 % slower than Cilk. The loads between the heaviest and "
                   "the lightest are ours. Cilk is random stealing, child first."};
  for (const unsigned heavy : {8u, 16u, 20u, 32u}) {
    const program p = ga(heavy);
    e.programs.push_back(p);
    if (heavy == 8) e.measures.push_back(compared(p, aats, cilk, claim::below, 1 - 0.554, "55.4 % less"));
    else if (heavy == 32) e.measures.push_back(compared(p, aats, cilk, claim::below, 1 - 0.172, "17.2 % less"));
    else e.measures.push_back(compared(p, aats, cilk, claim::below, std::nullopt, "less"));
    e.measures.push_back(compared(p, book_order, cilk, claim::below, std::nullopt, "less, with random pools"));
    e.measures.push_back(compared(p, aats, pfws, claim::below, std::nullopt, "less"));
  }
  return e;
}

experiment topology(const char* setting) {
  const program p = ga(16);
  experiment e{
      .id = fmt::format("aats-5.11-ga-{}", setting),
      .figure = "figure 5.11, GA",
      .title = fmt::format("GA on 16 cores with frequencies {}", setting),
      .machine = fmt::format("opteron-8380-{}", setting),
      .workers = 16,
      .programs = {p},
      .measures = {compared(p, aats, cilk, claim::below, std::nullopt, "10.7 to 66.1 % less"),
                   compared(p, aats, pfws, claim::below, std::nullopt, "10.7 to 66.1 % less"),
                   compared(p, without, aats, claim::above, std::nullopt, "always worse; GA on A-4-4-4-4 up to 45.8 %"),
                   compared(p, without, cilk, claim::below, std::nullopt, "better than Cilk")},
      .remark =
          "The book does not tell GA's loads here; these are those of figure 5.13 with 16 islands of each "
          "heavier load."};
  return e;
}

experiment symmetric() {
  const program p = ga(16);
  return {.id = "aats-5.11-ga-a-16-0-0-0",
          .figure = "figure 5.11, GA",
          .title = "GA on 16 equal cores",
          .machine = "opteron-8380-4x4",
          .workers = 16,
          .programs = {p},
          .measures = {compared(p, aats, pfws, claim::about, 1, "the same")},
          .remark = "Where all cores are alike, aats is pfws."};
}

std::vector<experiment> chapter() {
  std::vector<experiment> all{scalability()};
  for (const char* setting : {"a-2-2-2-10", "a-4-4-4-4", "a-2-0-0-14", "a-4-0-0-12", "a-8-0-0-8", "a-12-0-0-4"})
    all.push_back(topology(setting));
  all.push_back(symmetric());
  return all;
}

const registration aats_entry{paper{"aats",
                                    "Q. Chen, M. Guo, Task scheduling for multi-core and parallel architectures, 2017, "
                                    "chapter 5: AATS",
                                    chapter}};

}  // namespace
}  // namespace heddle::cli::paper
