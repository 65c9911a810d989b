// What every file of measurements says about where and when they were taken.
#pragma once

#include <nlohmann/json.hpp>

namespace heddle::cli {

// Processors that the process may use.
unsigned allowed_processors();

// heddle, date, machine, kernel, load_before. Other load shows in the
// load averages: figures taken under it are worth little.
nlohmann::json measured_here();
nlohmann::json load_average();

}  // namespace heddle::cli
