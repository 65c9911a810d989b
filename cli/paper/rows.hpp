// The rows of a reproduction: computed from what was run, written and read as JSON, shown as a table or a page.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/interval.hpp"
#include "cli/paper/laboratory.hpp"

namespace heddle::cli::paper {

// One row a measure. Fields: docs/guide/paper.md.
std::vector<nlohmann::json> rows_of(const experiment& e, const laboratory& from);

// Of "simulated", "beside" or "measured": over the pairs of runs; none where there is no figure.
std::optional<interval> interval_in(const nlohmann::json& row, const std::string& name);

// For a terminal.
std::string table_of(const std::vector<nlohmann::json>& rows);

// Of rows of the same id and measure the last one; what its run was not asked for, simulated or measured, is of the one
// before. Order: that of the tables of papers, then that of the rows.
std::vector<nlohmann::json> last_of_each(const std::vector<nlohmann::json>& rows);

// last_of_each, with what a measure's declaration says today: number, words, band, verdict, reason. Rows of measures
// that are declared no more are left out, and so are those that are computed in another way now.
std::vector<nlohmann::json> judged_anew(const std::vector<nlohmann::json>& rows);

// docs/reproduction.md, of last_of_each. Throws std::runtime_error for what is not a row.
std::string page_of(const std::vector<nlohmann::json>& rows);

// Throws std::runtime_error.
std::vector<nlohmann::json> read_rows(const std::string& file);
void write_rows(const std::string& file, const std::vector<nlohmann::json>& rows);

}  // namespace heddle::cli::paper
