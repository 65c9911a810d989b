// heddle report: where the time of traced runs went.
#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "trace/file.hpp"
#include "trace/legend.hpp"
#include "trace/report.hpp"

namespace heddle::cli {
namespace {

struct report_arguments {
  std::vector<std::string> files;
  bool json = false;
  std::string events;
};

void print(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    throw std::runtime_error("report: cannot write to standard output");
  }
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
    throw usage_error(
        "TRACE is missing: name a file that a program wrote under HEDDLE_TRACE=NAME.heddle");
  }
  std::vector<trace::named_summary> traces;
  try {
    for (const std::string& file : given.files)
      traces.push_back({file, trace::summarise(trace::load(file))});
  } catch (const trace::trace_error& e) {
    throw usage_error(e.what());
  }
  print(given.json ? trace::report_json(traces) : trace::report_text(traces));
  return 0;
}

std::function<int()> add(CLI::App& app) {
  auto given = std::make_shared<report_arguments>();
  app.add_option("TRACE", given->files,
                 "Traces in the binary form (NAME.heddle); several are shown side by side");
  app.add_flag("--json", given->json, "Write JSON instead of tables");
  app.add_option("--events", given->events,
                 "Print the list of events, as text or markdown, and read no trace")
      ->expected(0, 1)
      ->default_str("text");
  return [given] { return report(*given); };
}

const registration entry{
    command{"report", "show busy, idle and overhead time, steals and parks of traced runs", add}};

}  // namespace
}  // namespace heddle::cli
