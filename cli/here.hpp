// What files of figures say about where and when these were taken.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

namespace heddle::cli {

// As the system calls it, or `none` where it has no name for it.
std::string processor_name(const char* none = "unknown");

enum class zone : std::uint8_t { utc, local };
inline constexpr const char* moment = "%Y-%m-%dT%H:%M:%SZ";
inline constexpr const char* day = "%Y-%m-%d";
// The time, in a form of strftime.
std::string now_as(const char* form, zone where = zone::utc);

// Processors that the process may use.
unsigned allowed_processors();

// heddle, date, machine, kernel, load_before. Other load shows in the
// load averages: figures taken under it are worth little.
nlohmann::json measured_here();
nlohmann::json load_average();

}  // namespace heddle::cli
