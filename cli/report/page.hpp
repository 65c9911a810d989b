// The report page without its data, as report/build.mjs bundles it.
#pragma once

#include <string>

namespace heddle::cli {

[[nodiscard]] std::string report_page_pattern();

}  // namespace heddle::cli
