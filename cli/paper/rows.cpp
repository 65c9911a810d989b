#include "cli/paper/rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <initializer_list>
#include <optional>
#include <thread>

#include "base/replace_file.hpp"
#include "cli/here.hpp"
#include "cli/paper/verdict.hpp"

namespace heddle::cli::paper {
namespace {

using nlohmann::json;

// Writes figures of pairs of runs under `name`, with their interval: "name", "name_low", "name_high", "name_runs".
void put(json& row, const std::string& name, const std::vector<double>& figures) {
  for (const char* end : {"", "_low", "_high"}) row[name + end] = nullptr;
  row[name + "_runs"] = figures;
  if (figures.empty()) return;
  const interval i = interval_of(figures);
  row[name] = i.median;
  if (!i.known()) return;
  row[name + "_low"] = i.low;
  row[name + "_high"] = i.high;
}

// Returns a number, the paper's words, or "-".
std::string cell(const json& figure) {
  if (figure.is_number()) return shown(figure);
  return figure.is_string() ? figure.get<std::string>() : "-";
}

std::string with_interval(const json& row, const std::string& name) {
  const std::optional<interval> i = interval_in(row, name);
  return i ? shown(*i) : cell(row.at(name));
}

std::size_t columns(const std::string& text) {  // counts the characters of UTF-8
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

// Writes the parts of the declaration, and the verdict.
void tell(json& row, const experiment& e, const measure& m) {
  const judgement j = judge(m, {.simulated = interval_in(row, "simulated"),
                                .none = row.at("simulated_reason"),
                                .beside = interval_in(row, "beside"),
                                .measured = interval_in(row, "measured")});
  row["figure"] = e.figure;
  row["title"] = e.title;
  row["remark"] = e.remark;
  row["how"] = m.of.text();
  row["paper"] = m.number ? json(*m.number) : json(m.words);
  row["paper_words"] = m.words;
  row["says"] = m.says == claim::above   ? "above"
                : m.says == claim::below ? "below"
                : m.says == claim::about ? "about"
                                         : "at most";
  row["pivot"] = m.pivot;
  row["input"] = m.input;
  row["verdict"] = j.verdict;
  row["reason"] = j.reason;
  row["measured_points"] = j.measured.empty() ? json(nullptr) : json(j.measured);
  row.erase("band");
  if (m.number) row["band"] = m.band;
}

// Returns the command that repeats a row.
std::string command_of(const experiment& e, const measure& m, const work_order& order) {
  std::string text = fmt::format("heddle paper run {} --only '{}'", e.id, m.name);
  if (order.size != scale::quick) text += fmt::format(" --scale {}", name(order.size));
  if (order.seeds != work_order().seeds) text += fmt::format(" --seeds {}", order.seeds);
  if (!order.simulates) text += " --no-sim";
  if (order.real_workers != 0) text += fmt::format(" --real --real-workers {}", order.real_workers);
  return text;
}

}  // namespace

std::optional<interval> interval_in(const json& row, const std::string& name) {
  const json runs = row.value(name + "_runs", json::array());
  if (!runs.empty()) return interval_of(runs.get<std::vector<double>>());
  // rows from before there were several runs
  if (row.contains(name) && row.at(name).is_number()) return interval_of({row.at(name).get<double>()});
  return std::nullopt;
}

std::vector<json> rows_of(const experiment& e, const laboratory& from) {
  std::vector<json> rows;
  for (const measure& m : e.measures) {
    const series there = from.simulated(e, m), other = from.beside(e, m), here = from.measured(e, m);
    json row{{"id", e.id},
             {"measure", m.name},
             {"machine", e.machine},
             {"workers", e.workers},
             {"scale", from.simulated_scale(e)},
             {"simulated_reason", there.none},
             {"checked", from.checked(e, m)},
             {"beside_scale", from.beside_scale(e, m)},
             {"beside_reason", other.none},
             {"measured_machine", here.figures.empty()
                                      ? json(nullptr)
                                      : json(fmt::format("{}, {} processors", processor_name("unknown processor"),
                                                         std::thread::hardware_concurrency()))},
             {"measured_scale", from.measured_scale(e)},
             {"measured_reason", here.none},
             {"measured_date", now_as(day)},
             {"commit", from.commits(e, m)},
             {"command", command_of(e, m, from.order())},
             {"date", now_as(day)},
             {"heddle", HEDDLE_VERSION_STRING}};
    put(row, "simulated", there.figures);
    put(row, "beside", other.figures);
    put(row, "measured", here.figures);
    tell(row, e, m);
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string table_of(const std::vector<json>& rows) {
  std::string text;
  std::string id;
  for (auto first = rows.begin(); first != rows.end();) {
    const auto last = std::find_if(first, rows.end(), [&](const json& r) { return r.at("id") != first->at("id"); });
    const json& head = *first;
    text += fmt::format("{}{}, {}: {}\n{}, {} workers, {}\n\n", text.empty() ? "" : "\n",
                        head.at("id").get<std::string>(), head.at("figure").get<std::string>(),
                        head.at("title").get<std::string>(), head.at("machine").get<std::string>(),
                        head.at("workers").get<unsigned>(), head.at("scale").get<std::string>());
    std::vector<std::vector<std::string>> cells{{"measure", "paper", "simulated", "measured", "verdict"}};
    for (auto row = first; row != last; ++row) {
      cells.push_back({row->at("measure"), cell(row->at("paper")), with_interval(*row, "simulated"),
                       with_interval(*row, "measured"), row->at("verdict")});
    }
    std::vector<std::size_t> width(5, 0);
    for (const auto& line : cells) {
      for (std::size_t i = 0; i < 5; ++i) width[i] = std::max(width[i], columns(line[i]));
    }
    for (std::size_t l = 0; l < cells.size(); ++l) {
      for (std::size_t i = 0; i < 5; ++i) {
        const std::string blanks(width[i] - columns(cells[l][i]), ' ');
        text += i == 0 ? cells[l][i] + blanks : i == 4 ? "  " + cells[l][i] : "  " + blanks + cells[l][i];
      }
      text +=
          l == 0 ? "\n"
                 : fmt::format(": {}\n", (first + static_cast<std::ptrdiff_t>(l) - 1)->at("reason").get<std::string>());
    }
    first = last;
  }
  return text;
}

namespace {

// Keeps the earlier run's figures that the later run did not request.
json merged(const json& earlier, json later) {
  const auto keep = [&](const char* reason, const char* none, std::initializer_list<const char*> names) {
    if (!later.contains(reason) || later.at(reason) != none) return;
    for (const char* name : names) {
      if (earlier.contains(name)) later[name] = earlier.at(name);
    }
  };
  const bool kept = later.contains("measured_reason") && later.at("measured_reason") == not_measured;
  if (kept) later["measured_date"] = earlier.value("measured_date", earlier.at("date").get<std::string>());
  keep("simulated_reason", not_simulated,
       {"simulated",  "simulated_low", "simulated_high", "simulated_runs", "simulated_reason", "checked", "beside",
        "beside_low", "beside_high",   "beside_runs",    "beside_reason",  "beside_scale",     "machine", "workers",
        "scale",      "commit",        "command",        "date",           "heddle",           "verdict", "reason"});
  keep("measured_reason", not_measured,
       {"measured", "measured_low", "measured_high", "measured_runs", "measured_reason", "measured_machine",
        "measured_scale"});
  return later;
}

}  // namespace

std::vector<json> last_of_each(const std::vector<json>& rows) {
  std::vector<json> kept;
  for (const json& row : rows) {
    const auto same = std::find_if(kept.begin(), kept.end(), [&](const json& k) {
      return k.at("id") == row.at("id") && k.at("measure") == row.at("measure");
    });
    if (same == kept.end()) kept.push_back(row);
    else *same = merged(*same, row);
  }
  std::vector<std::string> order;
  for (const experiment& e : experiments()) order.push_back(e.id);
  std::vector<std::pair<std::ptrdiff_t, std::size_t>> places;  // places in the tables and in the rows
  for (std::size_t i = 0; i < kept.size(); ++i)
    places.emplace_back(std::find(order.begin(), order.end(), kept[i].at("id").get<std::string>()) - order.begin(), i);
  std::sort(places.begin(), places.end());
  std::vector<json> sorted;
  for (const auto& [rank, i] : places) sorted.push_back(kept[i]);
  return sorted;
}

std::vector<json> judged_anew(const std::vector<json>& rows) {
  std::vector<json> result;
  const std::vector<experiment> all = experiments();
  for (json row : last_of_each(rows)) {
    const std::string id = row.at("id"), name = row.at("measure"), how = row.at("how");
    for (const experiment& e : all) {
      for (const measure& m : e.measures) {
        if (e.id != id || m.name != name || m.of.text() != how) continue;
        tell(row, e, m);
        result.push_back(row);
      }
    }
  }
  return result;
}

std::vector<json> read_rows(const std::string& file) {
  std::ifstream stream(file);
  if (!stream) throw std::runtime_error(file + ": cannot be read");
  const json all = json::parse(stream, nullptr, false);
  if (!all.is_array()) throw std::runtime_error(file + ": not written by heddle paper run --json");
  for (const json& row : all) {
    for (const char* key : {"id", "measure", "how"}) {
      if (row.is_object() && row.contains(key) && row[key].is_string()) continue;
      throw std::runtime_error(fmt::format("{}: not written by heddle paper run --json: row {} has no \"{}\"", file,
                                           &row - &all[0] + 1, key));
    }
  }
  return all.get<std::vector<json>>();
}

void write_rows(const std::string& file, const std::vector<json>& rows) {
  base::replace_file(file, json(rows).dump(1) + "\n");
}

}  // namespace heddle::cli::paper
