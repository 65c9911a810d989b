// The table of the ADWS thesis.
#include "cli/paper/adws.hpp"

namespace heddle::cli::paper {
namespace {

std::vector<experiment> all() {
  std::vector<experiment> table = adws_single_level();
  for (const auto part : {adws_multi_level, adws_task_maps}) {
    for (experiment& e : part()) table.push_back(std::move(e));
  }
  return table;
}

const registration adws_entry{paper{
    "adws", "S. Shiina, Efficient thread scheduling strategies for nested parallel programs, Master's thesis, 2021",
    all}};

}  // namespace
}  // namespace heddle::cli::paper
