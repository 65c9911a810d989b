#include "cli/paper/attempt.hpp"

namespace heddle::cli::paper {

using nlohmann::json;

json as_json(const attempt& a) {
  json j{{"seconds", a.got.seconds}, {"workers", a.got.workers}, {"failure", a.failure}, {"rounds", a.rounds},
         {"checked", a.checked},     {"commit", a.commit},       {"took", a.took}};
  if (a.got.has_counts) {
    const counted& c = a.got.counts;
    json levels = json::object();
    for (const auto& [name, level] : c.levels) levels[name] = {level.accesses, level.misses};
    j["counts"] = {{"virtual_seconds", c.virtual_seconds},
                   {"busy", c.busy},
                   {"idle", c.idle},
                   {"overhead", c.overhead},
                   {"steals", c.steals},
                   {"local_bytes", c.local_bytes},
                   {"remote_bytes", c.remote_bytes},
                   {"least_local_bytes", c.least_local_bytes},
                   {"levels", levels}};
  }
  if (!a.got.map.empty()) j["map"] = a.got.map.as_json();
  if (!a.got.notes.empty()) j["notes"] = a.got.notes;
  return j;
}

attempt attempt_from(const json& j) {
  attempt a;
  a.got.seconds = j.at("seconds");
  a.got.workers = j.at("workers");
  a.failure = j.at("failure");
  a.rounds = j.at("rounds").get<std::vector<double>>();
  a.checked = j.at("checked");
  a.commit = j.at("commit");
  a.took = j.at("took");
  if (j.contains("counts")) {
    const json& from = j.at("counts");
    counted& c = a.got.counts;
    a.got.has_counts = true;
    c.virtual_seconds = from.at("virtual_seconds");
    c.busy = from.at("busy");
    c.idle = from.at("idle");
    c.overhead = from.at("overhead");
    c.steals = from.at("steals");
    c.local_bytes = from.at("local_bytes");
    c.remote_bytes = from.at("remote_bytes");
    // Older notebooks do not have it.
    c.least_local_bytes = from.value("least_local_bytes", 0.0);
    for (const auto& [name, level] : from.at("levels").items()) c.levels[name] = {level.at(0), level.at(1)};
  }
  if (j.contains("notes")) a.got.notes = j.at("notes").get<std::map<std::string, double>>();
  if (j.contains("map")) a.got.map = task_map::from_json(j.at("map"));
  return a;
}

}  // namespace heddle::cli::paper
