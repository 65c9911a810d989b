#include <cstdlib>
#include <nlohmann/json.hpp>

#include "machine/limits.hpp"
#include "machine/model.hpp"
#include "tests/cli/captured.hpp"

namespace heddle::cli {
namespace topo_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const std::string model = "synthetic:pack:2 l3:1(size=32768KiB) l2:2(size=1024KiB) core:1 pu:1";

nlohmann::json topo_json(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"topo", "--json"});
  const captured o = run_captured(arguments);
  EXPECT_EQ(o.status, 0) << o.err;
  return nlohmann::json::parse(o.out);
}

TEST(topo, draws_the_tree_of_a_model) {
  const captured o = run_captured({"topo", "--ascii", "--machine", model});
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_THAT(o.out, StartsWith(model + ": 4 processing units, 4 cores, 2 packages, 1 NUMA node\nmemory"));
  EXPECT_THAT(o.out, HasSubstr("\n|- l3 "));
  EXPECT_THAT(o.out, HasSubstr("\n|  `- l2 "));
  EXPECT_THAT(o.out, HasSubstr("\n   `- l2 "));
  EXPECT_THAT(o.out, HasSubstr("worker 3, unit 3 of core 3, package 1"));
  EXPECT_THAT(o.out, HasSubstr("workers: 4"));
  EXPECT_THAT(o.out, HasSubstr("policies: "));
  // A model is limited by nothing here.
  EXPECT_THAT(o.out, Not(HasSubstr("affinity mask")));
}

TEST(topo, unicode_only_where_the_locale_has_it) {
  const char* before = std::getenv("LC_ALL");
  const std::string saved = before != nullptr ? before : "";
  ::setenv("LC_ALL", "C.UTF-8", 1);
  EXPECT_THAT(run_captured({"topo", "--machine", model}).out, HasSubstr("├─ l3"));
  EXPECT_THAT(run_captured({"topo", "--ascii", "--machine", model}).out, Not(HasSubstr("├")));
  ::setenv("LC_ALL", "C", 1);
  EXPECT_THAT(run_captured({"topo", "--machine", model}).out, HasSubstr("|- l3"));
  if (before != nullptr) ::setenv("LC_ALL", saved.c_str(), 1);
  else ::unsetenv("LC_ALL");
}

TEST(topo, json_holds_the_tree_and_the_workers) {
  const nlohmann::json j = topo_json({"--machine", model});
  EXPECT_EQ(j.at("machine").at("units").size(), 4u);
  EXPECT_TRUE(j.at("tree").at("capacity").is_null());
  EXPECT_EQ(j.at("tree").at("children").at(1).at("kind"), "l3");
  EXPECT_EQ(j.at("tree").at("children").at(1).at("units"), nlohmann::json({2, 3}));
  EXPECT_EQ(j.at("tree").at("children").at(1).at("children").at(0).at("first_worker"), 2);
  EXPECT_EQ(j.at("workers").size(), 4u);
  EXPECT_EQ(j.at("workers").at(0).at("distances"), nlohmann::json({0, 1, 2, 2}));
  EXPECT_EQ(j.at("plan").at("workers"), 4);
  EXPECT_FALSE(j.at("policies").empty());
}

TEST(topo, workers_by_argument_and_by_variable) {
  EXPECT_EQ(topo_json({"--machine", model, "--workers", "2"}).at("workers").size(), 2u);
  ::setenv("HEDDLE_WORKERS", "3", 1);
  EXPECT_EQ(topo_json({"--machine", model}).at("workers").size(), 3u);
  EXPECT_EQ(topo_json({"--machine", model, "--workers", "9"}).at("workers").size(), 9u);
  const nlohmann::json whole = topo_json({"--machine", model, "--whole"});
  EXPECT_EQ(whole.at("tree").at("workers"), 4);
  EXPECT_EQ(whole.at("workers").size(), 3u);
  ::unsetenv("HEDDLE_WORKERS");
}

TEST(topo, this_machine_with_its_limits) {
  const nlohmann::json j = topo_json({});
  EXPECT_EQ(j.at("limits").at("mask").get<std::vector<int>>(), machine::affinity_mask());
  EXPECT_GE(j.at("workers").size(), 1u);
  const captured o = run_captured({"topo"});
  EXPECT_THAT(o.out, HasSubstr("affinity mask: "));
  EXPECT_THAT(o.out, HasSubstr("cgroup CPU quota"));
}

TEST(topo, draws_every_shipped_machine_with_its_figures) {
  const captured list = run_captured({"topo", "--list"});
  EXPECT_EQ(list.status, 0) << list.err;
  for (const std::string& name : machine::model::shipped()) {
    SCOPED_TRACE(name);
    EXPECT_THAT(list.out, HasSubstr(name + " "));
    const captured o = run_captured({"topo", "--ascii", "--machine", name});
    EXPECT_EQ(o.status, 0) << o.err;
    EXPECT_THAT(o.out, StartsWith(name + ": "));
    for (const char* part : {" ns", "\nmodel: ", "GHz", "\n  node 0", "channel", "\n  operations, ns: fork ",
                             "\n  source: ", "\n  by default: "}) {
      EXPECT_THAT(o.out, HasSubstr(part));
    }
  }
}

TEST(topo, shows_latencies_kinds_and_links_of_a_model) {
  const captured o = run_captured({"topo", "--ascii", "--machine", "opteron-8380-a-8-0-0-8"});
  EXPECT_THAT(o.out, HasSubstr("|- l3 6 MiB, 48-way, lines of 64 B, 22 ns, shared by 4 units"));
  EXPECT_THAT(o.out, HasSubstr("worker 0, unit 0 of core 0, package 0, kind 1 at speed 1.00"));
  EXPECT_THAT(o.out, HasSubstr("kind 0, 0.8 GHz: speed 0.32, units 8-15"));
  EXPECT_THAT(o.out, HasSubstr("0->3, 1->2, 2->1, 3->0: 80 ns more, 4 GB/s a direction"));
  EXPECT_THAT(o.out, HasSubstr("  l1: 1.2 ns; 64 KiB, 2-way"));
  EXPECT_THAT(run_captured({"topo", "--machine", "this"}).out, HasSubstr("\nmodel: "));
  EXPECT_THAT(run_captured({"topo"}).out, Not(HasSubstr("\nmodel: ")));
}

TEST(topo, json_holds_the_model) {
  const nlohmann::json m = topo_json({"--machine", "skylake-4x16"}).at("model");
  EXPECT_EQ(m.at("name"), "skylake-4x16");
  EXPECT_EQ(m.at("frequency"), 2.1);
  EXPECT_EQ(m.at("levels").size(), 3u);
  EXPECT_EQ(m.at("caches").size(), 64u + 64u + 4u);
  EXPECT_EQ(m.at("caches").back().at("units").size(), 16u);
  EXPECT_EQ(m.at("nodes").size(), 4u);
  EXPECT_EQ(m.at("links").size(), 12u);
  EXPECT_GT(m.at("costs").at("steal"), 0);
  EXPECT_FALSE(topo_json({}).contains("model"));
}

TEST(topo, writes_the_file_of_a_shipped_machine) {
  EXPECT_EQ(run_captured({"topo", "--file", "--machine", "grace-72"}).out, machine::model::shipped_text("grace-72"));
  expect_refused(run_captured({"topo", "--file", "--machine", "grace-73"}), {"'grace-73' is not shipped", "grace-72"});
}

TEST(topo, refuses_in_one_line) {
  expect_refused(run_captured({"topo", "--machine", "skylake-4x61"}), {"skylake-4x61", "did you mean skylake-4x16"});
  expect_refused(run_captured({"topo", "--machine", "/absent.xml"}), {"/absent.xml"});
  expect_refused(run_captured({"topo", "--machine", "synthetic:what:1"}), {"synthetic:what:1", "for example"});
  expect_refused(run_captured({"topo", "--workers", "x"}), {"--workers=x", "integer from 0 to 4096"});
  ::setenv("HEDDLE_BIND", "maybe", 1);
  expect_refused(run_captured({"topo"}), {"HEDDLE_BIND=maybe", "on, off or auto"});
  ::unsetenv("HEDDLE_BIND");
}

}  // namespace
}  // namespace topo_test
}  // namespace heddle::cli
