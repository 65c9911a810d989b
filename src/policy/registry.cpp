#include "policy/registry.hpp"

#include <functional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/nearest.hpp"
#include "platform/shared_object.hpp"
#include "policy/adws/adws.hpp"
#include "policy/adws/ml_adaptive.hpp"
#include "policy/automatic.hpp"
#include "policy/clusters/chs.hpp"
#include "policy/clusters/cls.hpp"
#include "policy/clusters/crs.hpp"
#include "policy/clusters/tatl.hpp"
#include "policy/grouped/grouped.hpp"
#include "policy/groups/hws.hpp"
#include "policy/groups/mts.hpp"
#include "policy/iterations/constrained_ws.hpp"
#include "policy/levels/levels.hpp"
#include "policy/numa/numalb.hpp"
#include "policy/parameters.hpp"
#include "policy/serial.hpp"
#include "policy/shared_cache/controlled_pdf.hpp"
#include "policy/shared_cache/pdf.hpp"
#include "policy/shared_cache/sb.hpp"
#include "policy/sockets/cab_fto.hpp"
#include "policy/sockets/cab_gto.hpp"
#include "policy/sockets/laws.hpp"
#include "policy/stealing/hierarchical_ws.hpp"
#include "policy/stealing/pws.hpp"
#include "policy/stealing/random_pushing.hpp"
#include "policy/stealing/random_ws.hpp"
#include "policy/stealing/slaw.hpp"
#include "policy/stealing/work_sharing.hpp"

namespace heddle::policy {

std::unique_ptr<policy> serial::make(parameters&) { return create<serial>(); }

namespace {

std::vector<registration>& table() {
  static std::vector<registration> lines = {
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
      {"cab-fto",
       "upper tasks among sockets, one subtree a socket at a time, cut at a level: level=N, branching=N, bytes=N, "
       "keep=1, patience=8, cache=N, sockets=N (Chen and Guo 2017)",
       cab_fto::make},
      {"cab-gto",
       "the same, cut where data fits the socket's cache, soid=auto|declared|branching|profile, cmpi=0.001, bound=1, "
       "bytes=N, cache=N, sockets=N (Chen and Guo 2017)",
       cab_gto::make},
      {"constrained_ws",
       "iterations replay the steal tree of the first, replay=stows|stuws|relws, relws=5 relaxed ones before "
       "(Lifflander et al. 2014)",
       constrained_ws::make},
      {"crs",
       "stealing in the cluster beside one request to another one, level=N, patience=N (van Nieuwpoort et al. 2001)",
       crs::make},
      {"chs", "stealing up a tree of workers, roots of clusters steal from other clusters, level=N (the same)",
       chs::make},
      {"cls",
       "coordinators of clusters fetch ahead by load, level=N, load=N tasks, interval=16 forks, patience=N (the same)",
       cls::make},
      {"random-pushing", "nobody steals, long queues push to random workers, threshold=4, transit=8 (the same)",
       random_pushing::make},
      {"tatl", "queues advertise that they are long, own domain first, level=N, most=4, least=1 (Vikranth et al. 2013)",
       tatl::make},
      {"grouped",
       "children that come again run in the groups of file=PATH, which `heddle group` makes, steal=near|off, "
       "patience=2; "
       "profile=PATH records what they touch (Yoo et al. 2013)",
       grouped::make},
      {"hierarchical_ws", "work stealing, nearest victims first, attempts=N a ring (Quintin and Wagner 2010)",
       hierarchical_ws::make},
      {"hws", "leaders steal the tree's upper tasks between groups, level=N, attempts=N (Quintin and Wagner 2010)",
       hws::make},
      {"laws",
       "iterations: each task on the socket that owns its data, in subtrees that fit its cache; repeats=2, warmup=1, "
       "margin=0.01, cmpi=0.001, patience=8, cache=N, sockets=N (Chen and Guo 2017)",
       laws::make},
      {"laws-nc", "the same without the subtrees, pieces=8 a socket (Chen and Guo 2017)", laws::make_nc},
      {"work_sharing", "one central queue, order=lifo|fifo", work_sharing::make},
      {"levels",
       "a policy at each level of the machine, l3=adws,l2=random_ws, or numa, l5 .. l1, unit; pieces=4 a group "
       "(Shiina 2021)",
       levels::make},
      {"ml-adws",
       "multi-level ADWS, by the groups' bytes, aggregation=range|group, steal=on|off, width=even|speed "
       "(Shiina 2021)",
       adws::make_ml_adws},
      {"ml-adaptive",
       "multi-level ADWS whose idle workers leave their level, patience=16, levels=on|off "
       "(docs/investigations/ml-adaptive.md)",
       ml_adaptive::make},
      {"ml-ws", "multi-level work stealing, by the groups' bytes (Shiina 2021)", adws::make_ml_ws},
      {"mts", "one queue a memory group, one worker steals for all, victim=random|near, batch=N (Olivier et al. 2011)",
       mts::make},
      {"numalb",
       "children that come again go where their load and messages cost least, alpha=100 ns, objects=1024, sites=4 "
       "(Pilla et al. 2011)",
       numalb::make},
      {"pdf", "parallel depth first: ready tasks in the order of the serial program (Blelloch, Gibbons, Matias 1999)",
       pdf::make},
      {"controlled-pdf",
       "pdf within what fits into the shared cache, by the groups' bytes, shared=BYTES, own=BYTES (Blelloch et al. "
       "2008)",
       controlled_pdf::make},
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

void add(const registration& line) {
  for (const registration& known : table()) {
    if (std::string_view(known.name) == line.name)
      throw std::invalid_argument("a policy is called '" + std::string(line.name) + "' already");
  }
  table().push_back(line);
}

namespace {

void load_plugin(const std::string& file) {
  std::string why;
  void* const object = platform::load_shared_object(file, why);
  if (object == nullptr) throw std::invalid_argument(why);
  const auto* version = static_cast<const unsigned*>(platform::symbol_in(object, "heddle_policy_version"));
  void* const list = platform::symbol_in(object, "heddle_policy_list");
  if (version == nullptr || list == nullptr)
    throw std::invalid_argument(file + " is no plugin of policies: it lacks HEDDLE_POLICIES at its end");
  if (*version != plugin_version) {
    throw std::invalid_argument(file + " was compiled with version " + std::to_string(*version) +
                                " of <heddle/policy.hpp>, this is version " + std::to_string(plugin_version) +
                                ": compile it again");
  }
  unsigned count = 0;
  const registration* lines = reinterpret_cast<const registration* (*)(unsigned*)>(list)(&count);
  for (unsigned i = 0; i < count; ++i) add(lines[i]);
}

}  // namespace

void load_plugins(std::string_view files) {
  static std::set<std::string, std::less<>> loaded;
  while (!files.empty()) {
    const std::size_t colon = files.find(':');
    const std::string_view file = files.substr(0, colon);
    files = colon == std::string_view::npos ? "" : files.substr(colon + 1);
    if (file.empty() || loaded.contains(file)) continue;
    load_plugin(std::string(file));
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
      given.push_back({part.substr(0, equals), equals == std::string_view::npos ? "" : part.substr(equals + 1)});
      rest = comma == std::string_view::npos ? "" : rest.substr(comma + 1);
    }
  }
  std::vector<std::string> names;
  for (const registration& line : all()) {
    names.emplace_back(line.name);
    if (line.name != name) continue;
    given_parameters taken(name, std::move(given));
    std::unique_ptr<policy> made = line.make(taken);
    taken.finish();
    if (made == nullptr || !made->was_created())
      throw std::invalid_argument("policy " + std::string(name) + " was not made by heddle::policy::create");
    return made;
  }
  std::string message = "no policy is called '" + std::string(name) + "'; the policies are";
  for (const std::string& known : names) message += " " + known;
  message += base::did_you_mean(name, names);
  throw std::invalid_argument(message);
}

}  // namespace heddle::policy
