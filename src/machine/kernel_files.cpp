// The topology of this machine from the files that the kernel shows below /sys/devices/system. hwloc reads three times
// as many of them and takes milliseconds, which short programs notice. Machines that need hwloc's knowledge are left to
// it: README.md, "This machine". Formats: Documentation/ABI/testing/sysfs-devices-system-cpu and
// sysfs-devices-node of Linux.
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string_view>
#include <tuple>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "machine/small_file.hpp"
#include "machine/source.hpp"

extern "C" char** environ;  // NOLINT: POSIX

namespace heddle::machine {

namespace kernel_files {
namespace {

using unit_set = std::vector<int>;  // numbers of units, ascending

// Thrown where hwloc is to be asked.
struct not_understood {};

void require(bool understood) {
  if (!understood) throw not_understood();
}

bool contains(const unit_set& set, int number) { return std::binary_search(set.begin(), set.end(), number); }

// Returns false if there is no such file. All of these files but meminfo have one line, and that one's first line is
// the one that is looked for.
bool read(const std::string& file, std::string& text) {
  std::optional<std::string> line = read_first_line(file);
  if (line) text = *std::move(line);
  return line.has_value();
}

template <class Number>
Number number_in(std::string_view text, int base = 10) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  require(error == std::errc() && end == text.data() + text.size());
  return value;
}

// "0-3,8"
unit_set list_in(std::string_view text) {
  unit_set found;
  while (!text.empty()) {
    const std::string_view range = text.substr(0, text.find(','));
    text.remove_prefix(std::min(range.size() + 1, text.size()));
    const std::size_t dash = range.find('-');
    const int first = number_in<int>(range.substr(0, dash));
    const int last = dash == std::string_view::npos ? first : number_in<int>(range.substr(dash + 1));
    require(first <= last && last < 1 << 20 && (found.empty() || found.back() < first));
    for (int number = first; number <= last; ++number) found.push_back(number);
  }
  return found;
}

// "f,00000003": words of 32 bits in hexadecimal digits, the highest first.
unit_set mask_in(std::string_view text) {
  unit_set found;
  for (int base = 0; !text.empty(); base += 32) {
    const std::size_t comma = text.rfind(',');
    const std::string_view word = text.substr(comma == std::string_view::npos ? 0 : comma + 1);
    text = comma == std::string_view::npos ? std::string_view() : text.substr(0, comma);
    const auto bits = number_in<std::uint32_t>(word, 16);
    for (int i = 0; i < 32; ++i) {
      if ((bits >> i & 1) != 0) found.push_back(base + i);
    }
  }
  return found;
}

// True for processors about whose cores hwloc knows better than the kernel's files: AMD's family 15h, Knights Landing
// and Knights Mill.
bool has_strange_cores() noexcept {
#if defined(__x86_64__)
  unsigned signature = 0, ignored = 0;
  if (__get_cpuid(1, &signature, &ignored, &ignored, &ignored) == 0) return true;
  const unsigned family = (signature >> 8 & 0xf) + ((signature >> 8 & 0xf) == 0xf ? signature >> 20 & 0xff : 0);
  const unsigned model = (signature >> 4 & 0xf) | (signature >> 12 & 0xf0);
  return family == 0x15 || (family == 6 && (model == 0x57 || model == 0x85));
#else
  return false;
#endif
}

struct cache {
  unit_set units;
  cache_info what;
};

class reader {
 public:
  explicit reader(const std::string& root) : cpus_(root + "/sys/devices/system/cpu"), root_(root) {}

  topology read_machine() {
    online_ = list_in(text_of(cpus_ + "/online"));
    require(!online_.empty());
    read_sets("core_cpus", cores_, true);
    // Virtual machines charge microseconds for the question, and most have one hardware thread in a core.
    const auto has_several = [](const unit_set& core) { return core.size() > 1; };
    require(std::none_of(cores_.begin(), cores_.end(), has_several) || !has_strange_cores());
    read_sets("package_cpus", packages_, true);
    read_sets("die_cpus", further_, false);
    read_sets("cluster_cpus", further_, false);
    read_caches();
    read_nodes();
    require_equal_cores();
    return make();
  }

 private:
  std::string text_of(const std::string& file) const {
    std::string text;
    require(read(file, text) && !text.empty());
    return text;
  }
  std::string of_unit(int number) const { return cpus_ + "/cpu" + std::to_string(number) + "/"; }
  // The units of a set that are online.
  unit_set usable(unit_set units) const {
    std::erase_if(units, [&](int number) { return !contains(online_, number); });
    return units;
  }

  // The sets of one kind that the units name, each read once.
  void read_sets(const char* name, std::vector<unit_set>& sets, bool needed) {
    const std::size_t begin = sets.size();
    for (const int number : online_) {
      const auto known = [&](const unit_set& set) { return contains(set, number); };
      if (std::any_of(sets.begin() + static_cast<std::ptrdiff_t>(begin), sets.end(), known)) continue;
      std::string text;
      if (!read(of_unit(number) + "topology/" + name, text)) {
        require(!needed);
        return;
      }
      sets.push_back(usable(mask_in(text)));
      require(known(sets.back()));
    }
  }

  std::uint64_t number_or_none(const std::string& file) const {
    std::string text;
    return read(file, text) && !text.empty() ? number_in<std::uint64_t>(text) : 0;
  }

  // Caches of one index and size are alike but for their units. The files of later ones are not all read.
  void read_caches() {
    std::map<std::pair<unsigned, std::uint64_t>, cache_info> alike;
    std::map<unsigned, std::vector<unit_set>> seen;  // by index
    std::map<unsigned, bool> holds_data;
    for (const int number : online_) {
      for (unsigned index = 0;; ++index) {
        if (const auto known = holds_data.find(index); known != holds_data.end() && !known->second) continue;
        std::vector<unit_set>& sets = seen[index];
        if (std::any_of(sets.begin(), sets.end(), [&](const unit_set& set) { return contains(set, number); })) continue;
        const std::string folder = of_unit(number) + "cache/index" + std::to_string(index) + "/";
        std::string size;
        if (!read(folder + "size", size)) {
          require(index != 0);
          break;
        }
        require(size.ends_with('K'));
        const std::uint64_t bytes = number_in<std::uint64_t>(std::string_view(size).substr(0, size.size() - 1)) << 10;
        auto of_kind = alike.find({index, bytes});
        if (of_kind == alike.end()) {
          const std::string type = text_of(folder + "type");
          require(type == "Data" || type == "Unified" || type == "Instruction");
          const bool data = type != "Instruction";
          require(holds_data.emplace(index, data).first->second == data);
          if (!data) continue;
          of_kind = alike.emplace(std::pair(index, bytes), attributes(folder, bytes)).first;
        }
        sets.push_back(usable(mask_in(text_of(folder + "shared_cpu_map"))));
        require(contains(sets.back(), number));
        caches_.push_back({sets.back(), of_kind->second});
      }
    }
  }

  cache_info attributes(const std::string& folder, std::uint64_t bytes) const {
    constexpr group_kind kinds[] = {group_kind::l1, group_kind::l2, group_kind::l3, group_kind::l4, group_kind::l5};
    cache_info what;
    const auto level = number_in<unsigned>(text_of(folder + "level"));
    require(level >= 1 && level <= std::size(kinds) && bytes != 0);
    what.kind = kinds[level - 1];
    what.capacity = bytes;
    what.line_size = static_cast<unsigned>(number_or_none(folder + "coherency_line_size"));
    std::uint64_t rows = number_or_none(folder + "number_of_sets");
    if (rows == 1) rows = 0;  // hwloc takes it for unknown
    const std::uint64_t partition = number_or_none(folder + "physical_line_partition");
    const std::uint64_t row = rows * what.line_size * std::max<std::uint64_t>(partition, 1);
    what.associativity = row != 0 ? static_cast<int>(bytes / row) : 0;
    return what;
  }

  void read_nodes() {
    const std::string folder = root_ + "/sys/devices/system/node";
    for (const int number : list_in(text_of(folder + "/online"))) {
      const std::string node = folder + "/node" + std::to_string(number);
      const unit_set units = usable(mask_in(text_of(node + "/cpumap")));
      require(!units.empty());  // hwloc knows next to which processors such memory is
      const std::string facts = text_of(node + "/meminfo");
      constexpr std::string_view name = "MemTotal:";
      std::size_t at = facts.find(name);
      require(at != std::string::npos);
      at = facts.find_first_not_of(' ', at + name.size());
      const std::size_t end = facts.find(' ', at);
      require(end != std::string::npos && facts.compare(end, 3, " kB") == 0);
      nodes_.push_back({number, units, number_in<std::uint64_t>(std::string_view(facts).substr(at, end - at)) << 10});
    }
    std::size_t covered = 0;
    for (const node& n : nodes_) covered += n.units.size();
    require(covered == online_.size());
  }

  // Kinds of cores are hwloc's to tell apart.
  void require_equal_cores() const {
    std::string first[3], other;
    for (const int number : online_) {
      const char* const files[] = {"cpu_capacity", "cpufreq/cpuinfo_max_freq", "cpufreq/base_frequency"};
      for (std::size_t i = 0; i < std::size(files); ++i) {
        other.clear();
        read(of_unit(number) + files[i], other);
        if (number == online_.front()) first[i] = other;
        require(other == first[i]);
      }
    }
    require(!read(root_ + "/sys/devices/cpu_atom/cpus", other));
  }

  // The units in hwloc's logical order: by the tree of all sets, the outermost first, each at the place of its lowest
  // unit. Sets that do not nest make no tree.
  std::vector<int> in_order() const {
    std::vector<const unit_set*> sets;
    for (const unit_set& set : cores_) sets.push_back(&set);
    for (const unit_set& set : packages_) sets.push_back(&set);
    for (const unit_set& set : further_) sets.push_back(&set);
    for (const cache& c : caches_) sets.push_back(&c.units);
    for (const node& n : nodes_) sets.push_back(&n.units);
    std::stable_sort(sets.begin(), sets.end(),
                     [](const unit_set* a, const unit_set* b) { return a->size() > b->size(); });
    std::map<int, std::vector<const unit_set*>> around;
    for (const unit_set* set : sets) {
      for (const int number : *set) {
        std::vector<const unit_set*>& outer = around[number];
        require(outer.empty() || std::includes(outer.back()->begin(), outer.back()->end(), set->begin(), set->end()));
        if (outer.empty() || *outer.back() != *set) outer.push_back(set);
      }
    }
    std::vector<std::pair<std::vector<int>, int>> places;
    for (const int number : online_) {
      std::vector<int> path;
      for (const unit_set* set : around[number]) path.push_back(set->front());
      places.emplace_back(std::move(path), number);
    }
    std::sort(places.begin(), places.end());
    std::vector<int> order;
    for (const auto& [path, number] : places) order.push_back(number);
    return order;
  }

  topology make() {
    const std::vector<int> order = in_order();
    std::map<int, unsigned> place;
    for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = static_cast<unsigned>(i);
    std::vector<processing_unit> units;
    unsigned core = 0, package = 0;
    for (const int number : order) {
      processing_unit u;
      u.number = number;
      if (!units.empty()) {
        if (!together(cores_, units.back().number, number)) ++core;
        else u.sibling = units.back().sibling + 1;
        if (!together(packages_, units.back().number, number)) ++package;
      }
      u.core = core;
      u.package = package;
      for (const node& n : nodes_) {
        if (contains(n.units, number)) u.numa = n.number;
      }
      units.push_back(u);
    }
    const auto interval = [&](const unit_set& set) {
      unsigned first = static_cast<unsigned>(order.size()), last = 0;
      for (const int number : set) {
        first = std::min(first, place[number]);
        last = std::max(last, place[number] + 1);
      }
      require(last - first == set.size());
      return std::pair(first, last);
    };
    std::vector<topology_set> sets;
    for (const cache& c : caches_) {
      const auto [first, last] = interval(c.units);
      sets.push_back({c.what.kind, c.what.capacity, c.what.line_size, c.what.associativity, first, last});
    }
    std::uint64_t memory = 0;
    for (const node& n : nodes_) {
      const auto [first, last] = interval(n.units);
      sets.push_back({group_kind::numa, n.bytes, 0, 0, first, last});
      memory += n.bytes;
    }
    return tree_builder::whole("this machine", true, memory, 1, std::move(units), std::move(sets));
  }

  static bool together(const std::vector<unit_set>& sets, int a, int b) {
    return std::any_of(sets.begin(), sets.end(),
                       [&](const unit_set& set) { return contains(set, a) && contains(set, b); });
  }

  struct node {
    int number;
    unit_set units;
    std::uint64_t bytes;
  };

  const std::string cpus_, root_;
  unit_set online_;
  std::vector<unit_set> cores_, packages_;
  std::vector<unit_set> further_;  // dies and clusters, which decide on the order alone
  std::vector<cache> caches_;
  std::vector<node> nodes_;
};

// The user has told hwloc something.
bool wants_hwloc() {
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (std::strncmp(*variable, "HWLOC_", 6) == 0) return true;
  }
  return false;
}

}  // namespace
}  // namespace kernel_files

std::optional<topology> from_kernel_files(const std::string& root) try {
  return kernel_files::reader(root).read_machine();
} catch (const kernel_files::not_understood&) {
  return std::nullopt;
}

std::optional<topology> this_machine_without_hwloc() {
  if (kernel_files::wants_hwloc()) return std::nullopt;
  return from_kernel_files("");
}

}  // namespace heddle::machine
