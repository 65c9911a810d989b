#include "trace/summary.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <optional>

#include "trace/replay.hpp"

namespace heddle::trace {
namespace {

distribution describe(std::vector<std::uint64_t>& values) {
  distribution d;
  d.count = values.size();
  if (values.empty()) return d;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  d.median = *middle;
  d.max = *std::max_element(middle, values.end());
  return d;
}

class accountant : public replay_visitor {
 public:
  accountant(const recording& what, summary& into) : into_(into) {
    for (const worker_log& log : what.workers) {
      accounts_[log.worker].to = into.workers.size();
      into.workers.push_back({log.worker, log.place, log.written, log.lost, {}});
      into.written += log.written;
      into.lost += log.lost;
    }
  }

  void event(const record& r) override {
    account& of = accounts_[r.worker];
    ++into_.workers[of.to].seen.events[static_cast<std::size_t>(r.event)];
    switch (r.event) {
      case event::steal_attempt: of.attempt = r.ns; break;
      case event::steal_success:
        if (of.attempt) steal_latency_.push_back(r.ns - *of.attempt);
        of.attempt.reset();
        ++into_.steals_by_level[r.a];
        break;
      case event::wake_sent: sent_.try_emplace(static_cast<std::uint16_t>(r.arg), r.ns); break;
      case event::park_begin: sent_.erase(r.worker); break;  // a wake sent before this sleep says nothing about it
      case event::park_end:
        if (const auto sent = sent_.find(r.worker); sent != sent_.end()) {
          wake_latency_.push_back(r.ns - sent->second);
          sent_.erase(sent);
        }
        break;
      default: break;
    }
  }

  void opened(std::uint16_t worker, const open_span& s, std::uint64_t ns) override {
    account& of = accounts_[worker];
    if (!begun_) into_.begin_ns = into_.end_ns = ns;
    begun_ = true;
    if (!of.inside.empty()) charge(of, ns, of.inside.back());
    of.last = ns;
    of.inside.push_back(info(s.kind).counts_as);
  }

  void closed(std::uint16_t worker, const open_span& s, std::uint64_t ns, activity counts_as) override {
    account& of = accounts_[worker];
    charge(of, ns, counts_as);
    of.inside.pop_back();
    if (s.kind == span::task) task_slice_.push_back(ns - s.since);
    if (s.kind == span::idle) idle_spell_.push_back(ns - s.since);
    into_.end_ns = std::max(into_.end_ns, ns);
  }

  void stray(const record& r) override {
    ++into_.strays;
    // The span that this event closes was open all the time before it.
    account& of = accounts_[r.worker];
    if (!of.inside.empty()) charge(of, r.ns, info(info(r.event).does.target).counts_as);
  }

  void finish() {
    for (const worker_summary& w : into_.workers) into_.total += w.seen;
    into_.task_slice = describe(task_slice_);
    into_.idle_spell = describe(idle_spell_);
    into_.steal_latency = describe(steal_latency_);
    into_.wake_latency = describe(wake_latency_);
  }

 private:
  struct account {
    std::size_t to = 0;                    // its index in summary::workers
    std::uint64_t last = 0;                // its time is charged up to here
    std::vector<activity> inside;          // of the open spans
    std::optional<std::uint64_t> attempt;  // the time of the steal attempt under way
  };

  void charge(account& of, std::uint64_t ns, activity as) {
    into_.workers[of.to].seen.ns[static_cast<std::size_t>(as)] += ns - of.last;
    of.last = ns;
  }

  summary& into_;
  bool begun_ = false;
  std::map<std::uint16_t, account> accounts_;
  std::map<std::uint16_t, std::uint64_t> sent_;  // the wake-ups under way, by target
  std::vector<std::uint64_t> task_slice_, idle_spell_, steal_latency_, wake_latency_;
};

}  // namespace

std::uint64_t counters::lifetime() const { return std::accumulate(ns.begin(), ns.end(), std::uint64_t{0}); }

counters& counters::operator+=(const counters& other) {
  for (std::size_t i = 0; i < ns.size(); ++i) ns[i] += other.ns[i];
  for (std::size_t i = 0; i < events.size(); ++i) events[i] += other.events[i];
  return *this;
}

double summary::parallelism() const {
  return wall_ns() == 0 ? 0 : static_cast<double>(total.time(activity::busy)) / static_cast<double>(wall_ns());
}

double summary::imbalance() const {
  std::uint64_t most = 0;
  std::size_t workers_with_time = 0;
  for (const worker_summary& w : workers) {
    most = std::max(most, w.seen.time(activity::busy));
    workers_with_time += w.seen.lifetime() > 0;
  }
  const std::uint64_t sum = total.time(activity::busy);
  return sum == 0 ? 0 : static_cast<double>(most) * static_cast<double>(workers_with_time) / static_cast<double>(sum);
}

namespace {

std::vector<remark> remarks_in(const recording& what) {
  std::vector<record> notes;
  for (const worker_log& log : what.workers) {
    std::copy_if(log.records.begin(), log.records.end(), std::back_inserter(notes),
                 [&](const record& r) { return r.event == event::policy_note && r.arg < what.texts.size(); });
  }
  std::stable_sort(notes.begin(), notes.end(), [](const record& a, const record& b) { return a.ns < b.ns; });
  std::vector<remark> all;
  for (const record& r : notes) {
    const std::string& text = what.texts[r.arg];
    auto found = std::find_if(all.begin(), all.end(), [&](const remark& known) { return known.text == text; });
    if (found == all.end()) found = all.insert(all.end(), {text, 0, r.a, r.a});
    ++found->times;
    found->last = r.a;
  }
  return all;
}

}  // namespace

summary summarise(const recording& what) {
  summary result;
  result.program = what.program;
  result.machine = what.machine;
  result.policy = what.policy;
  result.unknown = what.unknown;
  result.remarks = remarks_in(what);
  accountant books(what, result);
  replay(what, books);
  books.finish();
  return result;
}

}  // namespace heddle::trace
