#include "trace/replay.hpp"

#include <functional>
#include <map>
#include <queue>
#include <tuple>

namespace heddle::trace {
namespace {

class player {
 public:
  player(const recording& what, replay_visitor& visitor)
      : what_(what), visitor_(visitor), lanes_(what.workers.size()) {}

  void run() {
    // At equal times a thread must leave its worker before it can arrive at another one.
    using key = std::tuple<std::uint64_t, bool, std::size_t>;
    std::priority_queue<key, std::vector<key>, std::greater<>> order;
    std::vector<std::size_t> next(lanes_.size());
    const auto push = [&](std::size_t i) {
      if (next[i] == what_.workers[i].records.size()) return;
      const record& r = what_.workers[i].records[next[i]];
      order.emplace(r.ns, info(r.event).does.what == action::resume, i);
    };
    for (std::size_t i = 0; i < lanes_.size(); ++i) push(i);
    while (!order.empty()) {
      const std::size_t i = std::get<2>(order.top());
      order.pop();
      play(lanes_[i], what_.workers[i].records[next[i]++]);
      push(i);
    }
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      while (!lanes_[i].spans.empty()) pop(lanes_[i], what_.workers[i].worker, what_.end_ns);
    }
  }

 private:
  struct lane {
    std::vector<open_span> spans;  // innermost last
    bool begun = false;
  };

  void play(lane& on, const record& r) {
    const effect does = info(r.event).does;
    // Many threads write one ring, so their spans would not nest.
    if (r.worker == foreign_worker) return visitor_.event(r);
    if (!on.begun) {
      on.begun = true;
      if (r.event != event::worker_start) push(on, r.worker, {span::worker, r.ns, nullptr, false}, r.ns);
    }
    visitor_.event(r);
    switch (does.what) {
      case action::point: break;
      case action::open: push(on, r.worker, {does.target, r.ns, &r, false}, r.ns); break;
      case action::close: close(on, r, does); break;
      case action::resume: resume(on, r); break;
      case action::suspend: suspend(on, r); break;
    }
  }

  void close(lane& on, const record& r, const effect& does) {
    const std::size_t at = find(on, does.target);
    if (at == on.spans.size()) return visitor_.stray(r);
    while (on.spans.size() > at + 1) pop(on, r.worker, r.ns);
    if (does.reclassified) {
      const open_span last = on.spans.back();
      on.spans.pop_back();
      visitor_.closed(r.worker, last, r.ns, does.as);
    } else {
      pop(on, r.worker, r.ns);
    }
  }

  void resume(lane& on, const record& r) {
    // Its departure was lost.
    if (find(on, span::thread) != on.spans.size()) leave(on, r, true);
    push(on, r.worker, {span::thread, r.ns, &r, false}, r.ns);
    const auto left = away_.find(r.a);
    if (left == away_.end()) return;
    for (open_span s : left->second) {
      s.since = r.ns;
      s.resumed = true;
      push(on, r.worker, s, r.ns);
    }
    away_.erase(left);
  }

  void suspend(lane& on, const record& r) {
    if (find(on, span::thread) == on.spans.size()) return visitor_.stray(r);
    const bool ended = r.event == event::thread_park && r.arg == static_cast<std::uint32_t>(park_reason::ended);
    leave(on, r, !ended);
  }

  // The thread leaves. Its open spans go with it if it will come back.
  void leave(lane& on, const record& r, bool comes_back) {
    const std::size_t at = find(on, span::thread);
    const std::uint64_t thread = on.spans[at].by->a;
    std::vector<open_span> kept;
    for (std::size_t i = at + 1; i < on.spans.size(); ++i) {
      if (info(on.spans[i].kind).owner == span_owner::thread) kept.push_back(on.spans[i]);
    }
    while (on.spans.size() > at) pop(on, r.worker, r.ns);
    if (comes_back && !kept.empty()) away_[thread] = std::move(kept);
  }

  void push(lane& on, std::uint16_t worker, const open_span& s, std::uint64_t ns) {
    on.spans.push_back(s);
    visitor_.opened(worker, s, ns);
  }

  void pop(lane& on, std::uint16_t worker, std::uint64_t ns) {
    const open_span last = on.spans.back();
    on.spans.pop_back();
    visitor_.closed(worker, last, ns, info(last.kind).counts_as);
  }

  // Returns the index of the innermost open span of a kind, or spans.size(). Spans that belong to a thread are looked
  // for only inside the running thread.
  static std::size_t find(const lane& on, span kind) {
    for (std::size_t i = on.spans.size(); i-- > 0;) {
      if (on.spans[i].kind == kind) return i;
      if (on.spans[i].kind == span::thread && info(kind).owner == span_owner::thread) break;
    }
    return on.spans.size();
  }

  const recording& what_;
  replay_visitor& visitor_;
  std::vector<lane> lanes_;
  // The open spans of threads that are on no worker, by thread id.
  std::map<std::uint64_t, std::vector<open_span>> away_;
};

}  // namespace

void replay(const recording& what, replay_visitor& visitor) { player(what, visitor).run(); }

}  // namespace heddle::trace
