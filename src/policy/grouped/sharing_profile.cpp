#include "policy/grouped/sharing_profile.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "policy/text_lines.hpp"

namespace heddle::policy {

namespace {

constexpr std::uint64_t most_line = (std::uint64_t{1} << 62) - 1;
constexpr unsigned most_sites = 64;

void add_ranges(line_set& to, std::string_view kind, text_lines& in, std::uint64_t line_bytes) {
  const bool are_bytes = kind == "bytes";
  if (!are_bytes && kind != "lines") in.refuse("expected 'lines' or 'bytes', not '" + std::string(kind) + "'");
  if (!in.has_word()) in.refuse("no " + std::string(kind) + " are given");
  while (in.has_word()) {
    const std::string_view text = in.word();
    const std::size_t dash = text.find('-');
    std::uint64_t first = in.number_in<std::uint64_t>(text.substr(0, dash), "first of a range", 0, most_line);
    std::uint64_t last = first;
    if (dash != std::string_view::npos)
      last = in.number_in<std::uint64_t>(text.substr(dash + 1), "last of a range", first, most_line);
    if (are_bytes) first /= line_bytes, last /= line_bytes;
    to.add(first, last);
  }
}

}  // namespace

void line_set::tidy() {
  std::sort(ranges_.begin(), ranges_.end(), [](const range& a, const range& b) { return a.first < b.first; });
  std::size_t kept = 0;
  for (const range& r : ranges_) {
    if (kept != 0 && r.first <= ranges_[kept - 1].last + 1) {
      ranges_[kept - 1].last = std::max(ranges_[kept - 1].last, r.last);
    } else {
      ranges_[kept++] = r;
    }
  }
  ranges_.resize(kept);
  untidy_ = std::max<std::size_t>(64, 2 * kept);
}

std::uint64_t line_set::size() {
  tidy();
  std::uint64_t sum = 0;
  for (const range& r : ranges_) sum += r.last - r.first + 1;
  return sum;
}

std::string sharing_profile::text() {
  std::string t = "heddle-profile 1\nline " + std::to_string(line_bytes) + "\n";
  for (std::size_t s = 0; s < sites.size(); ++s) {
    t += "site " + std::to_string(s) + " tasks " + std::to_string(sites[s].size()) + "\n";
    for (std::size_t i = 0; i < sites[s].size(); ++i) {
      profiled_task& task = sites[s][i];
      t += "task " + std::to_string(i) + " weight " + std::to_string(static_cast<std::uint64_t>(task.weight + 0.5));
      if (!task.lines.ranges().empty()) t += " lines";
      for (const line_set::range& r : task.lines.ranges()) {
        (t += ' ') += std::to_string(r.first);
        if (r.last != r.first) (t += '-') += std::to_string(r.last);
      }
      t += '\n';
    }
  }
  return t;
}

sharing_profile sharing_profile::read(const std::string& file) { return of(text_of_file(file), file); }

sharing_profile sharing_profile::of(std::string_view text, const std::string& name) {
  text_lines in(text, name);
  if (!in.next_line() || in.word() != "heddle-profile") {
    throw std::invalid_argument(name + " is no profile of tasks: its first line is not 'heddle-profile 1'");
  }
  if (in.word() != "1") in.refuse("a profile of another version than 1");
  sharing_profile found;
  std::vector<bool> seen;
  while (in.next_line()) {
    const std::string_view what = in.word();
    if (what == "line") {
      found.line_bytes = in.number<std::uint64_t>("bytes of a line", 1, 1u << 20);
      if (!found.sites.empty()) in.refuse("'line' comes before the first site");
      in.expect_end();
    } else if (what == "site") {
      const auto number = in.number<unsigned>("number of a site", 0, most_sites - 1);
      if (number != found.sites.size()) {
        in.refuse("site " + std::to_string(number) + " is not the next one, which is " +
                  std::to_string(found.sites.size()));
      }
      in.expect("tasks");
      found.sites.emplace_back(in.number<unsigned>("number of tasks", 1, most_tasks));
      seen.assign(found.sites.back().size(), false);
      in.expect_end();
    } else if (what == "task") {
      if (found.sites.empty()) in.refuse("a task before the first 'site'");
      const auto number = in.number<unsigned>("number of a task", 0, most_tasks);
      if (number >= seen.size()) {
        in.refuse("task " + std::to_string(number) + " is unknown: site " + std::to_string(found.sites.size() - 1) +
                  " has tasks 0 to " + std::to_string(seen.size() - 1));
      }
      if (seen[number]) in.refuse("task " + std::to_string(number) + " is there twice");
      seen[number] = true;
      profiled_task& task = found.sites.back()[number];
      in.expect("weight");
      task.weight = in.number<double>("weight", 0, 1e18);
      if (in.has_word()) add_ranges(task.lines, in.word(), in, found.line_bytes);
    } else {
      in.refuse("expected 'site' or 'task', not '" + std::string(what) + "'");
    }
  }
  if (found.sites.empty()) throw std::invalid_argument(name + " has no tasks");
  return found;
}

}  // namespace heddle::policy
