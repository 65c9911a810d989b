// docs/reproduction.md, from rows.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>

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

// The paper's words are told beside its number, where there are both.
std::string paper_cell(const json& row) {
  const std::string words = row.value("paper_words", std::string());
  if (!row.at("paper").is_number() || words.empty()) return cell(row, "paper");
  return fmt::format("{} ({})", cell(row, "paper"), escaped(words));
}

std::string summary(const std::vector<json>& rows) {
  std::map<std::string, std::size_t> by_verdict;
  for (const json& row : rows) ++by_verdict[row.at("verdict")];
  std::string text = "| verdict | measures |\n| --- | --- |\n";
  for (const char* verdict : {"same size", "same direction", "not", "not run"})
    text += fmt::format("| {} | {} |\n", verdict, by_verdict[verdict]);
  return text;
}

std::string section(std::vector<json>::const_iterator first, std::vector<json>::const_iterator last) {
  const json& head = *first;
  const bool real = std::any_of(first, last, [](const json& r) { return r.at("measured").is_number(); });
  std::string figure = head.at("figure");
  if (!figure.empty()) figure[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(figure[0])));
  std::string text =
      fmt::format("\n## {}\n{}: {}.", head.at("id").get<std::string>(), figure, head.at("title").get<std::string>());
  if (const std::string remark = head.value("remark", std::string()); !remark.empty()) text += " " + remark;
  text += fmt::format("\n\n- simulated: `{}`, {} workers. {}. {}\n", head.at("machine").get<std::string>(),
                      head.at("workers").get<unsigned>(), head.at("scale").get<std::string>(),
                      head.at("date").get<std::string>());
  for (auto row = first; row != last; ++row) {
    if (!row->at("measured_machine").is_string()) continue;
    text += fmt::format("- measured: {}. {}\n", row->at("measured_machine").get<std::string>(),
                        row->at("measured_scale").get<std::string>());
    break;
  }
  text += real ? "\n| measure | computed as | paper | simulated | measured | verdict | reason |\n| --- | --- | --- | "
                 "--- | --- | --- | --- |\n"
               : "\n| measure | computed as | paper | simulated | verdict | reason |\n| --- | --- | --- | --- | --- | "
                 "--- |\n";
  for (auto row = first; row != last; ++row) {
    text += fmt::format("| {} | `{}` | {} | {} |{} {} | {} |\n", cell(*row, "measure"),
                        row->at("how").get<std::string>(), paper_cell(*row), cell(*row, "simulated"),
                        real ? " " + cell(*row, "measured") + " |" : "", cell(*row, "verdict"), cell(*row, "reason"));
  }
  return text;
}

}  // namespace

std::string page_of(const std::vector<json>& given) {
  try {
    const std::vector<json> rows = last_of_each(given);
    std::string text =
        "# Reproduction\n\n"
        "What the papers say that heddle's schedulers come from, and what comes out here. Generated: `heddle paper run "
        "ID --json FILE` runs, `heddle paper report FILE` writes this page\n"
        "([how](guide/paper.md)). *Simulated*: on a model of the paper's machine, in virtual time. *Measured*: on the "
        "machine named, with its own number of workers and sizes of its own. Verdicts\n"
        "are on the simulated figure: *same size*, within the band; *same direction*, or direction was all that the "
        "paper tells; *not*; *not run*.\n\n" +
        summary(rows);
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
