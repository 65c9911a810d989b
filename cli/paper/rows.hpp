// The rows of a reproduction: computed from the runs, written and read as JSON, shown as a table or a page.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/interval.hpp"
#include "cli/paper/laboratory.hpp"

namespace heddle::cli::paper {

// Returns one row for each measure. Fields: docs/guide/paper.md.
std::vector<nlohmann::json> rows_of(const experiment& e, const laboratory& from);

// Returns the interval of "simulated", "beside" or "measured" over the pairs of runs, or nothing if there is no figure.
std::optional<interval> interval_in(const nlohmann::json& row, const std::string& name);

// Returns the table for a terminal.
std::string table_of(const std::vector<nlohmann::json>& rows);

// Returns the last one of the rows with the same id and measure. A figure, simulated or measured, that the run of that
// row did not request is taken from the row before. The order is that of the tables of papers, then that of the rows.
std::vector<nlohmann::json> last_of_each(const std::vector<nlohmann::json>& rows);

// Returns last_of_each with the present declaration of each measure: number, words, band, verdict, reason. Rows are
// left out if their measure is not declared any more, or if it is computed in a different way.
std::vector<nlohmann::json> judged_anew(const std::vector<nlohmann::json>& rows);

// Returns docs/reproduction.md from last_of_each. Throws std::runtime_error for a value that is not a row.
std::string page_of(const std::vector<nlohmann::json>& rows);

// Both throw std::runtime_error.
std::vector<nlohmann::json> read_rows(const std::string& file);
void write_rows(const std::string& file, const std::vector<nlohmann::json>& rows);

}  // namespace heddle::cli::paper
