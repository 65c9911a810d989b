#include "policy/grouped/grouping.hpp"

#include <stdexcept>

#include "policy/grouped/sharing_profile.hpp"
#include "policy/text_lines.hpp"

namespace heddle::policy {

namespace {

constexpr unsigned most_workers = 1u << 16;

// Checks the groups of the site that was begun last: all their tasks must be there.
void check_whole(const grouping& found, const std::vector<bool>& seen, const text_lines& in) {
  if (found.sites.empty()) return;
  for (std::size_t task = 0; task < seen.size(); ++task) {
    if (!seen[task]) {
      in.refuse("task " + std::to_string(task) + " of site " + std::to_string(found.sites.size() - 1) +
                " is in no group");
    }
  }
}

}  // namespace

std::string tree_text(const machine::view& of) {
  std::string text;
  for (unsigned level = 0; level < of.levels(); ++level) {
    const char* between = level == 0 ? "" : ", ";
    unsigned equal = 0, count = 0;  // groups of equal size in a row, and the number of workers of each
    const auto add = [&] {
      if (equal != 0) (text += ' ') += std::to_string(count) + (equal > 1 ? "x" + std::to_string(equal) : "");
    };
    bool named = false;
    for (const machine::memory_group& g : of.groups()) {
      if (g.level != level) continue;
      if (!named) (text += between) += machine::name(g.kind);
      named = true;
      if (equal != 0 && g.worker_count != count) {
        add();
        equal = 0;
      }
      count = g.worker_count;
      ++equal;
    }
    add();
  }
  return text;
}

std::string grouping::text() const {
  std::string t =
      "heddle-grouping 1\nmachine " + machine + "\nworkers " + std::to_string(workers) + "\ntree " + tree + "\n";
  for (std::size_t s = 0; s < sites.size(); ++s) {
    t += "site " + std::to_string(s) + " tasks " + std::to_string(sites[s].tasks) + "\n";
    for (std::size_t w = 0; w < sites[s].workers.size(); ++w) {
      t += "worker " + std::to_string(w) + "\n";
      for (const group& g : sites[s].workers[w]) {
        t += "group";
        for (const unsigned task : g) (t += ' ') += std::to_string(task);
        t += '\n';
      }
    }
  }
  return t;
}

grouping grouping::read(const std::string& file) { return of(text_of_file(file), file); }

grouping grouping::of(std::string_view text, const std::string& name) {
  text_lines in(text, name);
  if (!in.next_line() || in.word() != "heddle-grouping")
    throw std::invalid_argument(name + " is no grouping: its first line is not 'heddle-grouping 1'");
  if (in.word() != "1") in.refuse("a grouping of another version than 1");
  const auto head = [&in](std::string_view key) {
    if (!in.next_line()) in.refuse("the line '" + std::string(key) + " ..' is missing");
    in.expect(key);
  };
  grouping found;
  head("machine");
  found.machine = in.rest_of_line();
  head("workers");
  found.workers = in.number<unsigned>("workers", 1, most_workers);
  head("tree");
  found.tree = in.rest_of_line();
  std::vector<bool> seen;
  std::vector<std::vector<group>>* workers = nullptr;
  std::vector<group>* worker = nullptr;
  while (in.next_line()) {
    const std::string_view what = in.word();
    if (what == "site") {
      check_whole(found, seen, in);
      const auto number = in.number<unsigned>("number of a site", 0, most_workers);
      if (number != found.sites.size()) {
        in.refuse("site " + std::to_string(number) + " is not the next one, which is " +
                  std::to_string(found.sites.size()));
      }
      in.expect("tasks");
      const auto tasks = in.number<unsigned>("number of tasks", 1, most_tasks);
      found.sites.push_back({tasks, std::vector<std::vector<group>>(found.workers)});
      seen.assign(tasks, false);
      workers = &found.sites.back().workers;
      worker = nullptr;
      in.expect_end();
    } else if (what == "worker") {
      if (workers == nullptr) in.refuse("a worker before the first 'site'");
      worker = &(*workers)[in.number<unsigned>("rank of a worker", 0, found.workers - 1)];
      in.expect_end();
    } else if (what == "group") {
      if (worker == nullptr) in.refuse("a group before the first 'worker' of its site");
      worker->emplace_back();
      while (in.has_word()) {
        const auto task = in.number<unsigned>("number of a task", 0, most_tasks);
        if (task >= seen.size()) {
          in.refuse("task " + std::to_string(task) + " is unknown: site " + std::to_string(found.sites.size() - 1) +
                    " has tasks 0 to " + std::to_string(seen.size() - 1));
        }
        if (seen[task]) in.refuse("task " + std::to_string(task) + " is in two groups");
        seen[task] = true;
        worker->back().push_back(task);
      }
      if (worker->back().empty()) in.refuse("a group without tasks");
    } else {
      in.refuse("expected 'site', 'worker' or 'group', not '" + std::string(what) + "'");
    }
  }
  check_whole(found, seen, in);
  return found;
}

}  // namespace heddle::policy
