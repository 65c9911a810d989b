// heddle help man: the manual page heddle(1), made from the same tables as the help.
#include <string>
#include <string_view>

#include "base/options.hpp"
#include "base/wrapped.hpp"
#include "cli/command.hpp"

namespace heddle::cli {
namespace {

// Returns text in roff's form: backslashes and hyphens escaped, and no line that begins like a request.
std::string roff(std::string_view text) {
  std::string page;
  bool line_begins = true;
  for (const char c : text) {
    if (line_begins && (c == '.' || c == '\'')) page += "\\&";
    if (c == '\\') page += "\\e";
    else if (c == '-') page += "\\-";
    else page += c;
    line_begins = c == '\n';
  }
  return page;
}

std::string verbatim(std::string_view text) {
  return ".nf\n" + roff(text) + (text.ends_with('\n') ? "" : "\n") + ".fi\n";
}

std::string man_page() {
  std::string page = ".TH HEDDLE 1 \"\" \"heddle " HEDDLE_VERSION_STRING
                     "\" \"User commands\"\n"
                     ".SH NAME\nheddle \\- a runtime for nested parallel programs: its command\n"
                     ".SH SYNOPSIS\n.B heddle\n.I COMMAND\n[\n.I ARGUMENTS\n]\n"
                     ".SH DESCRIPTION\nShows the machine as the runtime sees it, runs benchmarks and experiments, "
                     "traces programs, and runs them on modelled machines.\n"
                     "The guide is in /usr/share/doc/heddle/guide where the package is installed.\n"
                     ".SH COMMANDS\n";
  for (const command& c : commands()) page += std::string(".SS heddle ") + c.name + "\n" + verbatim(help_of(c));
  page += ".SH ENVIRONMENT\nOptions of the runtime, for every program that is linked with it.\n";
  for (const base::option& o : base::options()) {
    page += ".TP\n.B " + roff(o.variable) + "\n" + roff(o.text) + "\n.br\nValues: " + roff(o.values) +
            ". Default: " + roff(o.preset.empty() ? "none" : o.preset) + ".\n";
  }
  return page + ".SH EXIT STATUS\n0: done; 1: failed; 2: a bad argument.\n";
}

const registration man_entry{topic{"man", "the manual page heddle(1), for man(1)", man_page}};

}  // namespace
}  // namespace heddle::cli
