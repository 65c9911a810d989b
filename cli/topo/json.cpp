// The machine in a form for programs.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "cli/topo/view.hpp"
#include "policy/registry.hpp"

namespace heddle::cli::topo {
namespace {

nlohmann::json unit_json(const processing_unit& u) {
  return {{"unit", u.number}, {"core", u.core}, {"package", u.package},
          {"numa", u.numa},   {"kind", u.kind}, {"speed", u.speed}};
}

nlohmann::json group_json(const topology& t, const memory_group& g) {
  nlohmann::json j = {
      {"id", g.id},
      {"level", g.level},
      {"kind", machine::name(g.kind)},
      {"capacity", g.capacity == machine::unlimited ? nlohmann::json(nullptr) : nlohmann::json(g.capacity)},
      {"line_size", g.line_size},
      {"associativity", g.associativity},
      {"sharing", g.sharing},
      {"numa", g.numa},
      {"speed", g.speed},
      {"first_worker", g.first_worker},
      {"workers", g.worker_count},
      {"units", nlohmann::json::array()},
      {"children", nlohmann::json::array()}};
  for (const processing_unit& u : t.view().units_of(g)) j["units"].push_back(u.number);
  for (const memory_group& child : t.view().children(g)) j["children"].push_back(group_json(t, child));
  return j;
}

nlohmann::json model_json(const machine::model& m) {
  nlohmann::json j = {{"name", m.name},
                      {"title", m.title},
                      {"sources", m.sources},
                      {"assumed", m.assumed},
                      {"frequency", m.frequency},
                      {"overlap", m.overlap},
                      {"window", m.window},
                      {"page_size", m.page_size},
                      {"kinds", nlohmann::json::array()},
                      {"levels", nlohmann::json::array()},
                      {"caches", nlohmann::json::array()},
                      {"nodes", nlohmann::json::array()},
                      {"links", nlohmann::json::array()},
                      {"costs", nlohmann::json::object()}};
  for (const machine::core_kind& kind : m.kinds) j["kinds"].push_back({{"name", kind.name}, {"speed", kind.speed}});
  for (const machine::cache_level& level : m.caches)
    j["levels"].push_back({{"kind", machine::name(level.kind)},
                           {"latency", level.latency},
                           {"transfer", level.coherence.transfer},
                           {"upgrade", level.coherence.upgrade},
                           {"victim", level.victim}});
  for (const machine::cache_info& c : m.tree.caches()) {
    nlohmann::json units = nlohmann::json::array();
    for (unsigned i = c.first_unit; i < c.last_unit; ++i) units.push_back(m.tree.units()[i].number);
    j["caches"].push_back({{"kind", machine::name(c.kind)},
                           {"capacity", c.capacity},
                           {"line_size", c.line_size},
                           {"associativity", c.associativity},
                           {"units", units}});
  }
  for (const machine::memory_node& n : m.nodes) {
    j["nodes"].push_back({{"numa", n.numa},
                          {"latency", n.latency},
                          {"bandwidth", n.bandwidth},
                          {"channels", n.channels},
                          {"transfer", n.coherence.transfer},
                          {"upgrade", n.coherence.upgrade}});
  }
  for (const machine::memory_link& l : m.links)
    j["links"].push_back({{"from", l.from},
                          {"to", l.to},
                          {"latency", l.latency},
                          {"bandwidth", l.bandwidth},
                          {"transfer", l.coherence.transfer},
                          {"upgrade", l.coherence.upgrade}});
  for (const machine::cost_key& cost : machine::cost_keys()) j["costs"][cost.name] = m.costs.*cost.member;
  return j;
}

}  // namespace

void print_json(const view& v) {
  nlohmann::json workers = nlohmann::json::array();
  for (unsigned rank = 0; rank < v.placed.workers(); ++rank) {
    nlohmann::json worker = unit_json(v.placed.view().unit_of(rank));
    worker["rank"] = rank;
    for (unsigned other = 0; other < v.placed.workers(); ++other)
      worker["distances"].push_back(v.placed.view().distance(rank, other));
    workers.push_back(worker);
  }
  nlohmann::json quotas = nlohmann::json::array();
  for (const machine::quota& q : v.allowed.quotas) {
    quotas.push_back({{"processors", q.processors}, {"group", q.group}, {"file", q.file}, {"own", q.own}});
  }
  nlohmann::json units = nlohmann::json::array();
  for (const processing_unit& u : v.machine.units()) units.push_back(unit_json(u));
  nlohmann::json policies = nlohmann::json::array();
  for (const policy::registration& line : policy::all())
    policies.push_back({{"name", line.name}, {"summary", line.summary}});
  nlohmann::json all = {{"machine",
                         {{"name", v.machine.name()},
                          {"memory", v.machine.memory_bytes()},
                          {"kinds", v.machine.kinds_of_core()},
                          {"units", units}}},
                        {"tree", group_json(v.shown, v.shown.view().root())},
                        {"workers", workers},
                        {"plan",
                         {{"workers", v.workers.units.size()},
                          {"bind", v.workers.bind},
                          {"crowded", v.workers.crowded},
                          {"reason", v.workers.reason}}},
                        {"limits", {{"mask", v.allowed.mask}, {"quotas", quotas}, {"warnings", v.allowed.warnings}}},
                        {"policies", policies}};
  if (v.model != nullptr) all["model"] = model_json(*v.model);
  fmt::print("{}\n", all.dump(1, ' ', false, nlohmann::json::error_handler_t::replace));
}

}  // namespace heddle::cli::topo
