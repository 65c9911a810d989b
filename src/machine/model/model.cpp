#include "machine/model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "base/nearest.hpp"
#include "machine/model/assemble.hpp"
#include "machine/model/load.hpp"
#include "machine/model/shipped.hpp"

namespace heddle::machine {

const shipped_file* find_shipped(std::string_view name) noexcept {
  for (const shipped_file& file : shipped_files()) {
    if (file.name == name) return &file;
  }
  return nullptr;
}

namespace {

constexpr std::string_view defaults_name = "defaults.toml";

file_node defaults() {
  const shipped_file* file = find_shipped(defaults_name);
  file_node read = parse_toml(file->text, std::string(shipped_prefix).append(defaults_name));
  mark_assumed(read);
  return read;
}

topology tree_for(machine_source& source) {
  const file_node* key = source.file ? source.file->find("tree") : nullptr;
  if (source.tree && key != nullptr)
    refuse(*key, "tree", fmt::format("'{}' has a tree already; remove this one", source.name));
  if (source.tree) return *source.tree;
  if (key == nullptr) {
    refuse(*source.file, "tree",
           "is missing; give \"synthetic:DESCRIPTION\", an XML file of lstopo, or \"this\", or name the file behind a "
           "machine: MACHINE+FILE");
  }
  return tree_of(*key);
}

}  // namespace

model model::from_name(std::string_view name) {
  machine_source source = load(name);
  topology tree = tree_for(source);
  if (source.file) {
    const file_node* own = source.file->find("name");
    if (own != nullptr && own->is != file_node::type::text) refuse(*own, "name", "expected text in quotation marks");
    if (own != nullptr && !source.tree) source.name = own->text;
  }
  model made{.name = source.name,
             .title = {},
             .sources = {},
             .tree = tree.named(source.name),
             .kinds = {},
             .caches = {},
             .nodes = {},
             .links = {},
             .costs = {},
             .assumed = {},
             .figures = {}};
  assemble(source.file ? overlay(defaults(), std::move(*source.file)) : defaults(), made);
  return made;
}

std::vector<std::string> model::shipped() {
  std::vector<std::string> names;
  constexpr std::string_view ending = ".toml";
  for (const shipped_file& file : shipped_files()) {
    if (!file.name.ends_with(ending) || file.name == defaults_name) continue;
    names.emplace_back(file.name.substr(0, file.name.size() - ending.size()));
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string_view model::shipped_text(std::string_view name) {
  if (const shipped_file* file = find_shipped(std::string(name) + ".toml")) return file->text;
  throw std::invalid_argument(fmt::format("machine '{}' is not shipped{}", name, base::did_you_mean(name, shipped())));
}

std::span<const cost_key> cost_keys() noexcept {
  using c = operation_costs;
  static constexpr cost_key keys[] = {
      {"fork", &c::fork, "offering one half of a fork, nobody stealing"},
      {"join", &c::join, "taking it back"},
      {"spawn", &c::spawn, "a thread of a group made and started"},
      {"thread_switch", &c::thread_switch, "from one thread to another"},
      {"steal", &c::steal, "a steal from the nearest victim that gets something"},
      {"steal_per_level", &c::steal_per_level,
       "more for each level of the tree between thief and victim beyond the nearest"},
      {"failed_steal", &c::failed_steal, "a look at a victim that has nothing"},
      {"wake", &c::wake, "futex wake, for the waker"},
      {"wake_latency", &c::wake_latency, "until the woken kernel thread runs"},
      {"sleep", &c::sleep, "futex wait, for the sleeper"},
      {"heavy_fence", &c::heavy_fence, "a fence on all processors of the process, membarrier"},
      {"signal", &c::signal, "delivery of a signal and the way back from its handler, for the receiver"},
      {"signal_lock", &c::signal_lock, "of that, how long signals to other kernel threads of the process wait"},
      {"signal_send", &c::signal_send, "sending a signal or setting a timer"},
      {"kernel_switch", &c::kernel_switch, "from one kernel thread to another on a processing unit"},
      {"clock", &c::clock, "reading the clock"},
  };
  return keys;
}

}  // namespace heddle::machine
