// The topology from the kernel's files is the one that hwloc reads: of this machine, and of machines whose files are
// written here.
#include <gtest/gtest.h>

#include <unistd.h>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "machine/source.hpp"

namespace heddle::machine {
namespace kernel_files_test {
namespace {

void expect_equal(const topology& a, const topology& b) {
  EXPECT_EQ(a.memory_bytes(), b.memory_bytes());
  EXPECT_EQ(a.kinds_of_core(), b.kinds_of_core());
  ASSERT_EQ(a.units().size(), b.units().size());
  for (std::size_t i = 0; i < a.units().size(); ++i) {
    const processing_unit &x = a.units()[i], &y = b.units()[i];
    EXPECT_EQ(std::tie(x.number, x.core, x.sibling, x.package, x.numa, x.kind, x.speed),
              std::tie(y.number, y.core, y.sibling, y.package, y.numa, y.kind, y.speed))
        << "unit " << i;
    EXPECT_EQ(a.node_bytes(x.numa), b.node_bytes(x.numa));
  }
  ASSERT_EQ(a.caches().size(), b.caches().size());
  for (std::size_t i = 0; i < a.caches().size(); ++i) {
    const cache_info &x = a.caches()[i], &y = b.caches()[i];
    EXPECT_EQ(std::tie(x.kind, x.capacity, x.line_size, x.associativity, x.first_unit, x.last_unit),
              std::tie(y.kind, y.capacity, y.line_size, y.associativity, y.first_unit, y.last_unit))
        << "cache " << i;
  }
  ASSERT_EQ(a.view().groups().size(), b.view().groups().size());
  for (unsigned id = 0; id < a.view().groups().size(); ++id) {
    const memory_group &x = a.view().group(id), &y = b.view().group(id);
    EXPECT_EQ(std::tie(x.kind, x.capacity, x.parent, x.first_worker, x.worker_count, x.numa),
              std::tie(y.kind, y.capacity, y.parent, y.first_worker, y.worker_count, y.numa))
        << "group " << id;
  }
}

TEST(kernel_files, say_of_this_machine_what_hwloc_says) {
  const std::optional<topology> read = from_kernel_files("");
  if (!read) GTEST_SKIP() << "a machine that is left to hwloc";
  expect_equal(*read, this_machine_by_hwloc());
}

// Numbers of units as Linux gives them: first threads of all cores, then second ones.
struct described {
  unsigned packages, caches, cores, threads;  // each in one of what is before it
  unsigned nodes;                             // in a package
};

class written {
 public:
  explicit written(const described& d) : d_(d) {
    std::string name = (std::filesystem::temp_directory_path() / "heddle-sys-XXXXXX").string();
    root = ::mkdtemp(name.data()) != nullptr ? name : "";
    const unsigned cores = d.packages * d.caches * d.cores, units = cores * d.threads;
    file("sys/devices/system/cpu/online", "0-" + std::to_string(units - 1));
    file("sys/devices/system/cpu/possible", "0-" + std::to_string(units - 1));
    file("proc/meminfo", "MemTotal:       " + std::to_string(memory_kb * d.packages * d.nodes) + " kB");
    for (unsigned u = 0; u < units; ++u) {
      const unsigned core = u % cores, cache = core / d.cores, package = cache / d.caches;
      const std::string cpu = "sys/devices/system/cpu/cpu" + std::to_string(u) + "/";
      file(cpu + "topology/core_id", std::to_string(core));
      file(cpu + "topology/physical_package_id", std::to_string(package));
      file(cpu + "topology/core_cpus", mask([&](unsigned v) { return v % cores == core; }));
      file(cpu + "topology/package_cpus", mask([&](unsigned v) { return package_of(v) == package; }));
      file(cpu + "topology/die_cpus", mask([&](unsigned v) { return package_of(v) == package; }));
      const auto alone = [&](unsigned v) { return v % cores == core; };
      put_cache(cpu, 0, 1, "Data", 32, 64, alone);
      put_cache(cpu, 1, 1, "Instruction", 32, 64, alone);
      put_cache(cpu, 2, 2, "Unified", 512, 1024, alone);
      put_cache(cpu, 3, 3, "Unified", 16384, 16384, [&](unsigned v) { return v % cores / d.cores == cache; });
    }
    const unsigned nodes = d.packages * d.nodes;
    file("sys/devices/system/node/online", nodes == 1 ? "0" : "0-" + std::to_string(nodes - 1));
    for (unsigned n = 0; n < nodes; ++n) {
      const std::string node = "sys/devices/system/node/node" + std::to_string(n) + "/";
      file(node + "cpumap", mask([&](unsigned v) { return v % cores * nodes / cores == n; }));
      file(node + "meminfo", "Node " + std::to_string(n) + " MemTotal:       " + std::to_string(memory_kb) + " kB");
    }
  }
  ~written() { std::filesystem::remove_all(root); }

  void file(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = std::filesystem::path(root) / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text << '\n';
  }

  std::string root;

 private:
  static constexpr unsigned memory_kb = 8 << 20;
  unsigned package_of(unsigned unit) const {
    return unit % (d_.packages * d_.caches * d_.cores) / d_.cores / d_.caches;
  }
  template <class In>
  std::string mask(In in) const {
    const unsigned units = d_.packages * d_.caches * d_.cores * d_.threads;
    std::string text;
    for (unsigned word = (units + 31) / 32; word-- > 0;) {
      std::uint32_t bits = 0;
      for (unsigned i = 0; i < 32; ++i) bits |= word * 32 + i < units && in(word * 32 + i) ? 1u << i : 0;
      char digits[10];
      std::snprintf(digits, sizeof digits, "%08x", bits);
      text += (text.empty() ? "" : ",") + std::string(digits);
    }
    return text;
  }
  template <class In>
  void put_cache(const std::string& cpu, int index, int level, const char* type, int kb, int sets, In in) const {
    const std::string folder = cpu + "cache/index" + std::to_string(index) + "/";
    file(folder + "level", std::to_string(level));
    file(folder + "type", type);
    file(folder + "size", std::to_string(kb) + "K");
    file(folder + "coherency_line_size", "64");
    file(folder + "number_of_sets", std::to_string(sets));
    file(folder + "physical_line_partition", "1");
    file(folder + "shared_cpu_map", mask(in));
  }
  described d_;
};

topology hwloc_of(const written& files) {
  ::setenv("HWLOC_FSROOT", files.root.c_str(), 1);
  topology read = this_machine_by_hwloc();
  ::unsetenv("HWLOC_FSROOT");
  return read;
}

TEST(kernel_files, say_of_other_machines_what_hwloc_says) {
  constexpr described machines[] = {
      {1, 1, 4, 1, 1}, {1, 2, 4, 2, 1}, {2, 2, 3, 2, 1}, {2, 4, 4, 2, 2}, {1, 1, 1, 1, 1}};
  for (const described& d : machines) {
    SCOPED_TRACE(std::to_string(d.packages) + " x " + std::to_string(d.caches) + " x " + std::to_string(d.cores));
    const written files(d);
    const std::optional<topology> read = from_kernel_files(files.root);
    ASSERT_TRUE(read.has_value());
    EXPECT_EQ(read->units().size(), d.packages * d.caches * d.cores * d.threads);
    expect_equal(*read, hwloc_of(files));
  }
}

TEST(kernel_files, leave_to_hwloc_what_they_do_not_say) {
  const auto is_left = [](auto change) {
    const written files({2, 2, 2, 1, 1});
    EXPECT_TRUE(from_kernel_files(files.root).has_value());
    change(files);
    return !from_kernel_files(files.root).has_value();
  };
  const std::string cpus = "sys/devices/system/cpu/";
  EXPECT_TRUE(is_left([&](const written& f) { f.file(cpus + "cpu3/cpu_capacity", "512"); })) << "kinds of cores";
  EXPECT_TRUE(is_left([&](const written& f) { f.file("sys/devices/cpu_atom/cpus", "2-3"); })) << "kinds of cores";
  EXPECT_TRUE(is_left([&](const written& f) { std::filesystem::remove_all(f.root + "/" + cpus + "cpu0/cache"); }));
  EXPECT_TRUE(
      is_left([&](const written& f) { std::filesystem::remove(f.root + "/" + cpus + "cpu1/topology/core_cpus"); }));
  EXPECT_TRUE(is_left([&](const written& f) { f.file("sys/devices/system/node/node1/cpumap", "00000000"); }))
      << "memory without processors";
  EXPECT_TRUE(is_left([&](const written& f) { f.file(cpus + "online", "what"); }));
  EXPECT_TRUE(is_left([&](const written& f) { f.file(cpus + "cpu2/cache/index3/shared_cpu_map", "00000036"); }))
      << "sets that do not nest";
}

}  // namespace
}  // namespace kernel_files_test
}  // namespace heddle::machine
