// heddle topo: the machine as the runtime sees it.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/options.hpp"
#include "cli/command.hpp"
#include "cli/topo/view.hpp"

namespace heddle::cli::topo {
namespace {

struct topo_arguments {
  std::string machine;
  std::string workers;
  bool json = false;
  bool whole = false;
  bool ascii = false;
  bool list = false;
  bool file = false;
};

bool terminal_speaks_utf8() {
  for (const char* variable : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(variable);
    if (value == nullptr || *value == '\0') continue;
    const std::string_view locale(value);
    return locale.find("UTF-8") != std::string_view::npos || locale.find("utf8") != std::string_view::npos;
  }
  return false;
}

void print_list() {
  const std::vector<std::string> names = machine::model::shipped();
  std::size_t width = 0;
  for (const std::string& name : names) width = std::max(width, name.size());
  for (const std::string& name : names) fmt::print("{:<{}}  {}\n", name, width, machine::model::from_name(name).title);
}

int run(const topo_arguments& given) try {
  if (given.list) return print_list(), 0;
  if (given.file) return fmt::print("{}", machine::model::shipped_text(given.machine)), 0;
  base::option_values options = base::options_from_environment();
  if (!given.workers.empty()) base::set_option(options, "workers", given.workers, "--workers");
  std::optional<machine::model> model;
  if (!given.machine.empty()) model = machine::model::from_name(given.machine);
  const topology machine = model ? model->tree : topology::this_machine();
  const machine::limits allowed = machine.is_this_machine() ? machine::read_limits() : machine::limits{};
  const machine::worker_plan workers = machine::plan(machine, allowed, options);
  const topology placed = machine.for_workers(workers.units);
  const view v{model ? &*model : nullptr, machine, placed, given.whole ? machine : placed, allowed, workers};
  if (given.json) print_json(v);
  else print_text(v, given.ascii || !terminal_speaks_utf8());
  return 0;
} catch (const std::invalid_argument& error) {
  throw usage_error(error.what());
}

std::function<int()> add_topo(CLI::App& app) {
  auto given = std::make_shared<topo_arguments>();
  app.add_option("--machine", given->machine,
                 "Another machine, with what things cost on it: a shipped name (--list), a TOML file, an XML file of "
                 "lstopo, synthetic:STRING in "
                 "hwloc's notation, or this; MACHINE+FILE.toml takes figures from a second one");
  app.add_flag("--list", given->list, "List the machines that come with heddle");
  app.add_flag("--file", given->file, "Write the TOML file of a shipped --machine, as a start for one's own");
  app.add_option("--workers", given->workers, "Number of workers, instead of HEDDLE_WORKERS");
  app.add_flag("--json", given->json, "Write JSON");
  app.add_flag("--whole", given->whole, "Show every unit of the machine, not only those that get a worker");
  app.add_flag("--ascii", given->ascii, "Draw without Unicode; default where the locale has none");
  return [given] { return run(*given); };
}

const registration topo_entry{
    command{"topo", "show the memory groups of the machine, the workers and what limits them", add_topo}};

}  // namespace
}  // namespace heddle::cli::topo
