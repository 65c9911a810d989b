#include "cli/paper/verdict.hpp"

#include <fmt/format.h>

#include <cmath>

namespace heddle::cli::paper {
namespace {

enum class side : std::uint8_t { papers, other, unknown };

bool has_direction(const measure& m) { return m.says == claim::above || m.says == claim::below; }

std::string band_text(const measure& m) {
  return fmt::format("{} to {}", shown(*m.number / m.band), shown(*m.number * m.band));
}

// Returns why an interval decides nothing.
std::string open_at(const interval& i, const std::string& what) {
  if (!i.known())
    return fmt::format("{}: {} run{} tell{} no interval", shown(i.median), i.figures, i.figures == 1 ? "" : "s",
                       i.figures == 1 ? "s" : "");
  return fmt::format("{} to {} holds {}", shown(i.low), shown(i.high), what);
}

side direction(const measure& m, const interval& i) {
  if (i.above(m.pivot)) return m.says == claim::above ? side::papers : side::other;
  if (i.below(m.pivot)) return m.says == claim::below ? side::papers : side::other;
  return side::unknown;
}

// An interval in the band is the paper's size; one outside is not.
side size_of(const measure& m, const interval& i) {
  const double low = *m.number / m.band, high = *m.number * m.band;
  if (!i.known()) return side::unknown;
  if (i.low >= low && i.high <= high) return side::papers;
  return i.high < low || i.low > high ? side::other : side::unknown;
}

judgement by_direction(const measure& m, const interval& i) {
  const std::string pivot = shown(m.pivot);
  const std::string where = fmt::format("{} {}", m.says == claim::above ? "above" : "below", pivot);
  const side right = direction(m, i);
  if (right == side::unknown) return {"undecided", open_at(i, pivot), {}};
  if (right == side::other) return {"not", fmt::format("{} is not {}", shown(i.median), where), {}};
  if (!m.number) return {"same direction", where, {}};
  const side size = size_of(m, i);
  if (size == side::papers) return {"same size", fmt::format("{}, and within {}", where, band_text(m)), {}};
  if (size == side::unknown)
    return {"same direction", fmt::format("{}; size undecided, band {}", where, band_text(m)), {}};
  return {"same direction",
          fmt::format("{}, but {} times the paper's; band {}", where, shown(i.median / *m.number), band_text(m)),
          {}};
}

judgement by_size(const measure& m, const interval& i) {
  const side size = size_of(m, i);
  if (size == side::papers) return {"same size", fmt::format("within {}", band_text(m)), {}};
  if (m.says == claim::at_most) {
    const double most = *m.number * m.band;
    if (i.known() && i.high <= most)
      return {"same direction", fmt::format("at most {}, but not within {}", shown(most), band_text(m)), {}};
    if (i.above(most)) return {"not", fmt::format("{} is more than {}", shown(i.median), shown(most)), {}};
    return {"undecided", open_at(i, shown(most)), {}};
  }
  if (size == side::other) return {"not", fmt::format("{} is outside {}", shown(i.median), band_text(m)), {}};
  return {"undecided", open_at(i, "an end of " + band_text(m)), {}};
}

// Returns true if the other shrink contradicts the verdict.
bool contradicts(const measure& m, const interval& beside) {
  if (has_direction(m)) return direction(m, beside) == side::other;
  return m.says == claim::at_most ? beside.above(*m.number * m.band) : size_of(m, beside) == side::other;
}

// Judges a single run by its value, because even a figure without an interval should be reported if it points
// elsewhere.
std::string measured_side(const measure& m, const interval& i) {
  if (!has_direction(m)) return {};
  const bool right = m.says == claim::above ? i.median > m.pivot : i.median < m.pivot;
  if (i.known() && direction(m, i) == side::unknown) return "undecided";
  return right ? "same" : "other";
}

}  // namespace

std::string shown(double number) {
  if (number == 0) return "0";
  const double size = std::abs(number);
  if (size >= 999.5) return fmt::format("{:.0f}", number);
  if (size < 1e-4) return fmt::format("{:.2e}", number);
  return fmt::format("{:.{}f}", number, std::max(0, 2 - static_cast<int>(std::floor(std::log10(size)))));
}

std::string shown(const interval& i) {
  if (!i.known()) return shown(i.median);
  return fmt::format("{} ({} to {})", shown(i.median), shown(i.low), shown(i.high));
}

judgement judge(const measure& m, const findings& f) {
  judgement j{"not run", f.none, {}};
  if (f.simulated) {
    const interval& is = *f.simulated;
    j = has_direction(m) ? by_direction(m, is) : by_size(m, is);
    const bool agreed = j.verdict == "same size" || j.verdict == "same direction";
    if (f.beside && contradicts(m, *f.beside)) {
      j.reason += fmt::format(". At another shrink {}: {}", shown(*f.beside),
                              agreed ? "it is the shrink that decides" : "not there either");
      if (agreed) j.verdict = "undecided";
    }
    const bool agrees = j.verdict == "same size" || (j.verdict == "same direction" && !m.number);
    if (!agrees && !m.why.empty()) j.reason += ". " + m.why;
    if (m.aim) {
      const bool met = m.aim->at_least ? is.median >= m.aim->bound : is.median <= m.aim->bound;
      j.reason += fmt::format("; aim {} {}: {}", m.aim->at_least ? "at least" : "at most", shown(m.aim->bound),
                              met ? "met" : "missed");
    }
    if (m.input) j = {"input", fmt::format("from the machine's file; {}: {}", j.verdict, j.reason), {}};
  }
  if (f.measured) {
    j.measured = measured_side(m, *f.measured);
    if (j.measured == "other") j.reason += fmt::format(". Measured, it points the other way: {}", shown(*f.measured));
  }
  return j;
}

}  // namespace heddle::cli::paper
