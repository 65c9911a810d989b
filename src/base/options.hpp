// The knobs of the runtime: options.def, and what is generated from it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::base {

// The value of each knob, with its default. A member a knob, named like its key.
struct option_values {
#define HEDDLE_COUNT(key, preset, least, most, unit, text) std::uint64_t key{preset};
#define HEDDLE_SIZE(key, preset, least, most, unit, text) std::uint64_t key{preset};
#define HEDDLE_TIME(key, preset, least, most, text) std::uint64_t key{preset};
#define HEDDLE_SWITCH(key, preset, text) bool key{preset};
#define HEDDLE_CHOICE(key, preset, values, text) std::string key{preset};
#define HEDDLE_TEXT(key, preset, values, text) std::string key{preset};
#define HEDDLE_FOREIGN(name)
#include "base/options.def"

  bool operator==(const option_values&) const = default;
};

// One line of the table.
struct option {
  std::string key;
  std::string variable;  // HEDDLE_<KEY>
  std::string preset;    // as one would write it: 256K, on
  std::string unit;      // "" if it has none
  std::string values;    // what may be given, for people
  std::string text;      // what it does, and the trade-off
  void (*set)(option_values& values, std::string_view text, const std::string& name);  // see set_option
  std::string (*get)(const option_values& values);                                     // as set() reads it
};

const std::vector<option>& options();

// Reads `text` into the knob `key`. Throws std::invalid_argument: "NAME=TEXT: expected ...", where NAME is `name` or,
// if that is empty, the variable; for an unknown key, the key and the nearest ones. `values` is then unchanged.
void set_option(option_values& values, std::string_view key, std::string_view text, std::string_view name = {});

// Checks a value that came by code and not as text: the same bounds, the same message. Throws std::invalid_argument.
void check_options(const option_values& values);

// Defaults, overridden by the HEDDLE_ variables of `environment` ("NAME=VALUE"
// each; an empty value counts as unset). Throws std::invalid_argument for a value
// that cannot be. A HEDDLE_ variable that is in no list is a line of `warnings`.
option_values options_from(std::span<const char* const> environment, std::vector<std::string>* warnings = nullptr);

// The same for the environment of the process. Prints the warnings on standard error, once in the life of the process.
// Thread context: any, as long as nobody changes the environment meanwhile.
option_values options_from_environment();

}  // namespace heddle::base
