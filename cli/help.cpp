// Pages of `heddle help` that come from the tables of the runtime.
#include "cli/command.hpp"
#include "policy/registry.hpp"
#include "tools/help/options_help.hpp"
#include "tools/help/wrapped.hpp"

namespace heddle::cli {
namespace {

std::string options_page() {
  return "Options of the runtime. A program sets them in heddle::runtime_options; an\n"
         "environment variable takes effect where it does not.\n\n" +
         tools::options_text();
}

std::string policies_page() {
  return "Scheduling policies: HEDDLE_POLICY=NAME or runtime_options::policy; parameters\nfollow a colon, "
         "NAME:KEY=VALUE,KEY=VALUE.\n\n" +
         tools::two_columns(
             policy::all(), [](const auto& line) { return line.name; }, [](const auto& line) { return line.summary; });
}

const registration options_entry{
    topic{"options", "options of the runtime: HEDDLE_* variables", options_page, tools::options_markdown}};
const registration policies_entry{topic{"policies", "scheduling policies", policies_page}};

}  // namespace
}  // namespace heddle::cli
