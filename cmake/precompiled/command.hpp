// The same for the command.
#include "text.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
