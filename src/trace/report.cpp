#include "trace/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <string_view>

#include "trace/json.hpp"

namespace heddle::trace {
namespace {

// The counts that are shown for a worker, in this order, in all tables and in JSON.
struct shown_count {
  std::string_view name;
  event of;
};
constexpr shown_count shown_counts[] = {
    {"tasks", event::task_begin},           {"forks", event::fork},
    {"steals_tried", event::steal_attempt}, {"steals", event::steal_success},
    {"requests", event::request_post},      {"answers", event::request_answer},
    {"parks", event::park_begin},           {"wakes", event::wake_sent},
    {"switches", event::thread_switch_in},
};

// Returns the heading for tables; JSON uses the name itself.
std::string heading(const shown_count& shown) {
  std::string name(shown.name);
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

using text_row = std::vector<std::string>;

// Returns columns as wide as their widest cell. The first column is aligned to the left, numbers to the right.
std::string aligned(const std::vector<text_row>& rows) {
  std::vector<std::size_t> width;
  for (const text_row& row : rows) {
    width.resize(std::max(width.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) width[i] = std::max(width[i], row[i].size());
  }
  std::string out;
  for (const text_row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i == 0) {
        fmt::format_to(std::back_inserter(out), "{:<{}}", row[i], row.size() > 1 ? width[i] : 0);
      } else {
        fmt::format_to(std::back_inserter(out), "  {:>{}}", row[i], width[i]);
      }
    }
    out += '\n';
  }
  return out;
}

double percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

std::string percent_of(double share) { return fmt::format("{:.0f} %:", 100 * share); }

std::string worker_name(const worker_summary& w) {
  if (w.worker == foreign_worker) return "foreign";
  return w.place.empty() ? fmt::format("{}", w.worker) : fmt::format("{} {}", w.worker, w.place);
}

bool any_off(const summary& s) { return s.total.time(activity::off) > 0; }

text_row count_row(std::string name, const counters& c, bool off, bool has_time) {
  text_row row{std::move(name)};
  for (std::size_t i = 0; i < activity_count; ++i) {
    const auto a = static_cast<activity>(i);
    if (a == activity::off && !off) continue;
    row.push_back(has_time ? fmt::format("{}", c.time(a)) : "-");
    row.push_back(has_time ? fmt::format("{:.1f}", percent(c.time(a), c.lifetime())) : "-");
  }
  for (const shown_count& shown : shown_counts) row.push_back(fmt::format("{}", c.count(shown.of)));
  return row;
}

std::string worker_table(const summary& s) {
  const bool off = any_off(s);
  text_row head{"worker"};
  for (const std::string_view name : activity_names) {
    if (name == "off" && !off) continue;
    head.push_back(fmt::format("{} ns", name));
    head.emplace_back("%");
  }
  for (const shown_count& shown : shown_counts) head.push_back(heading(shown));
  std::vector<text_row> rows{std::move(head)};
  for (const worker_summary& w : s.workers)
    rows.push_back(count_row(worker_name(w), w.seen, off, w.worker != foreign_worker));
  rows.push_back(count_row("total", s.total, off, true));
  return aligned(rows);
}

struct statistic {
  std::string_view name;
  std::function<std::string(const summary&)> show;
};

std::string show(const distribution& d) { return d.count == 0 ? "-" : fmt::format("{} / {}", d.median, d.max); }

// The statistics below each table of workers, which are also the rows of the comparison.
const std::vector<statistic>& statistics() {
  static const std::vector<statistic> all{
      {"wall ns", [](const summary& s) { return fmt::format("{}", s.wall_ns()); }},
      {"busy workers, average", [](const summary& s) { return fmt::format("{:.2f}", s.parallelism()); }},
      {"busiest worker over the mean", [](const summary& s) { return fmt::format("{:.2f}", s.imbalance()); }},
      {"steals that succeed, %",
       [](const summary& s) {
         return fmt::format("{:.1f}",
                            percent(s.total.count(event::steal_success), s.total.count(event::steal_attempt)));
       }},
      {"task slice ns, median / max", [](const summary& s) { return show(s.task_slice); }},
      {"idle spell ns, median / max", [](const summary& s) { return show(s.idle_spell); }},
      {"attempt to stolen work ns, median / max", [](const summary& s) { return show(s.steal_latency); }},
      {"wake to awake ns, median / max", [](const summary& s) { return show(s.wake_latency); }},
  };
  return all;
}

// Returns the sentences as paragraphs of 80 columns.
std::string findings_text(const std::vector<finding>& findings) {
  if (findings.empty()) return "diagnosis: nothing takes more than a twentieth of the workers' time\n";
  std::string out = "diagnosis\n";
  for (const finding& f : findings) {
    std::string line = fmt::format("- {}", percent_of(f.share));
    std::size_t at = 0;
    while (at < f.text.size()) {
      std::size_t end = std::min(f.text.find(' ', at), f.text.size());
      if (line.size() + 1 + (end - at) > 80 && line.find_first_not_of(' ') != std::string::npos) {
        out += line + '\n';
        line = " ";
      }
      line += ' ' + f.text.substr(at, end - at);
      at = end + 1;
    }
    out += line + '\n';
  }
  return out;
}

std::string one_trace(const named_summary& t) {
  const summary& s = t.what;
  std::string out = t.name;
  for (const auto& [key, value] : {std::pair{"program", &s.program}, {"policy", &s.policy}, {"machine", &s.machine}}) {
    if (!value->empty()) fmt::format_to(std::back_inserter(out), "\n{}: {}", key, *value);
  }
  out += '\n';
  for (const remark& r : s.remarks) {
    fmt::format_to(std::back_inserter(out), "remark: {}: {}", r.text, r.first);
    if (r.last != r.first) fmt::format_to(std::back_inserter(out), " at first, {} at last", r.last);
    fmt::format_to(std::back_inserter(out), "{}\n", r.times > 1 ? fmt::format(" ({} times)", r.times) : "");
  }
  out += "\n" + findings_text(t.findings) + "\n" + worker_table(s) + "\n";
  std::vector<text_row> rows;
  for (const statistic& stat : statistics()) rows.push_back({std::string(stat.name), stat.show(s)});
  for (const auto& [level, n] : s.steals_by_level)
    rows.push_back({fmt::format("steals over distance {}", level), fmt::format("{}", n)});
  out += aligned(rows);
  if (s.lost > 0) {
    fmt::format_to(std::back_inserter(out),
                   "warning: {} of {} events are lost (the oldest ones; the rings were full): the "
                   "figures cover the end of the run\n",
                   s.lost, s.written);
  }
  if (s.strays > 0)
    fmt::format_to(std::back_inserter(out), "note: {} events end what began before the recording\n", s.strays);
  for (const auto& [name, n] : s.unknown) {
    fmt::format_to(std::back_inserter(out), "note: {} events {} are unknown to this version and left out\n", n, name);
  }
  return out;
}

std::string comparison(const std::vector<named_summary>& traces) {
  std::vector<text_row> rows(1);
  rows[0].emplace_back("");
  for (const named_summary& t : traces) rows[0].push_back(t.name);
  const auto add = [&](std::string name, const std::function<std::string(const summary&)>& cell) {
    text_row row{std::move(name)};
    for (const named_summary& t : traces) row.push_back(cell(t.what));
    rows.push_back(std::move(row));
  };
  add("policy", [](const summary& s) { return s.policy.empty() ? std::string("-") : s.policy; });
  add("workers", [](const summary& s) {
    return fmt::format("{}", std::count_if(s.workers.begin(), s.workers.end(),
                                           [](const worker_summary& w) { return w.worker != foreign_worker; }));
  });
  for (std::size_t i = 0; i < activity_count; ++i) {
    const auto a = static_cast<activity>(i);
    if (a == activity::off &&
        std::none_of(traces.begin(), traces.end(), [](const named_summary& t) { return any_off(t.what); }))
      continue;
    add(fmt::format("{} ns", activity_names[i]), [a](const summary& s) { return fmt::format("{}", s.total.time(a)); });
    add(fmt::format("{} %", activity_names[i]),
        [a](const summary& s) { return fmt::format("{:.1f}", percent(s.total.time(a), s.total.lifetime())); });
  }
  for (const shown_count& shown : shown_counts) {
    add(heading(shown), [&shown](const summary& s) { return fmt::format("{}", s.total.count(shown.of)); });
  }
  for (const statistic& stat : statistics()) add(std::string(stat.name), stat.show);
  add("lost events", [](const summary& s) { return fmt::format("{}", s.lost); });
  return aligned(rows);
}

std::string json_counters(const counters& c) {
  std::string out;
  for (std::size_t i = 0; i < activity_count; ++i) {
    fmt::format_to(std::back_inserter(out), "\"{}_ns\":{},", activity_names[i], c.ns[i]);
  }
  fmt::format_to(std::back_inserter(out), "\"lifetime_ns\":{}", c.lifetime());
  for (const shown_count& shown : shown_counts)
    fmt::format_to(std::back_inserter(out), ",\"{}\":{}", shown.name, c.count(shown.of));
  out += ",\"events\":{";
  const char* separator = "";
  for (std::size_t i = 1; i <= event_count; ++i) {
    if (c.events[i] == 0) continue;
    fmt::format_to(std::back_inserter(out), "{}\"{}\":{}", separator, detail::events[i].name, c.events[i]);
    separator = ",";
  }
  return out + "}";
}

std::string json_distribution(const distribution& d) {
  return fmt::format(R"({{"count":{},"median":{},"max":{}}})", d.count, d.median, d.max);
}

std::string json_trace(const named_summary& t) {
  const summary& s = t.what;
  std::string out = fmt::format(
      R"({{"file":{},"program":{},"machine":{},"policy":{},"wall_ns":{},"written":{},"lost":{},"strays":{},"unknown":{{)",
      json_string(t.name), json_string(s.program), json_string(s.machine), json_string(s.policy), s.wall_ns(),
      s.written, s.lost, s.strays);
  const char* separator = "";
  for (const auto& [name, n] : s.unknown) {
    fmt::format_to(std::back_inserter(out), "{}{}:{}", separator, json_string(name), n);
    separator = ",";
  }
  out += "},\n\"remarks\":[";
  separator = "";
  for (const remark& r : s.remarks) {
    fmt::format_to(std::back_inserter(out), R"({}{{"text":{},"times":{},"first":{},"last":{}}})", separator,
                   json_string(r.text), r.times, r.first, r.last);
    separator = ",";
  }
  out += "],\n\"diagnosis\":" + findings_json(t.findings) + ",\n\"workers\":[";
  separator = "\n";
  for (const worker_summary& w : s.workers) {
    const std::string id = w.worker == foreign_worker ? "\"foreign\"" : fmt::format("{}", w.worker);
    fmt::format_to(std::back_inserter(out), R"({}{{"worker":{},"place":{},"written":{},"lost":{},{}}})", separator, id,
                   json_string(w.place), w.written, w.lost, json_counters(w.seen));
    separator = ",\n";
  }
  fmt::format_to(std::back_inserter(out), "],\n\"total\":{{{}}},\n", json_counters(s.total));
  fmt::format_to(
      std::back_inserter(out),
      R"("statistics":{{"parallelism":{:.4f},"imbalance":{:.4f},"task_slice_ns":{},"idle_spell_ns":{},"steal_latency_ns":{},)"
      R"("wake_latency_ns":{},"steals_by_level":{{)",
      s.parallelism(), s.imbalance(), json_distribution(s.task_slice), json_distribution(s.idle_spell),
      json_distribution(s.steal_latency), json_distribution(s.wake_latency));
  separator = "";
  for (const auto& [level, n] : s.steals_by_level) {
    fmt::format_to(std::back_inserter(out), "{}\"{}\":{}", separator, level, n);
    separator = ",";
  }
  return out + "}}}";
}

}  // namespace

std::string findings_json(const std::vector<finding>& findings) {
  std::string out = "[";
  for (const finding& f : findings) {
    fmt::format_to(std::back_inserter(out),
                   R"({}{{"kind":"{}","share":{:.4f},"text":{},"worker":{},"begin_ns":{},"end_ns":{}}})",
                   out.size() > 1 ? "," : "", complaint_names[static_cast<std::size_t>(f.what)], f.share,
                   json_string(f.text), f.worker, f.begin_ns, f.end_ns);
  }
  return out + "]";
}

std::string report_text(const std::vector<named_summary>& traces) {
  std::string out;
  for (const named_summary& t : traces) out += (out.empty() ? "" : "\n") + one_trace(t);
  if (traces.size() > 1) out += "\n" + comparison(traces);
  return out;
}

std::string report_json(const std::vector<named_summary>& traces) {
  std::string out = "{\"traces\":[";
  for (const named_summary& t : traces) out += (out.back() == '[' ? "\n" : ",\n") + json_trace(t);
  return out + "\n]}\n";
}

}  // namespace heddle::trace
