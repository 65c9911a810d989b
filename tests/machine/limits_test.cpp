// Limits, read from /proc and /sys trees built by the tests.
#include "machine/limits.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <fstream>

namespace heddle::machine {
namespace limits_test {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class limits_files : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    root_ = fs::path(::testing::TempDir()) /
            (std::string("heddle_limits_") + test->name() + "_" + std::to_string(getpid()));
    fs::remove_all(root_);
    fs::create_directories(root_);
  }
  void TearDown() override { fs::remove_all(root_); }

  void put(const std::string& name, const std::string& text) {
    const fs::path file = root_ / fs::path(name).relative_path();
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  void put_v2_mount(const std::string& mount_root = "/", const std::string& point = "/sys/fs/cgroup") {
    put("/proc/self/mountinfo", "22 27 0:21 / /proc rw,relatime - proc proc rw\n29 23 0:26 " + mount_root + " " +
                                    point + " ro,nosuid shared:4 master:2 - cgroup2 cgroup rw,nsdelegate\n");
  }
  void put_v1_mount(const std::string& mount_root = "/", const std::string& controllers = "rw,cpu,cpuacct") {
    put("/proc/self/mountinfo", "30 23 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n31 23 0:28 " +
                                    mount_root + " /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup " + controllers +
                                    "\n");
  }
  limits read() { return read_limits(root_, {0, 1, 2, 3}); }

  fs::path root_;
};

TEST_F(limits_files, nothing_there_limits_nothing) {
  const limits found = read();
  EXPECT_THAT(found.mask, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(found.quotas, IsEmpty());
  EXPECT_THAT(found.warnings, IsEmpty());
  EXPECT_EQ(found.tightest(), nullptr);
}

TEST_F(limits_files, version_2_own_group) {
  put("/proc/self/cgroup", "0::/system.slice/job.service\n");
  put_v2_mount();
  put("/sys/fs/cgroup/cgroup.procs", "");
  put("/sys/fs/cgroup/system.slice/cpu.max", "max 100000\n");
  put("/sys/fs/cgroup/system.slice/job.service/cpu.max", "150000 100000\n");
  const limits found = read();
  ASSERT_THAT(found.quotas, SizeIs(1));
  EXPECT_DOUBLE_EQ(found.quotas[0].processors, 1.5);
  EXPECT_EQ(found.quotas[0].group, "/system.slice/job.service");
  EXPECT_EQ(found.quotas[0].file, "/sys/fs/cgroup/system.slice/job.service/cpu.max");
  EXPECT_TRUE(found.quotas[0].own);
  EXPECT_THAT(found.warnings, IsEmpty());
}

// Go #81180: the own group is unlimited, or has no cpu.max at all, and a visible ancestor is not.
TEST_F(limits_files, go_81180_tighter_ancestor) {
  put("/proc/self/cgroup", "0::/parent/leaf\n");
  put_v2_mount();
  put("/sys/fs/cgroup/parent/cpu.max", "200000 100000\n");
  put("/sys/fs/cgroup/parent/leaf/cpu.max", "max 100000\n");
  ASSERT_NE(read().tightest(), nullptr);
  EXPECT_DOUBLE_EQ(read().tightest()->processors, 2);
  EXPECT_FALSE(read().tightest()->own);
  EXPECT_EQ(read().tightest()->group, "/parent");
  fs::remove(root_ / "sys/fs/cgroup/parent/leaf/cpu.max");
  EXPECT_DOUBLE_EQ(read().tightest()->processors, 2);
  put("/sys/fs/cgroup/parent/leaf/cpu.max", "300000 100000\n");
  EXPECT_THAT(read().quotas, SizeIs(2));
  EXPECT_DOUBLE_EQ(read().tightest()->processors, 2);
  put("/sys/fs/cgroup/parent/leaf/cpu.max", "50000 100000\n");
  EXPECT_DOUBLE_EQ(read().tightest()->processors, 0.5);
  EXPECT_TRUE(read().tightest()->own);
}

// oneTBB #190: a container limited by version 1's quota.
TEST_F(limits_files, onetbb_190_version_1_container) {
  put("/proc/self/cgroup", "12:memory:/docker/abc\n4:cpu,cpuacct:/docker/abc\n1:name=systemd:/docker/abc\n");
  put_v1_mount("/docker/abc");
  put("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "800000\n");
  put("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "200000\n");
  const limits found = read();
  ASSERT_THAT(found.quotas, SizeIs(1));
  EXPECT_DOUBLE_EQ(found.quotas[0].processors, 4);
  EXPECT_EQ(found.quotas[0].group, "/docker/abc");
  EXPECT_TRUE(found.quotas[0].own);
}

TEST_F(limits_files, version_1_ancestors_count) {
  put("/proc/self/cgroup", "4:cpu,cpuacct:/kube/pod/box\n");
  put_v1_mount();
  const std::string base = "/sys/fs/cgroup/cpu,cpuacct";
  for (const std::string group : {"", "/kube", "/kube/pod", "/kube/pod/box"}) {
    put(base + group + "/cpu.cfs_quota_us", "-1\n");
    put(base + group + "/cpu.cfs_period_us", "100000\n");
  }
  EXPECT_THAT(read().quotas, IsEmpty());
  put(base + "/kube/pod/cpu.cfs_quota_us", "250000\n");
  ASSERT_NE(read().tightest(), nullptr);
  EXPECT_DOUBLE_EQ(read().tightest()->processors, 2.5);
  EXPECT_EQ(read().tightest()->group, "/kube/pod");
}

TEST_F(limits_files, a_controller_that_only_begins_with_cpu_is_another_one) {
  put("/proc/self/cgroup", "4:cpuset:/a\n5:cpuacct:/a\n");
  put_v1_mount("/", "rw,cpuset");
  put("/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "100000\n");
  put("/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us", "100000\n");
  EXPECT_THAT(read().quotas, IsEmpty());
}

// Both versions at once: the cpu controller is in version 1, the unified hierarchy has none; and the other way round.
TEST_F(limits_files, hybrid) {
  put("/proc/self/cgroup", "9:name=systemd:/\n4:memory:/x\n1:cpu:/a/b\n0::/u\n");
  put("/proc/self/mountinfo",
      "32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\n"
      "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n");
  put("/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "300000\n");
  put("/sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n");
  put("/sys/fs/cgroup/unified/u/cgroup.procs", "1\n");
  EXPECT_DOUBLE_EQ(read().tightest()->processors, 3);
  put("/sys/fs/cgroup/unified/u/cpu.max", "100000 100000\n");
  EXPECT_DOUBLE_EQ(read().tightest()->processors, 1);
  EXPECT_THAT(read().quotas, SizeIs(2));
  EXPECT_THAT(read().warnings, IsEmpty());
}

TEST_F(limits_files, namespace_root_is_the_containers_group) {
  put("/proc/self/cgroup", "0::/\n");
  put_v2_mount();
  put("/sys/fs/cgroup/cpu.max", "120000 60000\n");
  EXPECT_DOUBLE_EQ(read().tightest()->processors, 2);
  EXPECT_EQ(read().tightest()->group, "/");
}

// The namespace was entered without mounting anew: the mount begins two groups above its root, and their names below
// the mount point are not told. The group is found by its member.
TEST_F(limits_files, namespace_that_hides_the_names_of_ancestors) {
  put("/proc/self/cgroup", "0::/inner\n");
  put("/proc/self/stat", "4711 (some name) R 1 2 3\n");
  put_v2_mount("/../..");
  put("/sys/fs/cgroup/nomad/other/inner/cgroup.procs", "4710\n4712\n");
  put("/sys/fs/cgroup/nomad/other/cpu.max", "10000 100000\n");
  put("/sys/fs/cgroup/nomad/alloc/inner/cgroup.procs", "1\n4711\n");
  put("/sys/fs/cgroup/nomad/alloc/cpu.max", "150000 100000\n");
  put("/sys/fs/cgroup/nomad/cpu.max", "300000 100000\n");
  const limits found = read();
  ASSERT_THAT(found.quotas, SizeIs(2));
  EXPECT_DOUBLE_EQ(found.tightest()->processors, 1.5);
  EXPECT_EQ(found.tightest()->file, "/sys/fs/cgroup/nomad/alloc/cpu.max");
  EXPECT_THAT(found.warnings, IsEmpty());
}

TEST_F(limits_files, group_outside_of_the_mount_is_said_so) {
  put("/proc/self/cgroup", "0::/../elsewhere\n");
  put("/proc/self/stat", "7 (x) R\n");
  put_v2_mount();
  put("/sys/fs/cgroup/cpu.max", "100000 100000\n");
  EXPECT_THAT(read().quotas, IsEmpty());
  EXPECT_THAT(read().warnings, ElementsAre(HasSubstr("not below this mount")));
  // Unless the mount point's own list of processes says that it is there.
  put("/sys/fs/cgroup/cgroup.procs", "7\n");
  EXPECT_DOUBLE_EQ(read().tightest()->processors, 1);
  EXPECT_THAT(read().warnings, IsEmpty());
}

TEST_F(limits_files, group_that_is_gone_leaves_its_ancestors) {
  put("/proc/self/cgroup", "0::/a/b/c (deleted)\n");
  put_v2_mount();
  put("/sys/fs/cgroup/a/cpu.max", "100000 100000\n");
  EXPECT_DOUBLE_EQ(read().tightest()->processors, 1);
  EXPECT_THAT(read().warnings, IsEmpty());
}

TEST_F(limits_files, mount_points_with_blanks) {
  put("/proc/self/cgroup", "0::/a b\n");
  put_v2_mount("/", "/mnt/control\\040groups");
  put("/mnt/control groups/a b/cpu.max", "100000 50000\n");
  ASSERT_NE(read().tightest(), nullptr);
  EXPECT_DOUBLE_EQ(read().tightest()->processors, 2);
}

TEST_F(limits_files, a_hierarchy_mounted_twice_counts_once) {
  put("/proc/self/cgroup", "0::/a\n");
  put("/proc/self/mountinfo",
      "29 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup rw\n"
      "30 23 0:26 / /other rw - cgroup2 cgroup rw\n");
  put("/sys/fs/cgroup/a/cpu.max", "100000 100000\n");
  put("/other/a/cpu.max", "100000 100000\n");
  EXPECT_THAT(read().quotas, SizeIs(1));
}

TEST_F(limits_files, malformed_files_warn_and_limit_nothing) {
  put_v2_mount();
  put("/proc/self/cgroup", "0::/a\n");
  for (const std::string text : {"", "100000", "x 100000\n", "0 100000\n", "100000 0\n", "-5 100000\n", "1 2 3\n",
                                 "99999999999999999999 100000\n", "max\n"}) {
    put("/sys/fs/cgroup/a/cpu.max", text);
    const limits found = read();
    EXPECT_THAT(found.quotas, IsEmpty()) << text;
    EXPECT_THAT(found.warnings, ElementsAre(HasSubstr("/sys/fs/cgroup/a/cpu.max"))) << text;
  }
  // Correct files beside the broken one still count.
  put("/sys/fs/cgroup/cpu.max", "100000 100000\n");
  EXPECT_DOUBLE_EQ(read().tightest()->processors, 1);
}

TEST_F(limits_files, malformed_proc_files_warn) {
  put("/proc/self/cgroup", "rubbish\n0:\n0::relative\n\n0::/a\n");
  put("/proc/self/mountinfo", "rubbish\n\n1 2 3 4 5 6 - cgroup2\n29 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup rw\n");
  put("/sys/fs/cgroup/a/cpu.max", "100000 100000\n");
  const limits found = read();
  EXPECT_DOUBLE_EQ(found.tightest()->processors, 1);
  EXPECT_THAT(found.warnings, SizeIs(5));
}

TEST_F(limits_files, version_1_without_a_period_warns) {
  put("/proc/self/cgroup", "4:cpu:/\n");
  put_v1_mount();
  put("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "100000\n");
  EXPECT_THAT(read().quotas, IsEmpty());
  EXPECT_THAT(read().warnings, ElementsAre(HasSubstr("cpu.cfs_period_us")));
}

TEST(limits, mask_is_that_of_the_calling_thread) {
  const std::vector<int> before = affinity_mask();
  ASSERT_FALSE(before.empty());
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(before.back()), &one);
  if (before.back() >= CPU_SETSIZE || sched_setaffinity(0, sizeof one, &one) != 0)
    GTEST_SKIP() << "the mask cannot be changed here";
  EXPECT_THAT(affinity_mask(), ElementsAre(before.back()));
  EXPECT_THAT(read_limits().mask, ElementsAre(before.back()));
  cpu_set_t all;
  CPU_ZERO(&all);
  for (const int number : before) CPU_SET(static_cast<std::size_t>(number), &all);
  sched_setaffinity(0, sizeof all, &all);
  EXPECT_EQ(affinity_mask(), before);
}

TEST(limits, this_system_is_read_without_warnings) { EXPECT_THAT(read_limits().warnings, IsEmpty()); }

}  // namespace
}  // namespace limits_test
}  // namespace heddle::machine
