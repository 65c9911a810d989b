// heddle-preempt MEASUREMENT [--workers N] [--interval-us N] [--timer KIND]
// [--repeats N] [--json FILE]. With the file name "-" the rows go to standard output
// and nothing else does: so `heddle bench preempt-cost` and its siblings run it.
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>

#include "measure.hpp"

namespace {

struct measurement {
  const char* name;
  nlohmann::json (*run)(const preempt::settings&);
};

constexpr measurement measurements[] = {
    {"cost", preempt::cost},       {"overhead", preempt::overhead}, {"timers", preempt::timers},
    {"barrier", preempt::barrier}, {"packing", preempt::packing},
#if defined(HEDDLE_PREEMPT_INSITU)
    {"insitu", preempt::insitu},
#endif
};

[[noreturn]] void usage(const char* what, const char* given) {
  std::fprintf(stderr, "heddle-preempt: %s '%s'; usage: heddle-preempt", what, given);
  for (const auto& m : measurements) std::fprintf(stderr, "%s%s", &m == measurements ? " " : "|", m.name);
  std::fprintf(stderr, " [--workers N] [--interval-us N] [--timer KIND] [--repeats N] [--json FILE]\n");
  std::exit(2);
}

long number(const char* option, const char* text, long least, long most) {
  long value = 0;
  const auto [end, error] = std::from_chars(text, text + std::strlen(text), value);
  if (error != std::errc() || *end != 0 || value < least || value > most) usage(option, text);
  return value;
}

}  // namespace

int main(int argc, char** argv) {
  preempt::settings s;
  std::string json;
  if (argc < 2) usage("which measurement?", "");
  const measurement* wanted = nullptr;
  for (const auto& m : measurements) {
    if (std::strcmp(m.name, argv[1]) == 0) wanted = &m;
  }
  if (wanted == nullptr) usage("there is no measurement", argv[1]);
  for (int i = 2; i < argc; i += 2) {
    const std::string option = argv[i];
    if (i + 1 == argc) usage("option without a value", argv[i]);
    const char* const value = argv[i + 1];
    if (option == "--workers")
      s.workers = static_cast<unsigned>(number("--workers is from 1 to 4096, not", value, 1, 4096));
    else if (option == "--interval-us")
      s.interval =
          std::chrono::microseconds(number("--interval-us is from 10 to 10000000, not", value, 10, 10'000'000));
    else if (option == "--timer") s.timer = value;
    else if (option == "--repeats")
      s.repeats = static_cast<unsigned>(number("--repeats is from 1 to 1000000, not", value, 1, 1'000'000));
    else if (option == "--json") json = value;
    else usage("there is no option", argv[i]);
  }
  preempt::silent = json == "-";
  try {
    const nlohmann::json result{{"measurement", wanted->name},
                                {"workers", s.workers},
                                {"interval_us", s.interval.count() / 1000},
                                {"timer", s.timer},
                                {"rows", wanted->run(s)}};
    if (json == "-") {
      std::printf("%s\n", result.dump().c_str());
    } else if (!json.empty()) {
      std::ofstream file(json);
      file << result.dump(1) << "\n";
      if (!file.flush()) throw std::runtime_error(json + ": cannot be written");
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "heddle-preempt: %s\n", e.what());
    return 1;
  }
  return 0;
}
