#include "cli/paper/machine.hpp"

#include <fmt/format.h>

#include <regex>
#include <stdexcept>

#include "base/replace_file.hpp"
#include "machine/model.hpp"

namespace heddle::cli::paper {
namespace {

// Turns l3:1(size=39424KiB) into l3:1(size=9856KiB).
std::string with_smaller_caches(const std::string& text, unsigned shrink) {
  static const std::regex cache(R"((l[2-5]:\d+\(size=)(\d+)(KiB|MiB))");
  std::string result;
  auto rest = text.cbegin();
  for (std::sregex_iterator it(text.begin(), text.end(), cache), end; it != end; ++it) {
    const std::smatch& m = *it;
    const unsigned long kib = std::stoul(m[2].str()) * (m[3].str() == "MiB" ? 1024 : 1);
    result.append(rest, m[0].first);
    result += fmt::format("{}{}KiB", m[1].str(), kib / shrink);
    rest = m[0].second;
  }
  result.append(rest, text.cend());
  if (result == text) throw std::invalid_argument("the machine's file has no cache sizes to divide");
  return result;
}

// Divides the scheduler's costs, because tasks become smaller with the caches, and the scheduler should keep its
// proportion to them.
std::string smaller_costs(const std::string& machine, unsigned shrink) {
  const machine::model m = machine::model::from_name(machine);
  std::string text = fmt::format("title = \"scheduler's costs divided by {}\"\n[costs]\n", shrink);
  for (const machine::cost_key& key : machine::cost_keys())
    text += fmt::format("{} = {}\n", key.name, m.costs.*key.member / shrink);
  return text;
}

std::string costs_without_memory(const std::string& machine) {
  const machine::model m = machine::model::from_name(machine);
  const double latency = m.caches.front().latency;
  std::string text = "title = \"memory costs nothing\"\n";
  for (const machine::cache_level& level : m.caches)
    text += fmt::format("[cache.{}]\nlatency = {}\ntransfer = {}\nupgrade = {}\n", machine::name(level.kind), latency,
                        latency, latency);
  text +=
      fmt::format("[memory]\nlatency = {}\nbandwidth = 0\ntransfer = {}\nupgrade = {}\n", latency, latency, latency);
  if (!m.links.empty())
    text += fmt::format("[links]\nlatency = 0\nbandwidth = 0\ntransfer = {}\nupgrade = {}\n", latency, latency);
  return text;
}

}  // namespace

std::string machine_variant(const std::string& machine, unsigned shrink, bool free_memory,
                            const scratch_folder& folder) {
  std::string result = machine;
  if (shrink > 1) {
    result = folder.file(fmt::format("{}-caches-1-{}.toml", machine, shrink));
    base::replace_file(result, with_smaller_caches(std::string(machine::model::shipped_text(machine)), shrink));
    const std::string costs = folder.file(fmt::format("{}-costs-1-{}.toml", machine, shrink));
    base::replace_file(costs, smaller_costs(machine, shrink));
    result += "+" + costs;
  }
  if (free_memory) {
    const std::string costs = folder.file(fmt::format("{}-free-memory.toml", machine));
    base::replace_file(costs, costs_without_memory(machine));
    result += "+" + costs;
  }
  return result;
}

std::vector<int> nodes_of_workers(const std::string& machine, unsigned workers) {
  const machine::model m = machine::model::from_name(machine);
  std::vector<int> nodes;
  for (const machine::processing_unit& u : m.tree.units()) nodes.push_back(u.numa);
  if (nodes.size() != workers) nodes.clear();
  return nodes;
}

}  // namespace heddle::cli::paper
