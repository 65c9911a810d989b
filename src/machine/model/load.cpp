#include "machine/model/load.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <vector>

#include "base/nearest.hpp"
#include "machine/model.hpp"
#include "machine/model/shipped.hpp"

namespace heddle::machine {

namespace {

namespace fs = std::filesystem;
using chain = std::vector<std::string>;

constexpr std::string_view synthetic = "synthetic:";

std::optional<std::string> read_file(const fs::path& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return std::nullopt;
  std::ifstream in(path, std::ios::binary);
  if (!in) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(in), {});
}

const shipped_file* shipped_toml(std::string_view name) {
  return name == "defaults" ? nullptr : find_shipped(std::string(name) + ".toml");
}

bool is_shipped(const file_node& at) { return at.file.starts_with(shipped_prefix); }

// Returns the path that `path` means in a file at `label`.
fs::path beside(const std::string& label, const std::string& path) {
  return fs::path(path).is_absolute() ? fs::path(path) : fs::path(label).parent_path() / path;
}

file_node load_toml(std::string_view text, const std::string& label, chain& above);

std::string identity_of(const std::string& label) {
  std::error_code error;
  const fs::path real = fs::weakly_canonical(label, error);
  return label.starts_with(shipped_prefix) || error ? label : real.string();
}

// Returns the file that the key `base` names: a shipped machine, or a file relative to the one that names it.
file_node load_base(const file_node& key, chain& above) {
  if (key.is != file_node::type::text)
    refuse(key, "base", "expected the name of a shipped machine or of a file, in quotation marks");
  std::string text, label;
  if (const shipped_file* shipped = shipped_toml(key.text)) {
    text = shipped->text;
    label = std::string(shipped_prefix) + std::string(shipped->name);
  } else {
    const fs::path path = beside(key.file, key.text);
    const std::optional<std::string> read = is_shipped(key) ? std::nullopt : read_file(path);
    if (!read) {
      const std::string hint = base::did_you_mean(key.text, model::shipped());
      refuse(key, "base",
             fmt::format("\"{}\" is neither a shipped machine nor a file that can be read{}", key.text, hint));
    }
    text = *read;
    label = path.string();
  }
  const std::string identity = identity_of(label);
  if (std::find(above.begin(), above.end(), identity) != above.end()) {
    std::string circle;
    for (const std::string& file : above) circle += file + " -> ";
    refuse(key, "base", "files include each other in a circle: " + circle + identity + "; remove one `base`");
  }
  return load_toml(text, label, above);
}

void prepend(file_node& own, const file_node* base) {
  if (base == nullptr || base->is != file_node::type::list || own.is != file_node::type::list) return;
  own.items.insert(own.items.begin(), base->items.begin(), base->items.end());
}

file_node load_toml(std::string_view text, const std::string& label, chain& above) {
  file_node own = parse_toml(text, label);
  const file_node* key = own.find("base");
  if (key == nullptr) return own;
  above.push_back(identity_of(label));
  file_node under = load_base(*key, above);
  above.pop_back();
  // A machine does not inherit its base's name and title.
  std::erase_if(under.fields,
                [](const file_field& f) { return f.key == "base" || f.key == "name" || f.key == "title"; });
  for (const char* list : {"sources", "assumptions"}) {
    if (file_node* mine = own.find(list)) prepend(*mine, under.find(list));
  }
  return overlay(std::move(under), std::move(own));
}

machine_source from_toml(std::string_view text, const std::string& label, std::string name) {
  chain above;
  machine_source made{std::move(name), std::nullopt, load_toml(text, label, above)};
  return made;
}

[[noreturn]] void unknown(std::string_view name) {
  const std::vector<std::string> known = model::shipped();
  std::string hint = base::did_you_mean(name, known);
  if (hint.empty())
    hint = "; expected this, synthetic:DESCRIPTION, a TOML or XML file, or a shipped machine: " +
           base::alternatives(known);
  throw std::invalid_argument(
      fmt::format("machine '{}': no shipped machine and no file that can be read{}", name, hint));
}

// Loads one name, without "+".
std::optional<machine_source> single(const std::string& name) {
  if (name.empty() || name == "this") return machine_source{"this machine", topology::here(), std::nullopt};
  if (name.starts_with(synthetic))
    return machine_source{name, topology::from_synthetic(name.substr(synthetic.size())), std::nullopt};
  if (const shipped_file* file = shipped_toml(name)) {
    return from_toml(file->text, std::string(shipped_prefix) + std::string(file->name), name);
  }
  const std::optional<std::string> text = read_file(name);
  if (!text) return std::nullopt;
  const std::string stem = fs::path(name).stem().string();
  const std::size_t first = text->find_first_not_of(" \t\r\n");
  if (first == std::string::npos || (*text)[first] != '<') return from_toml(*text, name, stem);
  machine_source made{name, topology::from_xml(name), std::nullopt};
  const fs::path completion = fs::path(name).replace_extension(".toml");
  if (const std::optional<std::string> figures = read_file(completion)) {
    made.file = from_toml(*figures, completion.string(), stem).file;
    // The file may name this very XML; then its `tree` adds nothing.
    file_node* tree = made.file->find("tree");
    std::error_code ignored;
    if (tree != nullptr && tree->is == file_node::type::text && !is_shipped(*tree) &&
        fs::equivalent(beside(tree->file, tree->text), name, ignored)) {
      std::erase_if(made.file->fields, [](const file_field& f) { return f.key == "tree"; });
    }
  }
  return made;
}

void drop(file_node& from, std::initializer_list<std::string_view> keys) {
  std::erase_if(from.fields, [&](const file_field& f) { return std::ranges::find(keys, f.key) != keys.end(); });
}

// Capacities of caches belong to the tree. Their latencies are a set: latencies of two machines cannot be combined.
void take_caches_only_by_time(file_node& second, std::optional<file_node>& first) {
  file_node* const caches = second.find("cache");
  if (caches == nullptr) return;
  file_node* const own = first ? first->find("cache") : nullptr;
  for (auto& [level, figures] : caches->fields) {
    drop(figures, {"size", "line", "ways", "victim"});
    file_node* const replaced = own != nullptr ? own->find(level) : nullptr;
    if (replaced != nullptr) drop(*replaced, {"latency", "transfer", "upgrade"});
  }
}

}  // namespace

machine_source load(std::string_view name) {
  const std::size_t plus = name.rfind('+');
  // A file's name may contain a plus; hwloc's notation does not.
  if (plus == std::string_view::npos || !name.starts_with(synthetic)) {
    if (std::optional<machine_source> found = single(std::string(name))) return *std::move(found);
  }
  if (plus == std::string_view::npos) unknown(name);
  machine_source first = load(name.substr(0, plus));
  const std::string_view second_name = name.substr(plus + 1);
  std::optional<machine_source> second = single(std::string(second_name));
  if (!second) unknown(second_name);
  if (!second->file) {
    throw std::invalid_argument(
        fmt::format("machine '{}': '{}' has no figures to add; behind + stands a TOML file", name, second_name));
  }
  if (const file_node* tree = second->file->find("tree")) {
    if (!is_shipped(*tree))
      refuse(*tree, "tree",
             fmt::format("'{}' has a tree already; remove this one, or name the file alone", name.substr(0, plus)));
    // A shipped machine behind + gives only its figures.
    drop(*second->file, {"tree", "core", "node", "link"});
    take_caches_only_by_time(*second->file, first.file);
    // figures of caches that the tree lacks are not an error
    second->file = overlay(std::move(*second->file), file_node{});
  }
  first.file = first.file ? overlay(std::move(*first.file), std::move(*second->file)) : std::move(*second->file);
  first.name = std::string(name);
  return first;
}

topology tree_of(const file_node& key) {
  if (key.is != file_node::type::text || key.text.empty()) {
    refuse(key, "tree", "expected \"this\", \"synthetic:DESCRIPTION\", or an XML file of lstopo relative to this file");
  }
  try {
    if (key.text == "this") return topology::here();
    if (key.text.starts_with(synthetic)) return topology::from_synthetic(key.text.substr(synthetic.size()));
    if (!is_shipped(key)) return topology::from_xml(beside(key.file, key.text).string());
    const shipped_file* file = find_shipped(key.text);
    if (file == nullptr) refuse(key, "tree", "no such file is shipped");
    return topology::from_xml_text(std::string(file->text), key.text);
  } catch (const std::invalid_argument& error) {
    refuse(key, "tree", error.what());
  }
}

}  // namespace heddle::machine
