// Appendix B: which worker has which piece of a grid, and the effect of that on caches.
#include "cli/paper/adws.hpp"

namespace heddle::cli::paper {
namespace {

// The thesis draws N = 4096; see same_share.
program grid() {
  return heat2d("4096", "--n 2944 --touch interleave", "8", "30",
                "bench heat2d --n 1024 --iterations 20 --touch interleave");
}

experiment figure_b_1() {
  const auto together = [](const std::string& policy, int sweep = -1) {
    return neighbours("4096", policy, place::node, sweep);
  };
  return {.id = "adws-B.1",
          .figure = "figure B.1",
          .title = "task map of heat2d: which worker has which block",
          .machine = machine4,
          .workers = 64,
          .programs = {grid()},
          .measures = {{.name = "neighbours on one node: adws over constrained_ws",
                        .of = together("adws") / together("constrained_ws"),
                        .says = claim::above,
                        .words = "better locality"},
                       {.name = "neighbours on one node: adws over random_ws",
                        .of = together("adws") / together("random_ws"),
                        .says = claim::above,
                        .words = "close tasks in the same node"},
                       {.name = "constrained_ws: neighbours on one worker, after RelWS over the first sweep",
                        .of = neighbours("4096", "constrained_ws", place::worker, 6) /
                              neighbours("4096", "constrained_ws", place::worker, 0),
                        .says = claim::below,
                        .words = "decomposed into smaller parts"},
                       {.name = "adws:steal=off: blocks with the same worker in all sweeps",
                        .of = steady("4096", no_steal),
                        .says = claim::about,
                        .words = "deterministic allocation",
                        .number = 1,
                        .band = 1},
                       {.name = "adws: blocks moved in a sweep",
                        .of = moved("4096", "adws"),
                        .says = claim::below,
                        .words = "almost deterministic",
                        .pivot = 0.5}},
          .remark = "The thesis draws N = 4096. " + std::string(same_share)};
}

experiment figure_b_3() {
  const auto ratio = [](const std::string& policy) { return misses("4096", policy, "l3") / accesses("4096", policy); };
  return {.id = "adws-B.3",
          .figure = "figure B.3",
          .title = "heat2d: cache misses, and blocks moved from the iteration before",
          .machine = machine4,
          .workers = 64,
          .programs = {grid()},
          .measures = {{.name = "misses of the last level: constrained_ws over adws",
                        .of = ratio("constrained_ws") / ratio("adws"),
                        .says = claim::above,
                        .words = "more than double",
                        .pivot = 2},
                       {.name = "misses of the last level: constrained_ws over random_ws",
                        .of = ratio("constrained_ws") / ratio("random_ws"),
                        .says = claim::below,
                        .words = "quite smaller"},
                       {.name = "constrained_ws: blocks moved, fifth RelWS sweep over the first",
                        .of = moved("4096", "constrained_ws", 5) / moved("4096", "constrained_ws", 1),
                        .says = claim::below,
                        .words = "decreases, converges"},
                       {.name = "constrained_ws: blocks moved, fifth RelWS sweep",
                        .of = moved("4096", "constrained_ws", 5),
                        .says = claim::above,
                        .words = "at least about 5 %",
                        .pivot = 0.05,
                        .why = "Modelled cores take the same time for the same work, so blocks settle; a machine's own "
                               "noise goes on moving them"},
                       {.name = "constrained_ws: blocks moved, StOWS",
                        .of = moved("4096", "constrained_ws", 7),
                        .says = claim::below,
                        .words = "tasks are not moved",
                        .pivot = 0.01}},
          .remark =
              "Figure B.2 draws the blocks that moved, which the last rows count. The thesis has N = 4096 and 1,000 "
              "iterations; which cache it counts is not told, here the last level. " +
              std::string(same_share)};
}

}  // namespace

std::vector<experiment> adws_task_maps() { return {figure_b_1(), figure_b_3()}; }

}  // namespace heddle::cli::paper
