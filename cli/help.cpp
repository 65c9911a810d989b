// Pages of `heddle help` that come from the tables of the runtime.
#include <fmt/format.h>

#include "base/options.hpp"
#include "cli/command.hpp"
#include "policy/policy.hpp"

namespace heddle::cli {
namespace {

std::string options_page() {
  return "Options of the runtime. A program sets them in heddle::runtime_options; an environment variable takes effect where\n"
         "it does not.\n\n" + base::options_text();
}

std::string policies_page() {
  std::string page = "Scheduling policies: HEDDLE_POLICY=NAME or runtime_options::policy; parameters follow a colon, NAME:KEY=VALUE,KEY=VALUE.\n\n";
  for (const policy::registration& line : policy::all()) page += fmt::format("{:<12}  {}\n", line.name, line.summary);
  return page;
}

const registration options_entry{topic{"options", "options of the runtime: HEDDLE_* variables", options_page, base::options_markdown}};
const registration policies_entry{topic{"policies", "scheduling policies", policies_page}};

}  // namespace
}  // namespace heddle::cli
