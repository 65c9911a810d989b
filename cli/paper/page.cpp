// Makes docs/reproduction.md from rows.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>
#include <optional>

#include "cli/paper/rows.hpp"
#include "cli/paper/verdict.hpp"

namespace heddle::cli::paper {
namespace {

using nlohmann::json;

std::string escaped(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) text.insert(at, "\\");
  return text;
}

std::string cell(const json& row, const char* key) {
  const json& value = row.at(key);
  if (value.is_number()) return shown(value);
  return value.is_string() ? escaped(value) : "-";
}

// The paper's words are shown beside its number, if there are both.
std::string paper_cell(const json& row) {
  const std::string words = row.value("paper_words", std::string());
  if (!row.at("paper").is_number() || words.empty()) return cell(row, "paper");
  return fmt::format("{} ({})", cell(row, "paper"), escaped(words));
}

std::string figure_cell(const json& row, const std::string& name) {
  const std::optional<interval> i = interval_in(row, name);
  return i ? shown(*i) : "-";
}

// The meanings of the verdicts, in the order of `verdicts`.
constexpr const char* meanings[] = {
    "within the band around the paper's number, on both sides, with the whole interval",
    "on the paper's side with the whole interval; of a bound: kept",
    "the interval holds what it is compared with, or there are too few runs for one, or another shrink says otherwise",
    "on the other side, or outside the band",
    "not counted: the machine's file has its costs from this very figure",
    "the reason says why",
};
static_assert(std::size(meanings) == std::size(verdicts));

// Returns the scale of a text like "quick: 2048 = ...".
std::string scale_name(const json& row) {
  const std::string text = row.at("scale");
  return text.substr(0, text.find(':'));
}

// Returns what was run: how many measures at which scale, at which commits, on which days.
std::string head(const std::vector<json>& rows) {
  std::map<std::string, std::size_t> scales;
  std::map<std::string, std::size_t> commits;
  std::string first, last;
  for (const json& row : rows) {
    if (!interval_in(row, "simulated")) continue;
    ++scales[scale_name(row)];
    const std::string commit = row.value("commit", std::string());
    ++commits[commit.empty() ? "unknown" : commit];
    const std::string date = row.at("date");
    first = first.empty() ? date : std::min(first, date);
    last = std::max(last, date);
  }
  if (scales.empty()) return "**What was run**: nothing.\n\n";
  const auto list = [](const std::map<std::string, std::size_t>& of, const char* format) {
    std::string text;
    for (const auto& [what, times] : of)
      text += (text.empty() ? "" : ", ") + fmt::format(fmt::runtime(format), what, times);
    return text;
  };
  return fmt::format(
      "**What was run**: scale {}; commit {}; {}. Sizes that are smaller than the paper's stand in the "
      "line *simulated* of each figure.\n\n",
      list(scales, "`{0}` ({1} measures)"), list(commits, "{0} ({1})"), first == last ? last : first + " to " + last);
}

std::string summary(const std::vector<json>& rows) {
  std::map<std::string, std::size_t> by_verdict;
  std::size_t compared = 0, other = 0, unknown = 0;
  for (const json& row : rows) {
    ++by_verdict[row.at("verdict")];
    const std::string points = row.value("measured_points", json()).is_string() ? row.at("measured_points") : "";
    compared += points.empty() ? 0 : 1;
    other += points == "other" ? 1 : 0;
    unknown += points == "undecided" ? 1 : 0;
  }
  std::string text = "| verdict | measures | means |\n| --- | --- | --- |\n";
  for (std::size_t i = 0; i < std::size(verdicts); ++i)
    text += fmt::format("| {} | {} | {} |\n", verdicts[i], by_verdict[verdicts[i]], meanings[i]);
  text += fmt::format(
      "\nOf {} measures with a direction that were measured here, too, {} point the other way there, and {} are "
      "undecided.\n",
      compared, other, unknown);
  return text;
}

// Returns the number of runs, and whether results were checked.
std::string runs_of(std::vector<json>::const_iterator first, std::vector<json>::const_iterator last) {
  std::size_t pairs = 0, checked = 0, known = 0;
  for (auto row = first; row != last; ++row) {
    const std::optional<interval> i = interval_in(*row, "simulated");
    if (!i) continue;
    pairs = std::max(pairs, i->figures);
    ++known;
    checked += row->value("checked", false) ? 1 : 0;
  }
  if (known == 0) return {};
  return fmt::format(". {} pair{} of runs, results {}", pairs, pairs == 1 ? "" : "s",
                     checked == known ? "of the first checked"
                     : checked == 0   ? "not checked"
                                      : fmt::format("of the first checked in {} of {} measures", checked, known));
}

std::string row_of(const json& row, bool beside, bool real) {
  std::string text = fmt::format("| {} | `{}` | {} | {} |", cell(row, "measure"), row.at("how").get<std::string>(),
                                 paper_cell(row), figure_cell(row, "simulated"));
  if (beside) text += fmt::format(" {} |", figure_cell(row, "beside"));
  if (real) text += fmt::format(" {} |", figure_cell(row, "measured"));
  const std::string commit = row.value("commit", std::string()), command = row.value("command", std::string());
  const std::string repeated = command.empty() ? "-" : fmt::format("{}: `{}`", commit.empty() ? "-" : commit, command);
  return text + fmt::format(" {} | {} | {} |\n", cell(row, "verdict"), cell(row, "reason"), escaped(repeated));
}

std::string section(std::vector<json>::const_iterator first, std::vector<json>::const_iterator last) {
  const json& head = *first;
  const auto any = [&](const char* name) {
    return std::any_of(first, last, [name](const json& r) { return interval_in(r, name).has_value(); });
  };
  const bool real = any("measured"), beside = any("beside");
  std::string figure = head.at("figure");
  if (!figure.empty()) figure[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(figure[0])));
  std::string text =
      fmt::format("\n## {}\n{}: {}.", head.at("id").get<std::string>(), figure, head.at("title").get<std::string>());
  if (const std::string remark = head.value("remark", std::string()); !remark.empty()) text += " " + remark;
  text += fmt::format("\n\n- simulated: `{}`, {} workers. {}{}. {}\n", head.at("machine").get<std::string>(),
                      head.at("workers").get<unsigned>(), head.at("scale").get<std::string>(), runs_of(first, last),
                      head.at("date").get<std::string>());
  std::vector<std::string> shrinks;
  for (auto row = first; row != last; ++row) {
    const std::string scale = row->value("beside_scale", std::string());
    if (!scale.empty() && std::find(shrinks.begin(), shrinks.end(), scale) == shrinks.end()) shrinks.push_back(scale);
  }
  for (const std::string& scale : shrinks) text += fmt::format("- another shrink: {}\n", scale);
  for (auto row = first; row != last; ++row) {
    if (!row->at("measured_machine").is_string()) continue;
    const std::string date = row->value("measured_date", row->at("date").get<std::string>());
    text += fmt::format("- measured: {}. {}. {}\n", row->at("measured_machine").get<std::string>(),
                        row->at("measured_scale").get<std::string>(), date);
    break;
  }
  std::vector<std::string> columns{"measure", "computed as", "paper", "simulated"};
  if (beside) columns.emplace_back("another shrink");
  if (real) columns.emplace_back("measured");
  columns.insert(columns.end(), {"verdict", "reason", "commit: command"});
  std::string names = "\n|", line = "|";
  for (const std::string& column : columns) names += " " + column + " |", line += " --- |";
  text += names + "\n" + line + "\n";
  for (auto row = first; row != last; ++row) text += row_of(*row, beside, real);
  return text;
}

}  // namespace

std::string page_of(const std::vector<json>& given) {
  try {
    const std::vector<json> rows = last_of_each(given);
    std::string text =
        "# Reproduction\n\n"
        "What the papers say that heddle's schedulers come from, and what comes out here. Generated: `make "
        "reproduction` runs everything and writes this page ([how](guide/paper.md)).\n"
        "*Simulated*: on a model of the paper's machine, in virtual time. *Measured*: on the machine named, with its "
        "own number of workers and sizes of its own. Figures are medians\n"
        "of the figures of pairs of runs with the same seed and placement of data, in brackets the interval that holds "
        "the median with a probability of 15/16 or more, by order\n"
        "statistics. Verdicts are on the simulated figure.\n\n"
        "![How far the simulated figures lie on the paper's side, figure by figure](figures/reproduction.svg)\n\n" +
        head(rows) + summary(rows);
    for (auto first = rows.begin(); first != rows.end();) {
      const auto last = std::find_if(first, rows.end(), [&](const json& r) { return r.at("id") != first->at("id"); });
      text += section(first, last);
      first = last;
    }
    return text;
  } catch (const json::exception& error) {
    throw std::runtime_error(std::string("not a row of heddle paper run --json: ") + error.what());
  }
}

}  // namespace heddle::cli::paper
