// Locality-guided work stealing (Acar, Blelloch, Blumofe 2000), which section 3.2 of the book names among prior
// solutions, without a figure. So every measure is beyond the book: directions alone, from what the algorithm is for.
#include <string>
#include <tuple>

#include <fmt/format.h>

#include "cli/paper/cab.hpp"

namespace heddle::cli::paper {
namespace {

constexpr const char* guided = "locality_ws";
constexpr const char* patient = "locality_ws:patience=2";
constexpr const char* beyond = "beyond the book, which names the algorithm and gives no figure";

}  // namespace

experiment cab_locality() {
  experiment e{
      .id = "cab-locality",
      .figure = "section 3.2",
      .title = "locality-guided work stealing, which the book names among prior solutions, beside CAB and LAWS",
      .machine = opteron,
      .workers = 16,
      .programs = {},
      .measures = {},
      .remark = std::string(chen_iterations) +
                "Grids of 1024 x 512 and leaves of 8 rows, as in table 3.7. Heat has 8 MB and SOR 4; the "
                "cores' own caches have 9 MB together, those of the sockets 24. The book says of the "
                "algorithm that it was made for one socket, and does not heed that there are several."};
  for (const auto& [name, command, variant] :
       {std::tuple{"Heat", "heat", "regular"}, {"SOR", "sor", "regular"}, {"SOR-ir", "sor", "irregular"}}) {
    e.programs.push_back(chen_rows(name,
                                   fmt::format("{} --n 1024 --columns 512 --leaf 8 --variant {}", command, variant),
                                   "--iterations 20", "--iterations 200"));
    for (const char* policy : {guided, patient}) {
      e.measures.push_back({.name = fmt::format("{}: time of {} over random_ws", name, policy),
                            .of = left_of_time(name, policy),
                            .says = claim::below,
                            .words = beyond});
      for (const char* level : {"l2", "l3"}) {
        e.measures.push_back(
            {.name = fmt::format("{}: {} misses of {} over random_ws", name, level[1] == '2' ? "L2" : "L3", policy),
             .of = left_of_misses(name, policy, level),
             .says = claim::below,
             .words = beyond});
      }
    }
    for (const char* rival : {"cab-gto", "laws"}) {
      e.measures.push_back({.name = fmt::format("{}: time of {} over locality_ws", name, rival),
                            .of = left_of_time(name, rival, guided),
                            .says = claim::below,
                            .words = "beyond the book, which says that the algorithm does not heed sockets"});
    }
  }
  return e;
}

}  // namespace heddle::cli::paper
