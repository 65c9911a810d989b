#include "cli/here.hpp"

#include <sched.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>
#include <thread>

namespace heddle::cli {

namespace {

// Returns the value of one line of /proc/cpuinfo for the first processor, or "" if it has none.
std::string processor_field(const char* name) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(name) && line.find(": ") != std::string::npos) return line.substr(line.find(": ") + 2);
  }
  return "";
}

}  // namespace

std::string processor_name(const char* none) {
  const std::string name = processor_field("model name");
  return name.empty() ? none : name;
}

std::string now_as(const char* form, zone where) {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  char text[64] = "";
  if ((where == zone::utc ? gmtime_r(&now, &parts) : localtime_r(&now, &parts)) != nullptr)
    std::strftime(text, sizeof text, form, &parts);
  return text;
}

unsigned allowed_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return std::max(1u, std::thread::hardware_concurrency());
  return static_cast<unsigned>(CPU_COUNT(&set));
}

nlohmann::json load_average() {
  double load[3] = {0, 0, 0};
  if (getloadavg(load, 3) != 3) return nullptr;
  return {load[0], load[1], load[2]};
}

nlohmann::json measured_here() {
  utsname system{};
  uname(&system);
  const std::string flags = " " + processor_field("flags") + " ";
  return {{"heddle", HEDDLE_VERSION_STRING},
          {"date", now_as(moment)},
          {"machine",
           {{"processor", processor_name()},
            {"processors", allowed_processors()},
            {"architecture", system.machine},
            {"virtual", flags.find(" hypervisor ") != std::string::npos}}},
          {"kernel", std::string(system.sysname) + " " + system.release},
          {"load_before", load_average()}};
}

}  // namespace heddle::cli
