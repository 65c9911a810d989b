// The table of section 3, and the figures of it that are not repeated.
#include "cli/paper/preempt.hpp"

namespace heddle::cli::paper {
namespace {

using namespace preemption;

// A figure that is not repeated, with the reason.
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

std::vector<experiment> preempt() {
  return {table_3_1(),
          table_3_1_knl(),
          figure_3_4(),
          left_out("3.5", "when timers tick, as a drawing", skylake, all, "ticks do not overlap",
                   "a drawing; tests/worker and figure 3.4 check what it shows"),
          figure_3_6(),
          figure_3_7(),
          figure_3_8(),
          figure_3_9(),
          figure_3_10(),
          figure_3_11(),
          figure_3_12(),
          figure_3_13(),
          figure_3_14()};
}

const registration preempt_entry{
    paper{"preempt", "S. Shiina: Efficient thread scheduling strategies for nested parallel programs, 2021, section 3",
          preempt}};

}  // namespace
}  // namespace heddle::cli::paper
