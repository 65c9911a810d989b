#include "cli/run/elf.hpp"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <stdexcept>

namespace heddle::cli {

namespace {

#if defined(__x86_64__)
constexpr Elf64_Half machine_here = EM_X86_64;
constexpr const char* name_here = "x86-64";
#else
constexpr Elf64_Half machine_here = EM_AARCH64;
constexpr const char* name_here = "AArch64";
#endif

class reader {
 public:
  explicit reader(const std::filesystem::path& path) : path_(path), file_(path, std::ios::binary) {}

  bool get(std::uint64_t at, void* into, std::size_t size) {
    file_.clear();
    file_.seekg(static_cast<std::streamoff>(at));
    return static_cast<bool>(file_.read(static_cast<char*>(into), static_cast<std::streamsize>(size)));
  }
  template <class T>
  T at(std::uint64_t offset) {
    T value{};
    if (!get(offset, &value, sizeof value)) damaged();
    return value;
  }
  std::string text(std::uint64_t offset, std::size_t most = 4096) {
    file_.clear();
    file_.seekg(static_cast<std::streamoff>(offset));
    std::string read;
    if (!std::getline(file_, read, '\0') || read.size() > most) damaged();
    return read;
  }
  [[noreturn]] void damaged() const { throw std::runtime_error(fmt::format("{}: a damaged ELF file", path_.string())); }

 private:
  std::filesystem::path path_;
  std::ifstream file_;
};

std::vector<std::string> folders(const std::string& list, const std::filesystem::path& file) {
  const std::string origin = std::filesystem::absolute(file).parent_path().string();
  std::vector<std::string> all;
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t end = std::min(list.find(':', at), list.size());
    std::string folder = list.substr(at, end - at);
    for (const char* name : {"$ORIGIN", "${ORIGIN}"}) {
      for (std::size_t here; (here = folder.find(name)) != std::string::npos;)
        folder.replace(here, std::strlen(name), origin);
    }
    if (!folder.empty()) all.push_back(folder);
    at = end + 1;
  }
  return all;
}

// Returns the offset in the file of the data that is loaded at that address.
std::uint64_t offset_of(std::uint64_t address, const std::vector<Elf64_Phdr>& parts, const reader& file) {
  for (const Elf64_Phdr& part : parts) {
    if (part.p_type == PT_LOAD && address >= part.p_vaddr && address - part.p_vaddr < part.p_filesz)
      return part.p_offset + (address - part.p_vaddr);
  }
  file.damaged();
}

}  // namespace

std::optional<elf_file> read_elf(const std::filesystem::path& path) {
  reader file(path);
  unsigned char ident[EI_NIDENT];
  if (!file.get(0, ident, sizeof ident) || std::memcmp(ident, ELFMAG, SELFMAG) != 0) return std::nullopt;
  const bool is_wide = ident[EI_CLASS] == ELFCLASS64 && ident[EI_DATA] == ELFDATA2LSB;
  if (!is_wide || file.at<Elf64_Ehdr>(0).e_machine != machine_here) {
    throw std::runtime_error(fmt::format(
        "{}: is for another kind of machine; build it for {} with 64 bits, as heddle is", path.string(), name_here));
  }
  const auto header = file.at<Elf64_Ehdr>(0);

  elf_file found;
  std::vector<Elf64_Phdr> parts;
  for (unsigned i = 0; i < header.e_phnum; ++i)
    parts.push_back(file.at<Elf64_Phdr>(header.e_phoff + std::uint64_t{i} * header.e_phentsize));
  std::vector<Elf64_Dyn> entries;
  for (const Elf64_Phdr& part : parts) {
    if (part.p_type == PT_INTERP) found.interpreter = file.text(part.p_offset);
    if (part.p_type != PT_DYNAMIC) continue;
    for (std::uint64_t at = 0; at + sizeof(Elf64_Dyn) <= part.p_filesz; at += sizeof(Elf64_Dyn)) {
      entries.push_back(file.at<Elf64_Dyn>(part.p_offset + at));
      if (entries.back().d_tag == DT_NULL) break;
    }
  }
  const auto strings = std::find_if(entries.begin(), entries.end(), [](const auto& e) { return e.d_tag == DT_STRTAB; });
  if (strings != entries.end()) {
    const std::uint64_t table = offset_of(strings->d_un.d_ptr, parts, file);
    for (const Elf64_Dyn& entry : entries) {
      if (entry.d_tag != DT_NEEDED && entry.d_tag != DT_RPATH && entry.d_tag != DT_RUNPATH) continue;
      const std::string text = file.text(table + entry.d_un.d_val, 65536);
      if (entry.d_tag == DT_NEEDED) found.needed.push_back(text);
      if (entry.d_tag == DT_RPATH) found.rpath = folders(text, path);
      if (entry.d_tag == DT_RUNPATH) found.runpath = folders(text, path);
    }
  }
  // A static program that may be loaded anywhere also has a dynamic section, for its relocations.
  found.dynamic = !found.interpreter.empty() || !found.needed.empty();
  return found;
}

}  // namespace heddle::cli
