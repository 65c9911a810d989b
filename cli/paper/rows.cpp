#include "cli/paper/rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <initializer_list>
#include <thread>

#include "base/replace_file.hpp"
#include "cli/here.hpp"
#include "cli/paper/verdict.hpp"

namespace heddle::cli::paper {
namespace {

using nlohmann::json;

figure figure_of(const value& v, const evidence& e) {
  try {
    return {v(e), {}};
  } catch (const unavailable& why) {
    return {std::nullopt, why.what()};
  }
}

json as_json(const figure& f) { return f.is ? json(*f.is) : json(nullptr); }

// A number, the paper's words, or why there is nothing.
std::string cell(const json& figure) {
  if (figure.is_number()) return shown(figure);
  return figure.is_string() ? figure.get<std::string>() : "-";
}

std::size_t columns(const std::string& text) {  // of UTF-8
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

// What the declaration says, and the verdict on `simulated`.
void tell(json& row, const experiment& e, const measure& m, const figure& simulated) {
  const judgement j = judge(m, simulated);
  row["figure"] = e.figure;
  row["title"] = e.title;
  row["remark"] = e.remark;
  row["how"] = m.of.text();
  row["paper"] = m.number ? json(*m.number) : json(m.words);
  row["paper_words"] = m.words;
  row["verdict"] = j.verdict;
  row["reason"] = j.reason;
  row.erase("band");
  if (m.number) row["band"] = m.band;
}

}  // namespace

std::vector<json> rows_of(const experiment& e, const laboratory& from) {
  const std::unique_ptr<evidence> simulated = from.simulated(e), measured = from.measured(e);
  std::vector<json> rows;
  for (const measure& m : e.measures) {
    const figure there = figure_of(m.of, *simulated), here = figure_of(m.of, *measured);
    json row{{"id", e.id},
             {"measure", m.name},
             {"simulated", as_json(there)},
             {"measured", as_json(here)},
             {"machine", e.machine},
             {"workers", e.workers},
             {"scale", from.simulated_scale(e)},
             {"simulated_reason", there.none},
             {"measured_machine", here.is ? json(fmt::format("{}, {} processors", processor_name("unknown processor"),
                                                             std::thread::hardware_concurrency()))
                                          : json(nullptr)},
             {"measured_scale", from.measured_scale(e)},
             {"measured_reason", here.none},
             {"date", now_as(day)},
             {"heddle", HEDDLE_VERSION_STRING}};
    tell(row, e, m, there);
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
      cells.push_back({row->at("measure"), cell(row->at("paper")), cell(row->at("simulated")),
                       cell(row->at("measured")), row->at("verdict")});
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

// What the later run was not asked for is the earlier one's.
json merged(const json& earlier, json later) {
  const auto keep = [&](const char* reason, const char* none, std::initializer_list<const char*> names) {
    if (!later.contains(reason) || later.at(reason) != none) return;
    for (const char* name : names) {
      if (earlier.contains(name)) later[name] = earlier.at(name);
    }
  };
  keep("simulated_reason", not_simulated,
       {"simulated", "simulated_reason", "machine", "workers", "scale", "date", "heddle", "verdict", "reason"});
  keep("measured_reason", not_measured, {"measured", "measured_reason", "measured_machine", "measured_scale"});
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
  std::vector<std::pair<std::ptrdiff_t, std::size_t>> places;  // in the tables, in the rows
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
        const json& is = row.at("simulated");
        tell(row, e, m,
             is.is_number() ? figure{is.get<double>(), {}} : figure{std::nullopt, row.at("simulated_reason")});
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
  return all.get<std::vector<json>>();
}

void write_rows(const std::string& file, const std::vector<json>& rows) {
  base::replace_file(file, json(rows).dump(1) + "\n");
}

}  // namespace heddle::cli::paper
