#include "cli/paper/experiment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace heddle::cli::paper {
namespace {

std::vector<paper>& table() {
  static std::vector<paper> all;
  return all;
}

}  // namespace

const char* name(scale s) {
  switch (s) {
    case scale::quick: return "quick";
    case scale::medium: return "medium";
    case scale::full: return "full";
  }
  return "";
}

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

const program& program_of(const experiment& e, const std::string& name) {
  const auto found =
      std::find_if(e.programs.begin(), e.programs.end(), [&](const program& p) { return p.name == name; });
  if (found == e.programs.end()) throw std::logic_error(fmt::format("{}: no program '{}' is declared", e.id, name));
  return *found;
}

namespace {

const std::optional<size>& beside_of(const program& p, scale s) {
  if (s == scale::full) return p.full_beside;
  return s == scale::medium && p.medium ? p.medium_beside : p.quick_beside;
}

}  // namespace

bool has_beside(const program& p, scale s) { return beside_of(p, s).has_value(); }

const size& size_at(const program& p, scale s, bool beside) {
  if (beside && has_beside(p, s)) return *beside_of(p, s);
  if (s == scale::full) return p.full;
  return s == scale::medium && p.medium ? *p.medium : p.quick;
}

std::string command_at(const program& p, scale s, bool beside) {
  const size& z = size_at(p, s, beside);
  return z.arguments.empty() ? p.command : p.command + " " + z.arguments;
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
