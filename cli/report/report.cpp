// heddle report: where the time of traced runs went, as tables or as one page.
#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "base/replace_file.hpp"
#include "cli/checks.hpp"
#include "cli/command.hpp"
#include "cli/report/figures.hpp"
#include "cli/report/page.hpp"
#include "cli/report/source_lines.hpp"
#include "tools/trace/examine.hpp"
#include "tools/trace/legend_tables.hpp"
#include "tools/trace/page.hpp"
#include "tools/trace/reading.hpp"
#include "tools/trace/report.hpp"

namespace heddle::cli {
namespace {

struct report_arguments {
  std::vector<std::string> files;
  bool json = false;
  std::string events;
  std::string page;
};

void print(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    throw std::runtime_error("report: cannot write to standard output");
  }
}

std::string contents(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw usage_error(fmt::format("{}: cannot open: {}", file, std::strerror(errno)));
  return {std::istreambuf_iterator<char>(in), {}};
}

bool holds_figures(const std::string& file) {
  if (!file.ends_with(".json") && !file.ends_with(".jsonl")) return false;
  try {
    return !read_figures(file, contents(file)).empty();
  } catch (const std::invalid_argument&) {
    return false;
  }
}

// Traces and rows of figures are distinguished by the endings of their names.
int write_page(const report_arguments& given) {
  std::vector<trace::page_run> runs;
  nlohmann::json figures = nlohmann::json::array();
  try {
    for (const std::string& file : given.files) {
      if (file.ends_with(".json") || file.ends_with(".jsonl")) {
        for (const nlohmann::json& row : read_figures(file, contents(file))) figures.push_back(row);
      } else {
        runs.push_back({file, trace::load(file)});
      }
    }
  } catch (const trace::trace_error& e) {
    throw usage_error(e.what());
  } catch (const std::invalid_argument& e) {
    throw usage_error(e.what());
  }
  const std::string rows = figures.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  const std::string page = trace::write_page(runs, rows, report_page_pattern(), source_lines);
  base::replace_file(given.page, page);
  return 0;
}

int report(const report_arguments& given) {
  if (!given.events.empty()) {
    const std::array<std::string, 2> forms{"text", "markdown"};
    if (given.events != forms[0] && given.events != forms[1])
      throw usage_error::unknown("--events", given.events, forms);
    print(given.events == "text" ? trace::legend_text() : trace::legend_markdown());
    return 0;
  }
  if (given.files.empty()) {
    throw usage_error("TRACE is missing: name a file that a program wrote under HEDDLE_TRACE=NAME.heddle");
  }
  if (!given.page.empty()) return write_page(given);
  std::vector<trace::named_summary> traces;
  try {
    for (const std::string& file : given.files) {
      if (holds_figures(file))
        throw usage_error(fmt::format(
            "{}: figures of heddle sim --json and no trace; `heddle report {} -o PAGE.html` shows them", file, file));
      const trace::recording what = trace::load(file);
      trace::examination found = trace::examine(what, source_lines(what));
      traces.push_back({file, std::move(found.sums), std::move(found.findings)});
    }
  } catch (const trace::trace_error& e) {
    throw usage_error(e.what());
  }
  print(given.json ? trace::report_json(traces) : trace::report_text(traces));
  return 0;
}

std::function<int()> add_report(CLI::App& app) {
  auto given = std::make_shared<report_arguments>();
  app.add_option("TRACE", given->files, "Traces in the binary form (NAME.heddle); several are shown side by side");
  CLI::Option* const page =
      app.add_option(
             "-o,--output", given->page,
             "Write one self-contained HTML page to this file instead; it takes files of `heddle sim --json`, too")
          ->check(output_file({".html", ".htm"}));
  app.add_flag("--json", given->json, "Write JSON instead of tables")->excludes(page);
  app.add_option("--events", given->events, "Print the list of events, as text or markdown, and read no trace")
      ->expected(0, 1)
      ->default_str("text");
  return [given] { return report(*given); };
}

const registration report_entry{command{"report", "tell what kept traced runs from using their workers", add_report}};

}  // namespace
}  // namespace heddle::cli
