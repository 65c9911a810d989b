// The knobs of the runtime: options.def, and the code that is generated from it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::base {

// The value of each knob, with its default. There is one member for each knob, named like its key.
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
  std::string preset;    // as a user would write it: 256K, on
  std::string unit;      // "" if it has none
  std::string values;    // the possible values, for people
  std::string text;      // its effect and the trade-off
  void (*set)(option_values& values, std::string_view text, const std::string& name);  // see set_option
  std::string (*get)(const option_values& values);                                     // in the form that set() reads
};

const std::vector<option>& options();

// Reads `text` into the knob `key`. Throws std::invalid_argument and leaves `values` unchanged if that fails. The
// message is "NAME=TEXT: expected ...", where NAME is `name` or, if that is empty, the variable. For an unknown key it
// names the key and the nearest ones.
void set_option(option_values& values, std::string_view key, std::string_view text, std::string_view name = {});

// Checks values that were set by code and not as text, with the same bounds and the same message. Throws
// std::invalid_argument.
void check_options(const option_values& values);

// Returns the defaults, overridden by the HEDDLE_ variables of `environment` ("NAME=VALUE" each; an empty value counts
// as unset). Throws std::invalid_argument for an impossible value. A HEDDLE_ variable that is in no list adds a line to
// `warnings`.
option_values options_from(std::span<const char* const> environment, std::vector<std::string>* warnings = nullptr);

// Does the same for the environment of the process. Prints the warnings on standard error, once in the life of the
// process. Thread context: any, as long as no thread changes the environment meanwhile.
option_values options_from_environment();

// Return the table for people: text for a terminal, Markdown for docs/guide/options.md.
std::string options_text();
std::string options_markdown();

}  // namespace heddle::base
