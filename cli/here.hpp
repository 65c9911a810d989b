// The facts about place and time that files of figures contain.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

namespace heddle::cli {

// Returns the system's name of the processor, or `none` if it has no name for it.
std::string processor_name(const char* none = "unknown");

enum class zone : std::uint8_t { utc, local };
inline constexpr const char* moment = "%Y-%m-%dT%H:%M:%SZ";
inline constexpr const char* day = "%Y-%m-%d";
// Returns the time in a form of strftime.
std::string now_as(const char* form, zone where = zone::utc);

// Returns the number of processors that the process may use.
unsigned allowed_processors();

// Returns heddle, date, machine, kernel and load_before. Other load shows in the load averages; figures taken under
// other load are worth little.
nlohmann::json measured_here();
nlohmann::json load_average();

}  // namespace heddle::cli
