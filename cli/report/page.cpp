#include "cli/report/page.hpp"

#include <string_view>

namespace heddle::cli {
namespace {

// This is generated; scripts/report-bundle.sh makes it anew.
constexpr std::string_view parts[] = {
#include "report/dist/page.inc"
};

}  // namespace

std::string report_page_pattern() {
  std::string page;
  for (const std::string_view part : parts) page += part;
  return page;
}

}  // namespace heddle::cli
