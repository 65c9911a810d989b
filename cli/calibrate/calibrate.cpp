// heddle calibrate: a machine file for this machine, from measurements.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <set>

#include "base/replace_file.hpp"
#include "cli/calibrate/measure.hpp"
#include "cli/checks.hpp"
#include "cli/command.hpp"
#include "cli/here.hpp"
#include "machine/limits.hpp"
#include "machine/model.hpp"

namespace heddle::cli {
namespace {

using calibrate::memory_figures;

struct calibrate_arguments {
  std::string output;
  bool quick = false;
};

// One unit of each core, those of the affinity mask, in the order of the tree.
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

// A cache further out never answers earlier in a model; noise may say so.
double raised(double measured, double inside, const std::string& key, toml_text& out) {
  measured = std::strtod(fmt::format("{:.4g}", measured).c_str(), nullptr);  // as the file will have it
  if (measured >= inside) return measured;
  out.assumptions.push_back(fmt::format("{}: {:.3g} ns were measured, less than inside it; raised", key, measured));
  return inside;
}

void write_memory(const machine::model& defaults, const memory_figures& m, std::size_t units, toml_text& out) {
  double inside = 0;
  for (const machine::cache_level& level : defaults.caches) {
    const std::string key = fmt::format("cache.{}.latency", machine::name(level.kind));
    const auto found = m.latency.find(level.kind);
    if (found == m.latency.end()) out.assumptions.push_back(key + ": not measured, the default");
    else out.measured.push_back(key);
    const double own = raised(found != m.latency.end() ? found->second : level.latency, inside, key, out);
    out.body += fmt::format("[cache.{}]\nlatency = {:.4g}\n", machine::name(level.kind), own);
    inside = std::max(inside, own);
  }
  const double latency = raised(m.memory_latency, inside, "memory.latency", out);
  out.body += fmt::format(
      "\n# Read by {} at once; one core alone: {:.3g}.\n[memory]\nlatency = {:.4g}\nbandwidth = {:.4g}\nchannels = "
      "{}\n",
      units == 1 ? "one core" : fmt::format("{} cores", units), m.one_core_bandwidth, latency,
      m.bandwidth / static_cast<double>(defaults.nodes.size()), defaults.nodes.front().channels);
  for (const char* key : {"memory.latency", "memory.bandwidth"}) out.measured.push_back(key);
  out.assumptions.push_back("time_slice: not measured, the default");
  out.assumptions.push_back("memory.channels: not measured, the default");
  if (defaults.nodes.size() > 1) {
    out.assumptions.push_back(
        "memory: latency of the first core's node; bandwidth of all nodes together, divided by their number");
    out.body += fmt::format("\n[links]\nlatency = {:.4g}\nbandwidth = {:.4g}\n", defaults.links.front().latency,
                            defaults.links.front().bandwidth);
    out.assumptions.push_back("links: not measured, the default");
  }
  out.body += "\n# Bytes chased through and ns a step, address translation included:\n";
  for (const auto& [bytes, step] : m.curve) out.body += fmt::format("# {:>10} {:8.2f}\n", bytes, step);
}

void write_costs(const machine::model& defaults, const std::map<std::string, double>& measured, toml_text& out) {
  out.body += "\n[costs]                        # ns\n";
  for (const machine::cost_key& cost : machine::cost_keys()) {
    const auto found = measured.find(cost.name);
    const double value = found != measured.end() ? found->second : defaults.costs.*cost.member;
    out.body += fmt::format("{} = {:.4g}\n", cost.name, value);
    if (found == measured.end())
      out.assumptions.push_back(fmt::format("costs.{}: not measured, the default", cost.name));
    else out.measured.push_back(fmt::format("costs.{}", cost.name));
  }
  if (measured.contains("fork"))
    out.assumptions.push_back("costs.fork: fork and join were measured together; each has half");
}

std::string file_text(const machine::model& defaults, const memory_figures& memory,
                      const std::map<std::string, double>& costs, std::size_t units, const std::string& tree) {
  toml_text out;
  const double latency = std::max(memory.memory_latency, 1.0);
  const double line_time = 64 / memory.one_core_bandwidth;
  const unsigned overlap = static_cast<unsigned>(std::clamp(latency / line_time + 0.5, 1.0, 1024.0));
  write_memory(defaults, memory, units, out);
  write_costs(defaults, costs, out);
  const std::string date = now_as(day, zone::local);
  std::string text =
      fmt::format("title = \"measured by heddle calibrate on {}\"\nsources = [\"heddle calibrate " HEDDLE_VERSION_STRING
                  ", {}: the quiet quartile of repeated runs\"]\n",
                  date, date);
  text += "assumptions = [\n";
  for (const std::string& line : out.assumptions) text += "  " + toml_quoted(line) + ",\n";
  text += fmt::format(
      "]\n\ntree = {}\nfrequency = {:.3f}              # additions that wait for each other, per ns\noverlap = {}      "
      "             # memory latency over the time of a line when one core reads in order\n"
      "page_size = {}\ntime_slice = {}\n\n",
      toml_quoted(tree), memory.frequency, overlap, defaults.page_size, defaults.time_slice);
  text += out.body + "\n[origin]\n";
  for (const char* key : {"frequency", "overlap"}) out.measured.emplace_back(key);
  for (const std::string& key : out.measured)
    text += fmt::format("{} = \"measured: heddle calibrate, {}\"\n", key, date);
  return text;
}

int run(const calibrate_arguments& given) {
  calibrate::effort how;
  if (given.quick) how = {7, 5e5, std::size_t{64} << 20};
  const machine::model defaults = machine::model::from_name("this");
  const std::vector<int> units = units_to_use(defaults.tree);
  const memory_figures memory = calibrate::measure_memory(defaults.tree, units, how);
  const std::map<std::string, double> costs = calibrate::measure_operations(units, how);
  if (given.output.empty()) {
    fmt::print("{}", file_text(defaults, memory, costs, units.size(), "this"));
    return 0;
  }
  // The tree goes along, so that the file means this machine on any other.
  const std::string xml = machine::topology::this_machine_xml();
  std::string tree = "this";
  if (!xml.empty()) {
    const std::filesystem::path beside = std::filesystem::path(given.output).replace_extension(".xml");
    base::replace_file(beside.string(), xml);
    tree = beside.filename().string();
  }
  base::replace_file(given.output, file_text(defaults, memory, costs, units.size(), tree));
  const machine::model made = machine::model::from_name(given.output);  // what cannot be read back is no result
  fmt::print("{}: {} processing units, {:.2f} GHz, memory {:.0f} ns; `heddle topo --machine {}` shows it\n",
             given.output, made.tree.units().size(), made.frequency, made.nodes.front().latency, given.output);
  return 0;
}

std::function<int()> add(CLI::App& app) {
  auto given = std::make_shared<calibrate_arguments>();
  app.add_option("-o,--output", given->output,
                 "File to write, NAME.toml; NAME.xml with the tree comes beside it. Standard output if not given")
      ->check(output_file({".toml"}));
  app.add_flag("--quick", given->quick, "Fewer and shorter runs: about a second, and more noise");
  return [given] { return run(*given); };
}

const registration entry{command{"calibrate", "measure this machine and write a machine file for the simulator", add}};

}  // namespace
}  // namespace heddle::cli
