#include "trace/legend.hpp"

#include <cstddef>

namespace heddle::trace {

std::string legend_fields(const event_info& e) {
  std::string text;
  for (std::size_t i = 0; i < e.fields.size(); ++i) {
    if (i > 0) text += ',';
    if (e.fields[i].kind == unit::none) {
      text += '-';
    } else {
      text += e.fields[i].name;
      text += ':';
      text += unit_names[static_cast<std::size_t>(e.fields[i].kind)];
    }
  }
  return text;
}

std::string legend_effect(const event_info& e) {
  const auto target = [&](const char* does) { return does + std::string(info(e.does.target).name); };
  switch (e.does.what) {
    case action::point: return "point";
    case action::open: return target("opens ");
    case action::close:
      if (!e.does.reclassified) return target("closes ");
      return target("closes ") + " as " + std::string(activity_names[static_cast<std::size_t>(e.does.as)]);
    case action::resume: return "resumes thread";
    case action::suspend: return "suspends thread";
  }
  return "point";
}

}  // namespace heddle::trace
