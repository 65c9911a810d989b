#include "policy/registry.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/nearest.hpp"
#include "policy/adws/adws.hpp"
#include "policy/adws/ml_adaptive.hpp"
#include "policy/automatic.hpp"
#include "policy/further.hpp"
#include "policy/parameters.hpp"
#include "policy/plugin.hpp"
#include "policy/serial.hpp"
#include "policy/shared_cache/sb.hpp"
#include "policy/stealing/random_ws.hpp"
#include "policy/stealing/work_sharing.hpp"

namespace heddle::policy {

std::unique_ptr<policy> serial::make(parameters&) { return create<serial>(); }

namespace {

const registration daily[] = {
    {"random_ws",
     "random work stealing, spawn=queued|child|parent, victim=random|history|hybrid (Blumofe and Leiserson 1999; "
     "Bak et al. 2021)",
     random_ws::make},
    {"auto",
     "ml-adaptive or random stealing, by machine, hints and what the first runs laid out (a policy_note says why)",
     automatic::make},
    {"adws",
     "almost deterministic work stealing, steal=on|off, width=even|speed, patience=N looks before stealing "
     "(Shiina and Taura 2019)",
     adws::make},
    {"ml-adws",
     "multi-level ADWS, by the groups' bytes, aggregation=range|group, steal=on|off, width=even|speed "
     "(Shiina 2021)",
     adws::make_ml_adws},
    {"ml-adaptive",
     "multi-level ADWS whose idle workers leave their level, patience=16, levels=on|off "
     "(docs/investigations/ml-adaptive.md)",
     ml_adaptive::make},
    {"ml-ws", "multi-level work stealing, by the groups' bytes (Shiina 2021)", adws::make_ml_ws},
    {"sb", "space-bounded, by the groups' bytes, sigma=0.5, mu=0.2 (Blelloch et al. 2011)", sb::make},
    {"sb-d", "the same with distributed queues (Simhadri et al. 2014)", sb::make_distributed},
    {"work_sharing", "one central queue, order=lifo|fifo", work_sharing::make},
    {"serial", "no stealing: the order of the serial program; specification of the policy interface", serial::make},
};

// By plugins and programs.
std::vector<registration>& added() {
  static std::vector<registration> lines;
  return lines;
}

constexpr std::string_view names_of_further[] = {
#define HEDDLE_POLICY(name, summary, make) name,
#include "policy/further.def"
};

// The library of further policies, if a user has named it.
std::string& file_of_further() {
  static std::string file;
  return file;
}

const registration* find(std::span<const registration> lines, std::string_view name) {
  const auto found = std::find_if(lines.begin(), lines.end(), [&](const registration& l) { return name == l.name; });
  return found == lines.end() ? nullptr : &*found;
}

const registration* find_further(std::string_view name) {
  if (std::find(std::begin(names_of_further), std::end(names_of_further), name) == std::end(names_of_further))
    return nullptr;
  const std::string said = "policy '" + std::string(name) + "' is in the library of further policies, ";
  std::span<const registration> lines;
  try {
    lines = further(file_of_further());
  } catch (const std::invalid_argument& e) {
    throw std::invalid_argument(said + "which cannot be used: " + e.what() +
                                "; put it beside libheddle.so, or name it in HEDDLE_POLICY_PLUGIN");
  }
  const registration* const found = find(lines, name);
  if (found == nullptr)
    throw std::invalid_argument(said + "but not in the one that was loaded: use libheddle.so's own");
  return found;
}

std::vector<std::string> all_names() {
  std::vector<std::string> names;
  for (const registration& line : daily) names.emplace_back(line.name);
  names.insert(names.end(), std::begin(names_of_further), std::end(names_of_further));
  for (const registration& line : added()) names.emplace_back(line.name);
  return names;
}

}  // namespace

std::vector<registration> all() {
  std::vector<registration> lines(std::begin(daily), std::end(daily));
  const std::span<const registration> more = further(file_of_further());
  lines.insert(lines.end(), more.begin(), more.end());
  lines.insert(lines.end(), added().begin(), added().end());
  return lines;
}

void add(const registration& line) {
  const std::vector<std::string> names = all_names();
  if (std::find(names.begin(), names.end(), line.name) != names.end())
    throw std::invalid_argument("a policy is called '" + std::string(line.name) + "' already");
  added().push_back(line);
}

void load_plugins(std::string_view files) {
  static std::set<std::string, std::less<>> loaded;
  while (!files.empty()) {
    const std::size_t colon = files.find(':');
    const std::string_view file = files.substr(0, colon);
    files = colon == std::string_view::npos ? "" : files.substr(colon + 1);
    if (file.empty() || loaded.contains(file)) continue;
    if (file.substr(file.rfind('/') + 1).starts_with("libheddle_policies.so")) {
      file_of_further() = file;  // their names are in the table already
    } else {
      for (const registration& line : lines_of_plugin(std::string(file))) add(line);
    }
    loaded.emplace(file);
  }
}

std::unique_ptr<policy> make(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  std::vector<parameter> given;
  if (colon != std::string_view::npos) {
    std::string_view rest = text.substr(colon + 1);
    while (!rest.empty()) {
      const std::size_t comma = rest.find(',');
      const std::string_view part = rest.substr(0, comma);
      const std::size_t equals = part.find('=');
      const std::string_view key = part.substr(0, equals);
      if (std::any_of(given.begin(), given.end(), [&](const parameter& p) { return p.name == key; }))
        throw std::invalid_argument("policy " + std::string(name) + ": " + std::string(key) + " is given twice");
      given.push_back({key, equals == std::string_view::npos ? "" : part.substr(equals + 1)});
      rest = comma == std::string_view::npos ? "" : rest.substr(comma + 1);
    }
  }
  const registration* line = find(daily, name);
  if (line == nullptr) line = find(added(), name);
  if (line == nullptr) line = find_further(name);
  if (line != nullptr) {
    given_parameters taken(name, std::move(given));
    std::unique_ptr<policy> made = line->make(taken);
    taken.finish();
    if (made == nullptr || !made->was_created())
      throw std::invalid_argument("policy " + std::string(name) + " was not made by heddle::policy::create");
    return made;
  }
  const std::vector<std::string> names = all_names();
  std::string message = "no policy is called '" + std::string(name) + "'; the policies are";
  for (const std::string& known : names) message += " " + known;
  message += base::did_you_mean(name, names);
  throw std::invalid_argument(message);
}

}  // namespace heddle::policy
