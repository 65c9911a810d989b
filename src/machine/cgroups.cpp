// Formats: cgroups(7), proc_pid_mountinfo(5), Documentation/admin-guide/cgroup-v2.rst (cpu.max) and
// Documentation/scheduler/sched-bwc.rst (cpu.cfs_quota_us) of Linux.
#include "machine/cgroups.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "machine/small_file.hpp"

namespace heddle::machine {

namespace {

namespace fs = std::filesystem;
using names = std::vector<std::string>;

// The process's group in one hierarchy.
struct membership {
  bool unified;  // version 2
  names path;
};
struct mount {
  bool unified;
  names root;      // the group that the mount point shows; ".." above the root of the cgroup namespace
  fs::path point;  // absolute, without the root directory
};

names split(std::string_view text, char at) {
  names parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(at), text.size());
    if (end != 0) parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

bool has_controller(std::string_view list) {
  const names controllers = split(list, ',');
  return std::find(controllers.begin(), controllers.end(), "cpu") != controllers.end();
}

// Decodes blanks and backslashes, which mountinfo writes as \ooo.
std::string unescaped(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned code = 0;
    if (text[i] == '\\' && i + 3 < text.size() &&
        std::from_chars(&text[i + 1], &text[i + 4], code, 8).ptr == &text[i + 4] && code < 256) {
      plain += static_cast<char>(code);
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

bool read_number(std::string_view text, std::int64_t& value) {
  while (!text.empty() && (text.back() == ' ' || text.back() == '\n')) text.remove_suffix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

class reader {
 public:
  reader(const fs::path& root, std::vector<quota>& quotas, std::vector<std::string>& warnings)
      : root_(root), quotas_(quotas), warnings_(warnings) {}

  void read() {
    read_memberships();
    if (memberships_.empty()) return;
    read_mounts();
    for (const membership& group : memberships_) {
      for (const mount& place : mounts_) {
        if (place.unified == group.unified) read_chain(group, place);
      }
    }
  }

 private:
  fs::path below_root(const fs::path& absolute) const { return root_ / absolute.relative_path(); }
  names lines_of(const fs::path& file) const { return split(read_small_file(below_root(file)).value_or(""), '\n'); }
  void warn(const fs::path& file, const std::string& what) {
    warnings_.push_back("/" + file.relative_path().string() + ": " + what);
  }

  void read_memberships() {
    for (const std::string& line : lines_of("/proc/self/cgroup")) {
      const std::size_t first = line.find(':');
      const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
      if (second == std::string::npos || second + 1 == line.size() || line[second + 1] != '/') {
        if (!line.empty()) warn("proc/self/cgroup", "line without a group: " + line);
        continue;
      }
      std::string_view path = std::string_view(line).substr(second + 1);
      constexpr std::string_view removed = " (deleted)";
      if (path.ends_with(removed)) path.remove_suffix(removed.size());
      const std::string_view controllers = std::string_view(line).substr(first + 1, second - first - 1);
      const bool unified = controllers.empty() && line.starts_with("0:");
      if (unified || has_controller(controllers)) memberships_.push_back({unified, split(path, '/')});
    }
  }

  void read_mounts() {
    for (const std::string& line : lines_of("/proc/self/mountinfo")) {
      const names fields = split(line, ' ');
      const auto dash = std::find(fields.begin(), fields.end(), "-");
      if (fields.size() < 6 || dash - fields.begin() < 6 || fields.end() - dash < 3) {
        if (!line.empty()) warn("proc/self/mountinfo", "line that is no mount: " + line);
        continue;
      }
      const std::string& type = dash[1];
      const bool unified = type == "cgroup2";
      if (!unified && !(type == "cgroup" && fields.end() - dash > 3 && has_controller(dash[3]))) continue;
      mounts_.push_back({unified, split(unescaped(fields[3]), '/'), fs::path(unescaped(fields[4]))});
    }
  }

  // Reads the quotas from the process's group up to the group at the mount point.
  void read_chain(const membership& group, const mount& place) {
    const std::optional<names> inside = path_below(group, place);
    if (!inside) {
      warn(place.point, "the group of this process is not below this mount; its quota is not known");
      return;
    }
    for (std::size_t depth = inside->size() + 1; depth-- > 0;) {
      fs::path directory = place.point;
      std::string full;
      for (const std::string& name : place.root) full += "/" + name;
      for (std::size_t i = 0; i < depth; ++i) {
        directory /= (*inside)[i];
        full += "/" + (*inside)[i];
      }
      if (full.empty()) full = "/";
      // Two mounts may show the same group.
      if (!seen_.emplace(group.unified, full).second) continue;
      const std::size_t before = quotas_.size();
      if (group.unified) read_unified(directory);
      else read_version1(directory);
      if (quotas_.size() == before) continue;
      quotas_.back().group = full;
      quotas_.back().own = depth == inside->size();
    }
  }

  std::optional<names> path_below(const membership& group, const mount& place) {
    std::size_t common = 0;
    while (common < group.path.size() && common < place.root.size() && group.path[common] == place.root[common])
      ++common;
    names rest(group.path.begin() + static_cast<std::ptrdiff_t>(common), group.path.end());
    const std::size_t above = place.root.size() - common;
    const bool leaves = std::find(rest.begin(), rest.end(), "..") != rest.end();
    if (above == 0 && !leaves) return rest;
    const bool hidden = !leaves && std::all_of(place.root.begin() + static_cast<std::ptrdiff_t>(common),
                                               place.root.end(), [](const std::string& name) { return name == ".."; });
    names inside;
    if (hidden && find_hidden(place.point, above, rest, inside)) {
      inside.insert(inside.end(), rest.begin(), rest.end());
      return inside;
    }
    if (holds_process(place.point)) return names();
    return std::nullopt;
  }

  // Finds the directory `depth` levels below `directory` from which `rest` leads to the group of this process.
  bool find_hidden(const fs::path& directory, std::size_t depth, const names& rest, names& inside) {
    if (depth == 0) {
      fs::path group = directory;
      for (const std::string& name : rest) group /= name;
      return holds_process(group);
    }
    std::error_code error;
    for (fs::directory_iterator at(below_root(directory), error), end; !error && at != end; at.increment(error)) {
      std::error_code ignored;
      if (!at->is_directory(ignored) || at->is_symlink(ignored)) continue;
      if (++visited_ > most_visited) return false;
      inside.push_back(at->path().filename().string());
      if (find_hidden(directory / inside.back(), depth - 1, rest, inside)) return true;
      inside.pop_back();
    }
    return false;
  }

  bool holds_process(const fs::path& group) {
    const std::optional<std::string> status = read_first_line(below_root("/proc/self/stat"));
    if (!status) return false;
    const std::string own = status->substr(0, status->find(' '));
    const names members = lines_of(group / "cgroup.procs");
    return std::find(members.begin(), members.end(), own) != members.end();
  }

  void add(const fs::path& file, std::string_view quota_text, std::string_view period_text) {
    std::int64_t quota = 0, period = 0;
    if (!read_number(quota_text, quota) || !read_number(period_text, period) || quota <= 0 || period <= 0) {
      return warn(file, "quota '" + std::string(quota_text) + "', period '" + std::string(period_text) +
                            "': expected two positive numbers");
    }
    quotas_.push_back(
        {static_cast<double>(quota) / static_cast<double>(period), {}, "/" + file.relative_path().string(), false});
  }

  void read_unified(const fs::path& group) {
    const fs::path file = group / "cpu.max";
    const std::optional<std::string> line = read_first_line(below_root(file));
    if (!line) return;
    const names words = split(*line, ' ');
    if (words.size() == 2 && words[0] == "max") return;
    if (words.size() != 2) return warn(file, "'" + *line + "': expected a quota and a period");
    add(file, words[0], words[1]);
  }

  void read_version1(const fs::path& group) {
    const fs::path file = group / "cpu.cfs_quota_us";
    const std::optional<std::string> quota = read_first_line(below_root(file));
    if (!quota || *quota == "-1") return;
    const std::optional<std::string> period = read_first_line(below_root(group / "cpu.cfs_period_us"));
    if (!period) return warn(file, "there is no cpu.cfs_period_us beside it");
    add(file, *quota, *period);
  }

  static constexpr unsigned most_visited = 10'000;  // the number of groups searched for a hidden name

  const fs::path root_;
  std::vector<quota>& quotas_;
  std::vector<std::string>& warnings_;
  std::vector<membership> memberships_;
  std::vector<mount> mounts_;
  std::set<std::pair<bool, std::string>> seen_;
  unsigned visited_{0};
};

}  // namespace

void read_quotas(const std::filesystem::path& root, std::vector<quota>& quotas, std::vector<std::string>& warnings) {
  reader(root, quotas, warnings).read();
}

}  // namespace heddle::machine
