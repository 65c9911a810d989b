// Names of functions that a module does not export, from the symbol table of its file; lambdas in anonymous namespaces
// are such functions. Formats: System V ABI, chapter 4 (ELF64).
#pragma once

#include <dlfcn.h>
#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace heddle::platform {

// The functions of one file, by their address within it.
class elf_symbols {
 public:
  // Has no functions if the file cannot be read, is stripped, or is no ELF file of this machine's word size.
  explicit elf_symbols(const char* path) {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path, "re"), std::fclose);
    if (file == nullptr) return;
    std::vector<Elf64_Ehdr> head;
    if (!read(file.get(), 0, 1, head) || std::memcmp(head[0].e_ident, ELFMAG, SELFMAG) != 0 ||
        head[0].e_ident[EI_CLASS] != ELFCLASS64) {
      return;
    }
    fixed_ = head[0].e_type == ET_EXEC;
    std::vector<Elf64_Shdr> sections;
    if (!read(file.get(), head[0].e_shoff, head[0].e_shnum, sections)) return;
    for (const Elf64_Shdr& s : sections) {
      if (s.sh_type != SHT_SYMTAB || s.sh_link >= sections.size()) continue;
      std::vector<Elf64_Sym> table;
      const Elf64_Shdr& names = sections[s.sh_link];
      if (!read(file.get(), s.sh_offset, s.sh_size / sizeof(Elf64_Sym), table)) return;
      if (!read(file.get(), names.sh_offset, names.sh_size, names_) || names_.empty() || names_.back() != '\0') return;
      for (const Elf64_Sym& f : table) {
        if (ELF64_ST_TYPE(f.st_info) == STT_FUNC && f.st_value != 0 && f.st_name < names_.size())
          functions_.push_back({f.st_value, f.st_size, f.st_name});
      }
    }
    std::sort(functions_.begin(), functions_.end(),
              [](const function& a, const function& b) { return a.start < b.start; });
  }

  // The function at `address` of a module that is loaded at `base`; null if there is none. The name lives as long as
  // this object.
  const char* name_at(std::uintptr_t address, std::uintptr_t base, std::uintptr_t& start) const noexcept {
    const std::uintptr_t shift = fixed_ ? 0 : base;
    const std::uintptr_t wanted = address - shift;
    auto after = std::upper_bound(functions_.begin(), functions_.end(), wanted,
                                  [](std::uintptr_t a, const function& f) { return a < f.start; });
    if (after == functions_.begin()) return nullptr;
    --after;
    if (wanted - after->start >= std::max<std::uint64_t>(after->size, 1)) return nullptr;
    start = after->start + shift;
    return names_.data() + after->name;
  }

 private:
  struct function {
    std::uint64_t start, size;
    std::uint32_t name;
  };

  // Reads `count` objects from `offset`. Returns false if the file is shorter. A count that a file of that length
  // cannot hold is not allocated.
  template <class T>
  static bool read(std::FILE* file, std::uint64_t offset, std::uint64_t count, std::vector<T>& into) {
    if (std::fseek(file, 0, SEEK_END) != 0) return false;
    const long length = std::ftell(file);
    if (length < 0 || offset > static_cast<std::uint64_t>(length) ||
        count > (static_cast<std::uint64_t>(length) - offset) / sizeof(T))
      return false;
    into.resize(count);
    return std::fseek(file, static_cast<long>(offset), SEEK_SET) == 0 &&
           std::fread(into.data(), sizeof(T), count, file) == count;
  }

  bool fixed_ = false;  // whether addresses in the file are those in memory
  std::vector<function> functions_;
  std::vector<char> names_;
};

// The function at an address in a module that dladdr knows. The module's file is read once, at the first question; the
// names stay.
inline const char* unexported_function(const Dl_info& module, const void* address, const void*& start) {
  static std::mutex mutex;
  // never deleted, because names are handed out, at exit too
  static auto& known = *new std::map<const void*, std::unique_ptr<elf_symbols>>();
  const std::lock_guard hold(mutex);
  std::unique_ptr<elf_symbols>& of = known[module.dli_fbase];
  if (of == nullptr) {
    // Libraries have absolute names. The program's own name may be relative to a folder that it has left.
    of = std::make_unique<elf_symbols>(module.dli_fname[0] == '/' ? module.dli_fname : "/proc/self/exe");
  }
  std::uintptr_t at = 0;
  const char* name =
      of->name_at(reinterpret_cast<std::uintptr_t>(address), reinterpret_cast<std::uintptr_t>(module.dli_fbase), at);
  if (name != nullptr) start = reinterpret_cast<const void*>(at);
  return name;
}

}  // namespace heddle::platform
