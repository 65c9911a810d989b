#include "tools/trace/legend_tables.hpp"

#include <fmt/format.h>

#include <span>

#include "trace/legend.hpp"

namespace heddle::trace {
namespace {

std::span<const event_info> all_events() { return std::span(detail::events).subspan(1); }
std::span<const span_info> all_spans() { return std::span(detail::spans).subspan(1); }

std::string_view activity_name(activity a) { return activity_names[static_cast<std::size_t>(a)]; }
std::string_view owner_name(span_owner o) { return o == span_owner::thread ? "thread" : "worker"; }

std::string arguments(const event_info& e, std::string_view separator) {
  std::string text;
  for (const field_info& f : e.fields) {
    if (f.kind == unit::none) continue;
    fmt::format_to(std::back_inserter(text), "{}{}: {}", text.empty() ? "" : separator, f.name, f.meaning);
  }
  return text;
}

}  // namespace

std::string legend_text() {
  std::string out = "spans\n";
  for (const span_info& s : all_spans()) {
    fmt::format_to(std::back_inserter(out), "  {:<18}{:<10}{}\n", s.name, activity_name(s.counts_as), s.meaning);
  }
  out += "events\n";
  for (const event_info& e : all_events()) {
    fmt::format_to(std::back_inserter(out), "  {:<18}{:<22}{}\n", e.name, legend_effect(e), e.meaning);
    if (arity(e.id) > 0) fmt::format_to(std::back_inserter(out), "  {:<18}{:<22}  {}\n", "", "", arguments(e, "; "));
  }
  return out;
}

std::string legend_markdown() {
  std::string out = "| span | counts as | belongs to | meaning |\n| --- | --- | --- | --- |\n";
  for (const span_info& s : all_spans()) {
    fmt::format_to(std::back_inserter(out), "| `{}` | {} | {} | {} |\n", s.name, activity_name(s.counts_as),
                   owner_name(s.owner), s.meaning);
  }
  out += "\n| event | effect | meaning | fields |\n| --- | --- | --- | --- |\n";
  for (const event_info& e : all_events()) {
    fmt::format_to(std::back_inserter(out), "| `{}` | {} | {} | {} |\n", e.name, legend_effect(e), e.meaning,
                   arguments(e, "; "));
  }
  return out;
}

}  // namespace heddle::trace
