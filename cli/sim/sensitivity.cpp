#include "cli/sim/sensitivity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <vector>

#include "cli/progress.hpp"
#include "cli/scratch.hpp"
#include "machine/model.hpp"

namespace heddle::cli {

namespace {

struct varied {
  machine::figure what;
  double at_least{0}, at_most{0};
  double span(double now) const { return std::max(std::abs(at_least - now), std::abs(at_most - now)); }
};

// Returns true for a single key, which can be laid over a machine. Values in lists of tables cannot.
bool has_a_key_of_its_own(const std::string& key) {
  return !key.starts_with("link.") && !key.starts_with("node.") && !key.starts_with("core.");
}

std::string value_text(const machine::figure& f, double value) {
  return f.key == "overlap" ? fmt::format("{}", std::lround(value)) : fmt::format("{:.9g}", value);
}

}  // namespace

void print_sensitivity(const std::string& machine, const std::string& what,
                       const std::function<double(const std::string& machine)>& result) {
  const machine::model m = machine::model::from_name(machine);
  std::vector<varied> all;
  std::string fixed;
  for (const machine::figure& f : m.figures) {
    if (f.from != machine::figure::origin::assumed && f.from != machine::figure::origin::untold) continue;
    if (f.from == machine::figure::origin::assumed && f.least < f.most && has_a_key_of_its_own(f.key))
      all.push_back({f});
    else if (f.least == 0) fixed += " " + f.key;
  }
  const scratch_folder scratch("heddle-sensitivity");
  const std::string file = scratch.file("figure.toml");
  progress bar("figures", 2 * all.size() + 1);
  const auto with = [&](const machine::figure& f, double value) {
    std::ofstream(file) << f.key << " = " << value_text(f, value) << "\n";
    const double got = result(machine.empty() ? "this+" + file : machine + "+" + file);
    bar.advance();
    return got;
  };
  const double now = result(machine);
  bar.advance();
  for (varied& v : all) {
    v.at_least = with(v.what, v.what.least);
    v.at_most = with(v.what, v.what.most);
  }
  bar.clear();
  std::stable_sort(all.begin(), all.end(), [&](const varied& a, const varied& b) { return a.span(now) > b.span(now); });
  fmt::print("\n{}: {:.3f}\n{:<24}{:>12}{:>10}{:>12}{:>10}\n", what, now, "assumed figure", "least", "", "most", "");
  double low = now, high = now;
  for (const varied& v : all) {
    fmt::print("{:<24}{:>12.6g}{:>10.3f}{:>12.6g}{:>10.3f}\n", v.what.key, v.what.least, v.at_least, v.what.most,
               v.at_most);
    low = std::min({low, v.at_least, v.at_most});
    high = std::max({high, v.at_least, v.at_most});
  }
  fmt::print("between {:.3f} and {:.3f}, each figure alone\n", low, high);
  if (!fixed.empty()) fmt::print("not varied, no range or no origin is told:{}\n", fixed);
}

}  // namespace heddle::cli
