#include "cli/paper/verdict.hpp"

#include <fmt/format.h>

#include <cmath>

namespace heddle::cli::paper {
namespace {

bool within(double is, double number, double band) { return is >= number / band && is <= number * band; }

std::string band_text(const measure& m) {
  return fmt::format("{} to {}", shown(*m.number / m.band), shown(*m.number * m.band));
}

judgement by_direction(const measure& m, double is) {
  const bool right = m.says == claim::above ? is > m.pivot : is < m.pivot;
  const char* side = m.says == claim::above ? "above" : "below";
  if (!right) return {"not", fmt::format("{} is not {} {}", shown(is), side, shown(m.pivot))};
  if (!m.number) return {"same direction", fmt::format("{} {}", side, shown(m.pivot))};
  if (within(is, *m.number, m.band))
    return {"same size", fmt::format("{} {}, and within {}", side, shown(m.pivot), band_text(m))};
  return {"same direction", fmt::format("{} {}, but {} times the paper's; band {}", side, shown(m.pivot),
                                        shown(is / *m.number), band_text(m))};
}

judgement by_size(const measure& m, double is) {
  if (m.says == claim::at_most) {
    const double most = *m.number * m.band;
    if (is <= most) return {"same size", fmt::format("at most {}", shown(most))};
    return {"not", fmt::format("{} is more than {}", shown(is), shown(most))};
  }
  if (within(is, *m.number, m.band)) return {"same size", fmt::format("within {}", band_text(m))};
  return {"not", fmt::format("{} is outside {}", shown(is), band_text(m))};
}

}  // namespace

std::string shown(double number) {
  if (number == 0) return "0";
  const double size = std::abs(number);
  if (size >= 999.5) return fmt::format("{:.0f}", number);
  if (size < 1e-4) return fmt::format("{:.2e}", number);
  return fmt::format("{:.{}f}", number, std::max(0, 2 - static_cast<int>(std::floor(std::log10(size)))));
}

judgement judge(const measure& m, const figure& simulated) {
  if (!simulated.is) return {"not run", simulated.none};
  const double is = *simulated.is;
  judgement j = m.says == claim::above || m.says == claim::below ? by_direction(m, is) : by_size(m, is);
  const bool agrees = j.verdict == "same size" || (j.verdict == "same direction" && !m.number);
  if (!agrees && !m.why.empty()) j.reason += ". " + m.why;
  if (m.aim) {
    const bool met = m.aim->at_least ? is >= m.aim->bound : is <= m.aim->bound;
    j.reason += fmt::format("; aim {} {}: {}", m.aim->at_least ? "at least" : "at most", shown(m.aim->bound),
                            met ? "met" : "missed");
  }
  return j;
}

}  // namespace heddle::cli::paper
