// heddle calibrate: a machine file for this machine, from measurements.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <set>

#include "base/replace_file.hpp"
#include "cli/calibrate/measure.hpp"
#include "cli/checks.hpp"
#include "cli/command.hpp"
#include "cli/here.hpp"
#include "cli/median.hpp"
#include "machine/limits.hpp"
#include "machine/model.hpp"

namespace heddle::cli {
namespace {

using calibrate::figures;
using calibrate::latency_curve;

struct calibrate_arguments {
  std::string output;
  bool quick = false;
  bool keep_unstable = false;
};

// The medians of all rounds.
struct settled {
  figures values;
  latency_curve curve;
  std::vector<std::string> unstable;  // "KEY: WHY"
  std::size_t rounds;
};

// Returns one unit of each core, among those of the affinity mask, in the order of the tree.
std::vector<int> units_to_use(const machine::topology& here) {
  const std::vector<int> mask = machine::affinity_mask();
  const std::set<int> allowed(mask.begin(), mask.end());
  std::vector<int> units;
  std::set<unsigned> cores;
  for (const machine::processing_unit& u : here.units()) {
    if ((allowed.empty() || allowed.contains(u.number)) && cores.insert(u.core).second) units.push_back(u.number);
  }
  if (units.empty()) throw std::runtime_error("no processing unit of the affinity mask is known");
  return units;
}

std::string toml_quoted(std::string_view text) {
  std::string made = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') made += '\\';
    made += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return made + "\"";
}

struct toml_text {
  std::string body;
  std::vector<std::string> assumptions;
  std::vector<std::string> measured;  // keys
};

// In a model an outer cache never answers earlier than an inner one; noise in the measurements may say so.
double raised(double measured, double inside, const std::string& key, toml_text& out) {
  measured = std::strtod(fmt::format("{:.4g}", measured).c_str(), nullptr);  // rounded as the file will have it
  if (measured >= inside) return measured;
  out.assumptions.push_back(fmt::format("{}: {:.3g} ns were measured, less than inside it; raised", key, measured));
  return inside;
}

// Returns the bytes of one set of that level, or 0 if unknown.
std::size_t set_bytes(const machine::topology& tree, machine::group_kind kind) {
  for (const machine::cache_info& c : tree.caches()) {
    if (c.kind == kind && c.associativity > 0) return static_cast<std::size_t>(c.associativity) * c.line_size;
  }
  return 0;
}

// Writes the transfer costs between cores that meet at this table; `own` is the table's own latency in ns. Costs that
// are not written follow from other figures.
void write_transfers(const figures& measured, const std::string& table, double own, toml_text& out) {
  const auto transfer = measured.find(table + ".transfer"), upgrade = measured.find(table + ".upgrade");
  if (transfer == measured.end() || upgrade == measured.end()) return;
  out.body += fmt::format("transfer = {:.4g}\nupgrade = {:.4g}\n", raised(transfer->second, own, transfer->first, out),
                          upgrade->second);
  out.measured.insert(out.measured.end(), {transfer->first, upgrade->first});
}

void write_memory(const machine::model& defaults, const settled& m, std::size_t units, toml_text& out) {
  double inside = 0;
  for (const machine::cache_level& level : defaults.caches) {
    const std::string key = fmt::format("cache.{}.", machine::name(level.kind));
    const auto found = m.values.find(key + "latency");
    if (found == m.values.end()) out.assumptions.push_back(key + "latency: not measured, the default");
    else out.measured.push_back(key + "latency");
    const double own = raised(found != m.values.end() ? found->second : level.latency, inside, key + "latency", out);
    out.body += fmt::format("[cache.{}]\nlatency = {:.4g}\n", machine::name(level.kind), own);
    if (const auto size = m.values.find(key + "size"); size != m.values.end()) {
      const auto about = static_cast<std::size_t>(size->second);
      out.body += fmt::format("size = {}                   # what others leave of it\n",
                              calibrate::whole_sets(about, set_bytes(defaults.tree, level.kind)));
    }
    write_transfers(m.values, fmt::format("cache.{}", machine::name(level.kind)), own, out);
    inside = std::max(inside, own);
  }
  const double latency = raised(m.values.at("memory.latency"), inside, "memory.latency", out);
  out.body += fmt::format(
      "\n# Read by {} at once; one core alone: {:.3g}.\n[memory]\nlatency = {:.4g}\nbandwidth = {:.4g}\nchannels = "
      "{}\n",
      units == 1 ? "one core" : fmt::format("{} cores", units),
      m.values.at("overlap") * 64 / m.values.at("memory.latency"), latency,
      m.values.at("memory.bandwidth") / static_cast<double>(defaults.nodes.size()), defaults.nodes.front().channels);
  for (const char* key : {"memory.latency", "memory.bandwidth"}) out.measured.push_back(key);
  write_transfers(m.values, "memory", 0, out);
  for (const char* key : {"time_slice", "window"})
    out.assumptions.push_back(fmt::format("{}: not measured, the default", key));
  out.assumptions.push_back("memory.channels: not measured, the default");
  if (defaults.nodes.size() > 1) {
    out.assumptions.push_back(
        "memory: latency of the first core's node; bandwidth of all nodes together, divided by their number");
    out.body += fmt::format("\n[links]\nlatency = {:.4g}\nbandwidth = {:.4g}\n", defaults.links.front().latency,
                            defaults.links.front().bandwidth);
    write_transfers(m.values, "links", 0, out);
    out.assumptions.push_back("links: latency and bandwidth not measured, the default");
  }
  out.body += "\n# Bytes chased through and ns a step, address translation included:\n";
  for (const auto& [bytes, step] : m.curve) out.body += fmt::format("# {:>10} {:8.2f}\n", bytes, step);
}

void write_costs(const machine::model& defaults, const figures& measured, toml_text& out) {
  out.body += "\n[costs]                        # ns\n";
  for (const machine::cost_key& cost : machine::cost_keys()) {
    const std::string key = fmt::format("costs.{}", cost.name);
    const auto found = measured.find(key);
    const double value = found != measured.end() ? found->second : defaults.costs.*cost.member;
    out.body += fmt::format("{} = {:.4g}\n", cost.name, value);
    if (found == measured.end()) out.assumptions.push_back(key + ": not measured, the default");
    else out.measured.push_back(key);
  }
  if (measured.contains("costs.fork"))
    out.assumptions.push_back("costs.fork: fork and join were measured together; each has half");
}

std::string file_text(const machine::model& defaults, const settled& m, std::size_t units, const std::string& tree) {
  toml_text out;
  const unsigned overlap = static_cast<unsigned>(std::clamp(m.values.at("overlap") + 0.5, 1.0, 1024.0));
  write_memory(defaults, m, units, out);
  write_costs(defaults, m.values, out);
  for (const std::string& line : m.unstable) out.assumptions.push_back(line);
  const std::string date = now_as(day, zone::local);
  std::string text =
      fmt::format("title = \"measured by heddle calibrate on {}\"\nsources = [\"heddle calibrate " HEDDLE_VERSION_STRING
                  ", {}: medians of {} rounds, in each the quiet quartile of repeated runs\"]\n",
                  date, date, m.rounds);
  text += "assumptions = [\n";
  for (const std::string& line : out.assumptions) text += "  " + toml_quoted(line) + ",\n";
  text += fmt::format(
      "]\n\ntree = {}\nfrequency = {:.3f}              # additions that wait for each other, per ns\noverlap = {}      "
      "             # memory latency over the time of a line when one core reads in order\n"
      "page_size = {}\ntime_slice = {}\nwindow = {}\n\n",
      toml_quoted(tree), m.values.at("frequency"), overlap, defaults.page_size, defaults.time_slice, defaults.window);
  text += out.body + "\n[origin]\n";
  for (const char* key : {"frequency", "overlap"}) out.measured.emplace_back(key);
  for (const std::string& key : out.measured)
    text += fmt::format("{} = \"measured: heddle calibrate, {}\"\n", key, date);
  return text;
}

settled measure(const machine::topology& tree, const std::vector<int>& units, const calibrate::effort& how) {
  calibrate::rounds all;
  std::vector<latency_curve> curves;
  do {
    figures round = calibrate::measure_memory(tree, units, how, curves.emplace_back());
    round.merge(calibrate::measure_transfers(tree, units, how));
    const double between = calibrate::clock_now(units.front(), how);
    round.merge(calibrate::measure_operations(units, how));
    all.add(round, std::min({round.at("frequency"), between, calibrate::clock_now(units.front(), how)}));
  } while (all.all() < how.most_rounds && (all.count() < how.least_rounds || !all.unstable().empty()));
  settled made{all.medians(), {}, all.unstable(), all.count()};
  if (all.count() < how.least_rounds)
    made.unstable.push_back(
        fmt::format("frequency: not stable, as fast as at its best in {} of {} rounds, and others "
                    "do not count",
                    all.count(), all.all()));
  std::map<std::size_t, std::vector<double>> steps;
  for (const std::size_t round : all.kept()) {
    for (const auto& [bytes, step] : curves[round]) steps[bytes].push_back(step);
  }
  for (const auto& [bytes, values] : steps) made.curve[bytes] = median(values);
  return made;
}

int run(const calibrate_arguments& given) {
  calibrate::effort how;
  if (given.quick) how = {3, 6, 7, 5e5, std::size_t{64} << 20};
  const machine::model defaults = machine::model::from_name("this");
  const std::vector<int> units = units_to_use(defaults.tree);
  const settled found = measure(defaults.tree, units, how);
  if (!found.unstable.empty() && !given.keep_unstable) {
    throw std::runtime_error(
        fmt::format("the figures are not stable, so nothing is written: {}; stop what else runs on this machine and "
                    "try again, or take the medians with --keep-unstable",
                    fmt::join(found.unstable, "; ")));
  }
  if (given.output.empty()) {
    fmt::print("{}", file_text(defaults, found, units.size(), "this"));
    return 0;
  }
  // The tree is stored beside the file, so that the file means this machine on any other machine.
  const std::string xml = machine::topology::this_machine_xml();
  std::string tree = "this";
  if (!xml.empty()) {
    const std::filesystem::path beside = std::filesystem::path(given.output).replace_extension(".xml");
    base::replace_file(beside.string(), xml);
    tree = beside.filename().string();
  }
  base::replace_file(given.output, file_text(defaults, found, units.size(), tree));
  // A file that cannot be read back is no result.
  const machine::model made = machine::model::from_name(given.output);
  fmt::print("{}: {} processing units, {:.2f} GHz, memory {:.0f} ns; `heddle topo --machine {}` shows it\n",
             given.output, made.tree.units().size(), made.frequency, made.nodes.front().latency, given.output);
  return 0;
}

std::function<int()> add_calibrate(CLI::App& app) {
  auto given = std::make_shared<calibrate_arguments>();
  app.add_option("-o,--output", given->output,
                 "File to write, NAME.toml; NAME.xml with the tree comes beside it. Standard output if not given")
      ->check(output_file({".toml"}));
  app.add_flag("--quick", given->quick, "Fewer and shorter runs: some seconds, and more noise");
  app.add_flag("--keep-unstable", given->keep_unstable,
               "Write the medians of figures that differ from round to round, too, and say so in the file");
  return [given] { return run(*given); };
}

const registration calibrate_entry{
    command{"calibrate", "measure this machine and write a machine file for the simulator", add_calibrate}};

}  // namespace
}  // namespace heddle::cli
