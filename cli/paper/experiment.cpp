#include "cli/paper/experiment.hpp"

#include <algorithm>

namespace heddle::cli::paper {
namespace {

std::vector<paper>& table() {
  static std::vector<paper> all;
  return all;
}

}  // namespace

const char* name(scale s) { return s == scale::quick ? "quick" : "full"; }

registration::registration(const paper& p) { table().push_back(p); }

std::vector<paper> papers() {
  std::vector<paper> all = table();
  std::sort(all.begin(), all.end(), [](const paper& a, const paper& b) { return a.name < b.name; });
  return all;
}

std::vector<experiment> experiments() {
  std::vector<experiment> all;
  for (const paper& p : papers()) {
    for (experiment& e : p.experiments()) all.push_back(std::move(e));
  }
  return all;
}

std::vector<std::string> policies_of(const experiment& e) {
  std::vector<std::string> names;
  for (const measure& m : e.measures) {
    for (const execution& x : m.of.needs()) {
      if (std::find(names.begin(), names.end(), x.policy) == names.end()) names.push_back(x.policy);
    }
  }
  return names;
}

}  // namespace heddle::cli::paper
