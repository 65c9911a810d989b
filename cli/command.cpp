#include "cli/command.hpp"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <cstdio>
#include <optional>

#include "base/nearest.hpp"
#include "base/wrapped.hpp"
#include "process/child.hpp"

namespace heddle::cli {

namespace {

std::vector<command>& command_table() {
  static std::vector<command> table;
  return table;
}

std::vector<topic>& topic_table() {
  static std::vector<topic> table;
  return table;
}

template <class Line>
std::vector<Line> by_name(std::vector<Line> lines) {
  std::sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) { return std::string_view(a.name) < b.name; });
  return lines;
}

template <class Line>
std::vector<std::string> names_of(const std::vector<Line>& lines) {
  std::vector<std::string> names;
  for (const Line& line : lines) names.emplace_back(line.name);
  return names;
}

template <class Line>
std::optional<Line> find(const std::vector<Line>& lines, std::string_view name) {
  for (const Line& line : lines) {
    if (line.name == name) return line;
  }
  return std::nullopt;
}

int refuse(std::string_view where, std::string what) {
  std::replace(what.begin(), what.end(), '\n', ' ');
  fmt::print(stderr, "heddle{}{}: {}\n", where.empty() ? "" : " ", where, what);
  return 2;
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

// CLI11 converts values before it reports unknown options. But the user has to be told of the misspelled name.
void check_options(const CLI::App& app, std::span<const std::string> arguments) {
  for (const std::string& argument : arguments) {
    if (argument == "--") return;
    if (!argument.starts_with("--")) continue;
    const std::string name = argument.substr(0, argument.find('='));
    const std::vector<std::string> known = option_names(app);
    if (std::find(known.begin(), known.end(), name) == known.end()) throw usage_error::unknown("option", name, known);
  }
}

// Formats help in lines that fit into a terminal of 80 columns.
class narrow_formatter : public CLI::Formatter {
 public:
  std::string make_option_desc(const CLI::Option* option) const override {
    return base::wrapped(option->get_description(), 0, base::terminal_columns - column_width_);
  }
  std::string make_description(const CLI::App* app) const override {
    return base::wrapped(CLI::Formatter::make_description(app));
  }
  std::string make_footer(const CLI::App* app) const override {
    return base::wrapped(CLI::Formatter::make_footer(app));
  }
  std::string make_usage(const CLI::App* app, std::string name) const override {
    return base::wrapped(CLI::Formatter::make_usage(app, std::move(name)));
  }
  std::string make_subcommand(const CLI::App* sub) const override {
    std::stringstream line;
    CLI::detail::format_help(line, sub->get_name(),
                             base::wrapped(sub->get_description(), 0, base::terminal_columns - column_width_),
                             column_width_);
    return line.str();
  }
};

// Declares the subcommand's options in `app`.
std::function<int()> declare(CLI::App& app, const command& which) {
  // set before its subcommands are made, which inherit it
  app.formatter(std::make_shared<narrow_formatter>());
  return which.add(app);
}

int run_command(const command& which, std::span<const std::string> arguments) {
  CLI::App app(which.help, std::string("heddle ") + which.name);
  const std::function<int()> action = declare(app, which);
  try {
    check_options(app, arguments);
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
    return action();
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", app.help());
    return 0;
  } catch (const CLI::ExtrasError&) {
    const std::vector<std::string> extra = app.remaining();
    const std::string& first = extra.empty() ? std::string() : extra.front();
    if (first.starts_with("-"))
      return refuse(which.name, usage_error::unknown("option", first, option_names(app)).what());
    return refuse(which.name, fmt::format("argument '{}' is one too many; `heddle {} --help` shows what is expected",
                                          first, which.name));
  } catch (const CLI::Error& error) {
    return refuse(which.name, fmt::format("{}; see `heddle {} --help`", error.what(), which.name));
  } catch (const usage_error& error) {
    return refuse(which.name, error.what());
  } catch (const process::interrupted& told) {
    std::fflush(stdout);
    ::signal(told.signal, SIG_DFL);
    ::raise(told.signal);
    return 128 + told.signal;
  } catch (const std::exception& error) {
    (void)refuse(which.name, error.what());
    return 1;
  }
}

std::string table_of(const auto& lines) {
  return base::two_columns(
      lines, [](const auto& line) { return line.name; }, [](const auto& line) { return line.help; });
}

std::string front_page() {
  return "heddle " HEDDLE_VERSION_STRING
         ", a runtime for nested parallel programs\n\nusage: heddle COMMAND [ARGUMENTS]\n\ncommands:\n" +
         table_of(commands()) + "\npages of `heddle help PAGE` (or the name of a command):\n" + table_of(topics()) +
         "\nheddle --version prints the version.\nExit status: 0 done, 1 failed, 2 bad argument.\n";
}

int help(std::span<const std::string> arguments) {
  if (arguments.empty()) {
    fmt::print("{}", front_page());
    return 0;
  }
  const std::string& page = arguments[0];
  const std::optional<command> of_command = find(commands(), page);
  const std::optional<topic> of_topic = find(topics(), page);
  const bool has_markdown = of_topic && of_topic->markdown != nullptr;
  const bool markdown = has_markdown && arguments.size() > 1 && arguments[1] == "--markdown";
  if ((of_command || of_topic) && arguments.size() > (markdown ? 2u : 1u)) {
    return refuse("help", fmt::format("argument '{}' is one too many{}", arguments[markdown ? 2 : 1],
                                      has_markdown ? "; the page takes --markdown" : ""));
  }
  if (of_command) return run_command(*of_command, std::vector<std::string>{"--help"});
  if (of_topic) {
    fmt::print("{}", markdown ? of_topic->markdown() : of_topic->text());
    return 0;
  }
  std::vector<std::string> names = names_of(topics());
  for (const std::string& name : names_of(commands())) names.push_back(name);
  return refuse("help", usage_error::unknown("page", page, names).what());
}

}  // namespace

registration::registration(const command& c) { command_table().push_back(c); }
registration::registration(const topic& t) { topic_table().push_back(t); }

std::vector<command> commands() { return by_name(command_table()); }
std::vector<topic> topics() { return by_name(topic_table()); }

std::string help_of(const command& which) {
  CLI::App app(which.help, std::string("heddle ") + which.name);
  (void)declare(app, which);
  return app.help();
}

usage_error usage_error::unknown(std::string_view argument, std::string_view given,
                                 std::span<const std::string> valid) {
  std::string hint = base::did_you_mean(given, valid);
  if (hint.empty()) hint = "; valid: " + base::alternatives(valid);
  return usage_error(fmt::format("{} '{}' is unknown{}", argument, given, hint));
}

int run(std::span<const std::string> arguments) {
  if (arguments.empty() || arguments[0] == "--help" || arguments[0] == "-h") return help({});
  const std::string& first = arguments[0];
  if (first == "--version") {
    fmt::print("heddle " HEDDLE_VERSION_STRING "\n");
    return 0;
  }
  if (first == "help") return help(arguments.subspan(1));
  if (const auto which = find(commands(), first)) return run_command(*which, arguments.subspan(1));
  std::vector<std::string> names = names_of(commands());
  names.insert(names.end(), {"help", "--help", "--version"});
  return refuse("", usage_error::unknown(first.starts_with("-") ? "option" : "command", first, names).what());
}

}  // namespace heddle::cli
