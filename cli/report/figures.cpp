#include "cli/report/figures.hpp"

#include <stdexcept>

namespace heddle::cli {
namespace {

[[noreturn]] void refuse(const std::string& file, const std::string& why) {
  throw std::invalid_argument(file + ": " + why + "; expected the rows of heddle sim --json");
}

void take(const std::string& file, const nlohmann::json& row, nlohmann::json& into) {
  if (row.is_array()) {
    for (const nlohmann::json& r : row) take(file, r, into);
    return;
  }
  if (!row.is_object()) refuse(file, "holds something that is no object");
  if (row.contains("traceEvents")) {
    throw std::invalid_argument(
        file + ": a Chrome trace in JSON, which is for viewers; record with a file name that ends in .heddle");
  }
  if (const auto runs = row.find("runs"); runs != row.end() && runs->is_array()) return take(file, *runs, into);
  if (!row.contains("policy") || !row.contains("virtual_seconds"))
    refuse(file, "a row without policy or virtual_seconds");
  into.push_back(row);
}

}  // namespace

nlohmann::json read_figures(const std::string& file, std::string_view text) {
  nlohmann::json rows = nlohmann::json::array();
  const nlohmann::json whole = nlohmann::json::parse(text, nullptr, false);
  if (!whole.is_discarded()) {
    take(file, whole, rows);
    return rows;
  }
  for (std::size_t at = 0; at < text.size();) {  // an object a line
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    at = end + 1;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const nlohmann::json row = nlohmann::json::parse(line, nullptr, false);
    if (row.is_discarded()) refuse(file, "no JSON");
    take(file, row, rows);
  }
  if (rows.empty()) refuse(file, "no rows");
  return rows;
}

}  // namespace heddle::cli
