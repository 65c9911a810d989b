#include "trace/chrome.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "trace/json.hpp"
#include "trace/replay.hpp"

namespace heddle::trace {
namespace {

constexpr std::uint32_t process = 1;
constexpr std::uint32_t foreign_track = 100'000;

std::uint32_t track(std::uint16_t worker) { return worker == foreign_worker ? foreign_track : worker; }

class chrome_writer : public replay_visitor {
 public:
  explicit chrome_writer(const recording& what) : what_(what) {
    std::optional<std::uint64_t> first;
    for (const worker_log& log : what.workers) {
      if (!log.records.empty()) first = std::min(first.value_or(log.records.front().ns), log.records.front().ns);
    }
    zero_ = first.value_or(0);
  }

  std::string take() {
    out_ = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";
    line(R"({{"ph":"M","pid":{},"name":"process_name","args":{{"name":{}}}}})", process,
         json_string(what_.program.empty() ? "heddle" : what_.program));
    std::uint64_t lost = 0;
    for (const worker_log& log : what_.workers) {
      lost += log.lost;
      std::string name = log.worker == foreign_worker ? "foreign threads" : fmt::format("worker {}", log.worker);
      if (!log.place.empty()) name += " (" + log.place + ")";
      line(R"({{"ph":"M","pid":{},"tid":{},"name":"thread_name","args":{{"name":{}}}}})", process, track(log.worker),
           json_string(name));
      line(R"({{"ph":"M","pid":{},"tid":{},"name":"thread_sort_index","args":{{"sort_index":{}}}}})", process,
           track(log.worker), track(log.worker));
    }
    replay(what_, *this);
    fmt::format_to(std::back_inserter(out_), "\n],\"otherData\":{{\"machine\":{},\"policy\":{}",
                   json_string(what_.machine), json_string(what_.policy));
    for (const auto& [key, value] : what_.attributes)
      fmt::format_to(std::back_inserter(out_), ",{}:{}", json_string(key), json_string(value));
    fmt::format_to(std::back_inserter(out_), ",\"lost_records\":{}}}}}\n", lost);
    return std::move(out_);
  }

  void event(const record& r) override {
    switch (r.event) {
      case event::steal_attempt: attempts_[r.worker] = r.ns; break;
      case event::steal_success: steal_arrow(r); break;
      case event::thread_wake:
        instant(r);
        arrow('s', "wake", r.a, r.worker, r.ns);
        woken_.insert(r.a);
        break;
      case event::blocking_begin: blocking('b', r); break;
      case event::blocking_end: blocking('e', r); break;
      default:
        if (info(r.event).does.what == action::point) instant(r);
    }
  }

  void opened(std::uint16_t worker, const open_span& s, std::uint64_t ns) override {
    ++depth_[worker];
    line(R"({{"ph":"B","pid":{},"tid":{},"ts":{},"cat":"{}","name":{},"args":{}}})", process, track(worker), at(ns),
         info(s.kind).name, json_string(name_of(s)), s.by == nullptr ? "{}" : arguments(*s.by));
    if (s.kind == span::thread && woken_.erase(s.by->a) > 0) arrow('f', "wake", s.by->a, worker, ns);
  }

  void closed(std::uint16_t worker, const open_span& s, std::uint64_t ns, activity) override {
    --depth_[worker];
    line(R"({{"ph":"E","pid":{},"tid":{},"ts":{},"cat":"{}"}})", process, track(worker), at(ns), info(s.kind).name);
  }

 private:
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    out_ += out_.back() == '[' ? "\n" : ",\n";
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }

  // Returns microseconds with the nanoseconds kept. They are written from integers, so that equal times stay equal.
  [[nodiscard]] std::string at(std::uint64_t ns) const {
    return fmt::format("{}.{:03}", (ns - zero_) / 1000, (ns - zero_) % 1000);
  }

  void instant(const record& r) {
    line(R"({{"ph":"i","s":"t","pid":{},"tid":{},"ts":{},"cat":"event","name":"{}","args":{}}})", process,
         track(r.worker), at(r.ns), info(r.event).name, arguments(r));
  }

  // Draws an arrow for a steal. The viewer binds slices to the arrow's ends by track and time, so the arrow needs a
  // start on the victim's track at the time of the thief's attempt.
  void steal_arrow(const record& r) {
    const auto attempt = attempts_.find(r.worker);
    if (attempt == attempts_.end() || depth_[r.worker] == 0) return;
    const std::uint64_t id = ++steals_;
    arrow('s', "steal", id, static_cast<std::uint16_t>(r.arg), attempt->second);
    arrow('f', "steal", id, r.worker, r.ns);
    attempts_.erase(attempt);
  }

  void arrow(char phase, std::string_view kind, std::uint64_t id, std::uint16_t worker, std::uint64_t ns) {
    line(R"({{"ph":"{}","pid":{},"tid":{},"ts":{},"cat":"{}","name":"{}","id":"{:#x}"{}}})", phase, process,
         track(worker), at(ns), kind, kind, id, phase == 'f' ? R"(,"bp":"e")" : "");
  }

  void blocking(char phase, const record& r) {
    line(R"({{"ph":"{}","pid":{},"tid":{},"ts":{},"cat":"blocking","name":"blocking call","id":"{:#x}","args":{{}}}})",
         phase, process, track(r.worker), at(r.ns), r.a);
  }

  std::string name_of(const open_span& s) const {
    if (s.by == nullptr) return std::string(info(s.kind).name);
    std::string name;
    switch (s.kind) {
      case span::task: name = s.by->b == 0 ? fmt::format("task {}", s.by->a) : address(s.by->b); break;
      case span::thread: name = fmt::format("thread {}", s.by->a); break;
      case span::region:
        name = s.by->arg < what_.texts.size() ? what_.texts[s.by->arg] : fmt::format("region {}", s.by->arg);
        break;
      case span::steal: name = fmt::format("steal from {}", s.by->arg); break;
      default: name = info(s.kind).name;
    }
    return s.resumed ? name + " (goes on)" : name;
  }

  std::string address(std::uint64_t where) const {
    const auto known = what_.symbols.find(where);
    return known == what_.symbols.end() ? fmt::format("{:#x}", where) : known->second;
  }

  std::string arguments(const record& r) const {
    std::string out = "{";
    const std::uint64_t words[3] = {r.arg, r.a, r.b};
    for (std::size_t i = 0; i < 3; ++i) {
      const field_info& f = info(r.event).fields[i];
      if (f.kind == unit::none) continue;
      fmt::format_to(std::back_inserter(out), "{}\"{}\":{}", out.size() > 1 ? "," : "", f.name,
                     value(f.kind, words[i]));
    }
    return out + "}";
  }

  std::string value(unit kind, std::uint64_t word) const {
    switch (kind) {
      case unit::address: return json_string(address(word));
      case unit::work: {
        const auto number = std::bit_cast<double>(word);
        const std::string text = fmt::format("{}", number);
        return number - number == 0 ? text : json_string(text);  // JSON has no infinity
      }
      case unit::reason:
        return word < park_reason_names.size() ? json_string(park_reason_names[word]) : fmt::format("{}", word);
      case unit::text: return word < what_.texts.size() ? json_string(what_.texts[word]) : fmt::format("{}", word);
      case unit::pair: return fmt::format("[{},{}]", word >> 32, word & 0xffffffff);
      default: return fmt::format("{}", word);
    }
  }

  const recording& what_;
  std::string out_;
  std::uint64_t zero_ = 0;
  std::uint64_t steals_ = 0;
  std::map<std::uint16_t, int> depth_;               // open slices; an arrow needs one to end in
  std::map<std::uint16_t, std::uint64_t> attempts_;  // the time of the attempt under way, by thief
  std::set<std::uint64_t> woken_;                    // the threads with an arrow under way
};

}  // namespace

std::string to_chrome(const recording& what) { return chrome_writer(what).take(); }

}  // namespace heddle::trace
