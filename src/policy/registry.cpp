#include <stdexcept>

#include "base/nearest.hpp"
#include "policy/adws.hpp"
#include "policy/automatic.hpp"
#include "policy/constrained_ws.hpp"
#include "policy/hierarchical_ws.hpp"
#include "policy/hws.hpp"
#include "policy/ml_adaptive.hpp"
#include "policy/ml_adws.hpp"
#include "policy/ml_ws.hpp"
#include "policy/mts.hpp"
#include "policy/parameters.hpp"
#include "policy/pdf.hpp"
#include "policy/policy.hpp"
#include "policy/pws.hpp"
#include "policy/random_ws.hpp"
#include "policy/sb.hpp"
#include "policy/serial.hpp"
#include "policy/slaw.hpp"
#include "policy/work_sharing.hpp"

namespace heddle::policy {

bool policy::may_find(unsigned self) noexcept {
  for (unsigned victim = 0; victim < host_->workers(); ++victim) {
    if (victim != self && host_->has_work(victim)) return true;
  }
  return false;
}

std::unique_ptr<policy> serial::make(const std::vector<parameter>& given) {
  parameters("serial", given).finish();
  return std::make_unique<serial>();
}

namespace {

std::vector<registration>& table() {
  static std::vector<registration> lines = {
      {"random_ws", "random work stealing, spawn=queued|child|parent (Blumofe and Leiserson 1999)", random_ws::make},
      {"auto",
       "ml-adaptive or random stealing, by machine, hints and what the first runs laid out (a policy_note says why)",
       automatic::make},
      {"adws",
       "almost deterministic work stealing, steal=on|off, patience=N looks before stealing (Shiina and Taura 2019)",
       adws::make},
      {"constrained_ws",
       "iterations replay the steal tree of the first, replay=stows|stuws|relws, relws=5 relaxed ones before "
       "(Lifflander et al. 2014)",
       constrained_ws::make},
      {"hierarchical_ws", "work stealing, nearest victims first, attempts=N a ring (Quintin and Wagner 2010)",
       hierarchical_ws::make},
      {"hws", "leaders steal the tree's upper tasks between groups, level=N, attempts=N (Quintin and Wagner 2010)",
       hws::make},
      {"work_sharing", "one central queue, order=lifo|fifo", work_sharing::make},
      {"ml-adws", "multi-level ADWS, by the groups' bytes, aggregation=range|group, steal=on|off (Shiina 2021)",
       ml_adws::make},
      {"ml-adaptive",
       "multi-level ADWS whose idle workers leave their level, patience=16, levels=on|off "
       "(docs/investigations/ml-adaptive.md)",
       ml_adaptive::make},
      {"ml-ws", "multi-level work stealing, by the groups' bytes (Shiina 2021)", ml_ws::make},
      {"mts", "one queue a memory group, one worker steals for all, victim=random|near, batch=N (Olivier et al. 2011)",
       mts::make},
      {"pdf", "parallel depth first: ready tasks in the order of the serial program (Blelloch, Gibbons, Matias 1999)",
       pdf::make},
      {"pws", "work stealing, victims by the inverse of their distance (Quintin and Wagner 2010)", pws::make},
      {"sb", "space-bounded, by the groups' bytes, sigma=0.5, mu=0.2 (Blelloch et al. 2011)", sb::make},
      {"sb-d", "the same with distributed queues (Simhadri et al. 2014)", sb::make_distributed},
      {"slaw", "child or parent first at each spawn, depth=256, fresh=64, interval=64, steals=8 (Guo et al. 2010)",
       slaw::make},
      {"serial", "no stealing: the order of the serial program; specification of the policy interface", serial::make},
  };
  return lines;
}

}  // namespace

const std::vector<registration>& all() { return table(); }

void add(const registration& line) { table().push_back(line); }

std::unique_ptr<policy> make(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  std::vector<parameter> parameters;
  if (colon != std::string_view::npos) {
    std::string_view rest = text.substr(colon + 1);
    while (!rest.empty()) {
      const std::size_t comma = rest.find(',');
      const std::string_view part = rest.substr(0, comma);
      const std::size_t equals = part.find('=');
      parameters.push_back({part.substr(0, equals), equals == std::string_view::npos ? "" : part.substr(equals + 1)});
      rest = comma == std::string_view::npos ? "" : rest.substr(comma + 1);
    }
  }
  std::vector<std::string> names;
  for (const registration& line : all()) {
    if (line.name == name) return line.make(parameters);
    names.emplace_back(line.name);
  }
  std::string message = "no policy is called '" + std::string(name) + "'; the policies are";
  for (const std::string& known : names) message += " " + known;
  message += base::did_you_mean(name, names);
  throw std::invalid_argument(message);
}

}  // namespace heddle::policy
