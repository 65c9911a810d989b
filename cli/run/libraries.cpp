#include "cli/run/libraries.hpp"

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

namespace heddle::cli {

namespace {

// The format of glibc (elf/cache.c) since 2.2. It is the only one in the file since 2.32; before that it stands behind
// an older one.
constexpr char magic[] = "glibc-ld.so.cache1.1";

struct cache_header {
  char name[sizeof magic - 1];
  std::uint32_t entries, bytes_of_text;
  std::uint32_t unused[5];
};
struct cache_entry {
  std::int32_t flags;
  std::uint32_t name, path;  // offsets from the header
  std::uint32_t system;
  std::uint64_t hardware;
};
static_assert(sizeof(cache_header) == 48 && sizeof(cache_entry) == 24);

std::map<std::string, std::string> read_cache(const char* file) {
  std::ifstream from(file, std::ios::binary);
  const std::string all(std::istreambuf_iterator<char>(from), {});
  const std::size_t begin = all.find(magic);
  std::map<std::string, std::string> found;
  if (begin == std::string::npos || begin + sizeof(cache_header) > all.size()) return found;
  cache_header header;
  std::memcpy(&header, all.data() + begin, sizeof header);
  const auto text = [&](std::uint32_t at) -> std::string {
    return begin + at < all.size() ? std::string(all.c_str() + begin + at) : std::string();
  };
  for (std::uint32_t i = 0; i < header.entries; ++i) {
    const std::size_t at = begin + sizeof header + i * sizeof(cache_entry);
    if (at + sizeof(cache_entry) > all.size()) break;
    cache_entry entry;
    std::memcpy(&entry, all.data() + at, sizeof entry);
    // Of several entries the first of this machine's kind counts. A library of another kind is recognised by its folder
    // and skipped.
    const std::string path = text(entry.path);
    if (path.find("/i386-") == std::string::npos && path.find("/lib32/") == std::string::npos)
      found.emplace(text(entry.name), path);
  }
  return found;
}

std::optional<std::filesystem::path> in(const std::vector<std::string>& folders, const std::string& name) {
  for (const std::string& folder : folders) {
    const std::filesystem::path candidate = std::filesystem::path(folder) / name;
    if (::access(candidate.c_str(), R_OK) == 0) return candidate;
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string> split_path(const std::string& list) {
  std::vector<std::string> all;
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t end = std::min(list.find_first_of(":;", at), list.size());
    if (end > at) all.push_back(list.substr(at, end - at));
    at = end + 1;
  }
  return all;
}

library_finder::library_finder()
    : cached_(read_cache("/etc/ld.so.cache")),
      standard_{"/lib/x86_64-linux-gnu",
                "/usr/lib/x86_64-linux-gnu",
                "/lib/aarch64-linux-gnu",
                "/usr/lib/aarch64-linux-gnu",
                "/lib64",
                "/usr/lib64",
                "/lib",
                "/usr/lib"} {
  if (const char* list = std::getenv("LD_LIBRARY_PATH")) given_ = split_path(list);
}

std::optional<std::filesystem::path> library_finder::find(const std::string& name, const elf_file& of,
                                                          const std::vector<std::string>& chain) const {
  if (name.find('/') != std::string::npos) return name;
  if (of.runpath.empty()) {
    if (auto found = in(chain, name)) return found;
  }
  if (auto found = in(given_, name)) return found;
  if (auto found = in(of.runpath, name)) return found;
  if (const auto found = cached_.find(name); found != cached_.end()) return found->second;
  return in(standard_, name);
}

}  // namespace heddle::cli
