// Checks of subcommands' arguments before anything runs, for CLI::Option::check. Each makes a function that returns the
// complaint, or "" if there is none; CLI11 puts the option's name before it.
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::cli {

// Accepts digits only, because CLI11 would wrap a negative number into an unsigned type, and read 010 as eight.
inline auto integer(std::uint64_t least, std::uint64_t most) {
  return [least, most](const std::string& text) -> std::string {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool read = error == std::errc() && end == text.data() + text.size() && (text.size() == 1 || text[0] != '0');
    if (read && value >= least && value <= most) return {};
    return fmt::format("expected an integer from {} to {}, not '{}'", least, most, text);
  };
}

inline auto number(double least, double most) {
  return [least, most](const std::string& text) -> std::string {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool read = error == std::errc() && end == text.data() + text.size() && std::isfinite(value);
    if (read && value >= least && value <= most) return {};
    return fmt::format("expected a number from {} to {}, not '{}'", least, most, text);
  };
}

// Checks that a file can be written when the work is done, as far as one can tell before. Its name must end in one of
// `endings`, if any are given. Nothing is made or changed.
inline auto output_file(std::vector<std::string> endings = {}) {
  return [endings = std::move(endings)](const std::string& text) -> std::string {
    if (text.empty()) return "expected the name of a file";
    bool fits = endings.empty();
    for (const std::string& ending : endings) fits = fits || (text.size() > ending.size() && text.ends_with(ending));
    if (!fits) return fmt::format("'{}': the name of the file must end in {}", text, fmt::join(endings, " or "));
    const std::filesystem::path path(text);
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored))
      return fmt::format("'{}' is a folder; expected the name of a file", text);
    if (std::filesystem::exists(path, ignored))
      return ::access(path.c_str(), W_OK) == 0 ? "" : fmt::format("'{}' is not to be written to", text);
    const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
    if (!std::filesystem::is_directory(folder, ignored))
      return fmt::format("'{}': there is no folder '{}'", text, folder.string());
    if (::access(folder.c_str(), W_OK | X_OK) != 0)
      return fmt::format("'{}': the folder '{}' is not to be written to", text, folder.string());
    return {};
  };
}

inline constexpr std::uint64_t most_workers = 4096;  // as HEDDLE_WORKERS
inline constexpr std::uint64_t most_seed = ~std::uint64_t{0};

}  // namespace heddle::cli
