// Machine files: what they mean, and what is refused with file, line, key and a way out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <numeric>
#include <stdexcept>

#include "machine/model.hpp"
#include "machine/plan.hpp"

namespace heddle::machine {
namespace model_file_test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string hybrid = HEDDLE_SOURCE_DIR "/tests/machine/data/hybrid.xml";
const std::string tree_line =
    "tree = \"synthetic:pack:2 numa:1 l3:1(size=8MiB) l2:2(size=1MiB) l1d:1(size=32KiB) core:1 pu:1\"\n";

class model_file : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(::testing::TempDir()) /
              ("heddle_" + std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()));
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) {
    const std::string path = (folder_ / name).string();
    std::ofstream(path) << text;
    return path;
  }

  static std::string refusal(const std::string& name) {
    try {
      (void)model::from_name(name);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "accepted";
  }

  // The message for a file of the tree above and `text`, which begins in line 2.
  std::string refused(const std::string& text) { return refusal(write("m.toml", tree_line + text)); }

  std::filesystem::path folder_;
};

TEST_F(model_file, says_everything) {
  const model m = model::from_name(write("m.toml", tree_line + R"(
title = "two sockets"
sources = ["a data sheet"]
assumptions = ["memory.bandwidth: guessed"]
frequency = 2.5
overlap = 12
page_size = "64 KiB"
[cache.l1]
latency = 2
ways = 4
[cache.l2]
latency = 6.5
line = 128
ways = "full"
[cache.l3]
line = 128
latency = 20
size = "16 MiB"
[memory]
latency = 100
bandwidth = 50
channels = 3
[[node]]
numa = 1
latency = 300
bandwidth = 0
channels = 1
[links]
latency = 70
bandwidth = 10
[[link]]
from = 0
to = 1
both = false
latency = 90
[costs]
fork = 3
steal = 0
)"));
  EXPECT_EQ(m.name, "m");
  EXPECT_EQ(m.title, "two sockets");
  EXPECT_THAT(m.sources, ::testing::ElementsAre("a data sheet"));
  EXPECT_THAT(m.assumed, AllOf(Contains("costs.join"), Contains("memory.bandwidth: guessed"),
                               Not(Contains("costs.steal")), Not(Contains("frequency"))));
  EXPECT_EQ(m.frequency, 2.5);
  EXPECT_EQ(m.overlap, 12u);
  EXPECT_EQ(m.page_size, 65536u);
  ASSERT_EQ(m.caches.size(), 3u);
  EXPECT_EQ(m.caches[1].kind, group_kind::l2);
  EXPECT_EQ(m.caches[1].latency, 6.5);
  for (const cache_info& c : m.tree.caches()) {
    EXPECT_EQ(c.capacity, c.kind == group_kind::l3 ? 16u << 20 : c.kind == group_kind::l2 ? 1u << 20 : 32u << 10);
    EXPECT_EQ(c.line_size, c.kind == group_kind::l1 ? 64u : 128u);
    EXPECT_EQ(c.associativity, c.kind == group_kind::l1 ? 4 : c.kind == group_kind::l2 ? -1 : 16);
  }
  EXPECT_EQ(m.tree.view().group(1).capacity, 16u << 20);  // schedulers see the same sizes
  ASSERT_EQ(m.nodes.size(), 2u);
  EXPECT_EQ(m.nodes[0].latency, 100);
  EXPECT_EQ(m.nodes[0].channels, 3u);
  EXPECT_EQ(m.nodes[1].latency, 300);
  EXPECT_EQ(m.nodes[1].bandwidth, 0);
  ASSERT_EQ(m.links.size(), 2u);
  EXPECT_EQ(m.links[0].latency, 90);
  EXPECT_EQ(m.links[0].bandwidth, 10);
  EXPECT_EQ(m.links[1].from, 1);
  EXPECT_EQ(m.links[1].latency, 70);
  EXPECT_EQ(m.costs.fork, 3);
  EXPECT_EQ(m.costs.steal, 0);
  EXPECT_GT(m.costs.wake_latency, 0);
  EXPECT_EQ(m.tree.node_bytes(1), 1u << 30);
  EXPECT_EQ(m.tree.node_bytes(7), 0u);
}

TEST_F(model_file, kinds_of_core_reach_the_tree_and_the_plan) {
  const model m = model::from_name(write("m.toml", tree_line + R"(
[[core]]
name = "slow"
speed = 0.25
units = "0,2"
[[core]]
name = "fast"
)"));
  ASSERT_EQ(m.kinds.size(), 2u);
  EXPECT_EQ(m.kinds[0].name, "slow");
  EXPECT_EQ(m.tree.kinds_of_core(), 2u);
  EXPECT_EQ(m.tree.unit(0)->kind, 0u);
  EXPECT_EQ(m.tree.unit(1)->kind, 1u);
  EXPECT_DOUBLE_EQ(m.tree.unit(2)->speed, 0.25);
  EXPECT_DOUBLE_EQ(m.tree.view().root().speed, 2.5);
  EXPECT_DOUBLE_EQ(m.tree.view().group(1).speed, 1.25);
  base::option_values options;
  options.workers = 2;
  EXPECT_THAT(plan(m.tree, limits{}, options).units, ::testing::ElementsAre(1, 3));
  EXPECT_DOUBLE_EQ(m.tree.for_workers(std::vector<int>{0, 1}).view().root().speed, 1.25);
}

// Costs that the file does not give follow from latencies, and the model says so.
TEST_F(model_file, tells_what_the_caches_of_other_cores_cost) {
  const std::string tree = "tree = \"synthetic:pack:2 [numa] l3:1(size=1MiB) l2:2(size=256KiB) l1d:1 core:1 pu:1\"\n";
  const model own =
      model::from_name(write("own.toml", tree + "[cache.l3]\nlatency = 20\ntransfer = 50\nupgrade = 40\n"
                                                "[memory]\nlatency = 90\n[links]\nlatency = 60\n"
                                                "[[link]]\nfrom = 0\nto = 1\nboth = false\ntransfer = 100\n"));
  const cache_level& l3 = own.caches.back();
  EXPECT_EQ(l3.coherence.transfer, 50);
  EXPECT_EQ(l3.coherence.upgrade, 40);
  ASSERT_EQ(own.links.size(), 2u);
  EXPECT_EQ(own.links[0].coherence.transfer, 100);
  EXPECT_EQ(own.links[0].coherence.upgrade, 100);
  EXPECT_EQ(own.links[1].coherence.transfer, 150) << "the other node's memory";
  EXPECT_THAT(own.assumed,
              AllOf(Contains(HasSubstr("links.transfer: the latency of the other")),
                    Not(Contains(HasSubstr("cache.l3.transfer"))), Not(Contains(HasSubstr("cache.l2.transfer")))));
  const model derived = model::from_name(write("derived.toml", tree + "[cache.l3]\nlatency = 20\n"));
  EXPECT_EQ(derived.caches.back().coherence.transfer, 40);
  EXPECT_EQ(derived.caches.back().coherence.upgrade, 40);
  EXPECT_THAT(derived.assumed, Contains(HasSubstr("cache.l3.transfer: twice the latency")));
  EXPECT_THAT(refusal(write("wrong.toml", tree + "[cache.l3]\nlatency = 20\ntransfer = 15\n")),
              AllOf(HasSubstr("wrong.toml:4: cache.l3.transfer"), HasSubstr("is 15 ns, less than the 20 ns")));
}

TEST_F(model_file, tells_where_figures_are_from) {
  const std::string figures =
      "frequency = 2.5\n[cache.l3]\nlatency = 20\ntransfer = 50\n[costs]\nfork = 3\nsteal = 300\n[origin]\n"
      "frequency = \"cited: a data sheet\"\ncache.l3.latency = \"measured: here\"\n"
      "cache.l3.transfer = \"assumed 45 to 55.5: as elsewhere\"\ncosts.steal = \"assumed: guessed\"\n";
  const auto told = [](const model& m, const std::string& key) {
    for (const figure& f : m.figures) {
      if (f.key == key) return f;
    }
    return figure{.key = "", .why = ""};
  };
  using enum figure::origin;
  const model m = model::from_name(write("m.toml", tree_line + figures));
  EXPECT_EQ(told(m, "frequency").from, cited);
  EXPECT_EQ(told(m, "frequency").why, "a data sheet");
  EXPECT_EQ(told(m, "frequency").value, 2.5);
  EXPECT_EQ(told(m, "cache.l3.latency").from, measured);
  EXPECT_EQ(told(m, "cache.l3.transfer").from, assumed);
  EXPECT_EQ(told(m, "cache.l3.transfer").least, 45);
  EXPECT_EQ(told(m, "cache.l3.transfer").most, 55.5);
  EXPECT_EQ(told(m, "costs.steal").from, assumed);
  EXPECT_EQ(told(m, "costs.fork").from, untold) << "the default's origin is not that of another figure";
  EXPECT_EQ(told(m, "costs.join").from, assumed) << "by default";
  EXPECT_EQ(told(m, "cache.l3.upgrade").from, assumed) << "concluded";
  EXPECT_THAT(m.assumed,
              AllOf(Contains("cache.l3.transfer: as elsewhere; 45 to 55.5"), Contains("costs.steal: guessed")));
  const model over = model::from_name(write("over.toml", "base = \"m.toml\"\nfrequency = 3\n"));
  EXPECT_EQ(told(over, "frequency").from, untold);
  EXPECT_EQ(told(over, "cache.l3.latency").from, measured);
  EXPECT_THAT(refused("frequency = 2\n[origin]\nfrequency = \"heard\"\n"),
              AllOf(HasSubstr("m.toml:4: origin.frequency"), HasSubstr("expected \"measured: HOW\"")));
  EXPECT_THAT(refused("frequency = 2\n[origin]\nfrequency = \"assumed 3 to 4: why\"\n"),
              HasSubstr("2 does not lie between 3 and 4"));
  EXPECT_THAT(refused("[origin]\nfreqency = \"cited: why\"\n"),
              HasSubstr("origin.freqency: the file has no such figure"));
}

TEST_F(model_file, victim_caches_are_last) {
  EXPECT_TRUE(model::from_name(write("v.toml", tree_line + "[cache.l3]\nvictim = true\n")).caches.back().victim);
  EXPECT_THAT(refused("[cache.l2]\nvictim = true\n"),
              AllOf(HasSubstr("cache.l2.victim"), HasSubstr("is the last one")));
}

TEST_F(model_file, kinds_of_the_xml_stay_unless_the_file_has_its_own) {
  const model own = model::from_name(hybrid + "+" + write("none.toml", "frequency = 4\n"));
  EXPECT_EQ(own.kinds.size(), 2u);
  EXPECT_DOUBLE_EQ(own.kinds[0].speed, 0.75);
  const model other = model::from_name(hybrid + "+" + write("kinds.toml", "[[core]]\nname = \"all\"\n"));
  EXPECT_EQ(other.kinds.size(), 1u);
  EXPECT_DOUBLE_EQ(other.tree.view().root().speed, 8);
}

TEST_F(model_file, a_base_is_overridden_key_by_key) {
  write("base.toml", tree_line +
                         "title = \"base\"\nsources = [\"one\"]\nfrequency = 2\n[cache.l1]\nlatency = 1.25\nways = "
                         "2\n[[core]]\nspeed = 1\n");
  const model m =
      model::from_name(write("m.toml", "base = \"base.toml\"\nsources = [\"two\"]\n[cache.l1]\nways = 4\n"));
  EXPECT_EQ(m.name, "m");
  EXPECT_EQ(m.title, "");
  EXPECT_THAT(m.sources, ::testing::ElementsAre("one", "two"));
  EXPECT_EQ(m.frequency, 2);
  EXPECT_EQ(m.caches[0].latency, 1.25);
  EXPECT_EQ(m.tree.caches()[0].associativity, 4);
  const model shipped = model::from_name(write("s.toml", "base = \"skylake-4x16\"\nfrequency = 2.8\n"));
  EXPECT_EQ(shipped.tree.workers(), 64u);
  EXPECT_EQ(shipped.frequency, 2.8);
}

TEST_F(model_file, a_cache_of_the_base_may_be_absent) {
  write("base.toml", tree_line + "[cache.l3]\nlatency = 30\n");
  const model m = model::from_name(write("m.toml", "base = \"base.toml\"\ntree = \"synthetic:l2:2 core:1 pu:1\"\n"));
  EXPECT_EQ(m.caches.size(), 1u);
}

TEST_F(model_file, xml_is_completed_by_the_file_beside_it) {
  std::filesystem::copy_file(hybrid, folder_ / "box.xml");
  EXPECT_EQ(model::from_name((folder_ / "box.xml").string()).frequency, 3);
  write("box.toml", "tree = \"box.xml\"\nfrequency = 4.5\n");
  EXPECT_EQ(model::from_name((folder_ / "box.xml").string()).frequency, 4.5);
  const model m = model::from_name((folder_ / "box.toml").string());
  EXPECT_EQ(m.name, "box");
  EXPECT_EQ(m.tree.workers(), 8u);
  EXPECT_FALSE(m.tree.is_this_machine());
}

TEST_F(model_file, figures_behind_a_plus) {
  const std::string synthetic = "synthetic:l2:4(size=256KiB) core:1 pu:1";
  const model m = model::from_name(synthetic + "+" + write("f.toml", "frequency = 1.5\n"));
  EXPECT_EQ(m.frequency, 1.5);
  EXPECT_EQ(m.tree.workers(), 4u);
  // A shipped machine gives its figures and keeps its tree; caches that are not here do not matter.
  EXPECT_EQ(model::from_name(synthetic + "+opteron-8380-4x4").frequency, 2.5);
  const model figures = model::from_name("alderlake-8p8e+skylake-4x16");
  EXPECT_EQ(figures.caches.back().latency, model::from_name("skylake-4x16").caches.back().latency);
  EXPECT_EQ(figures.tree.caches().back().associativity,
            model::from_name("alderlake-8p8e").tree.caches().back().associativity);
  EXPECT_EQ(model::from_name("skylake-4x16+" + write("g.toml", "overlap = 1\n")).overlap, 1u);
  EXPECT_THAT(refusal(synthetic + "+" + write("t.toml", tree_line)),
              AllOf(HasSubstr("t.toml:1: tree:"), HasSubstr("has a tree already")));
  EXPECT_THAT(refusal(synthetic + "+this"), HasSubstr("no figures to add"));
  EXPECT_THAT(refusal("this+/absent.toml"), HasSubstr("/absent.toml"));
}

TEST_F(model_file, this_machine_with_defaults) {
  const model m = model::from_name("this");
  EXPECT_TRUE(m.tree.is_this_machine());
  EXPECT_EQ(m.tree.workers(), topology::here().workers());
  EXPECT_THAT(m.assumed, Contains("frequency"));
  EXPECT_EQ(model::from_name("").tree.workers(), m.tree.workers());
}

TEST_F(model_file, unknown_keys) {
  EXPECT_THAT(refused("frequncy = 2\n"),
              AllOf(HasSubstr("m.toml:2: frequncy: unknown key"), HasSubstr("did you mean frequency?")));
  EXPECT_THAT(refused("[cache.l1]\nlatncy = 2\n"),
              AllOf(HasSubstr("m.toml:3: cache.l1.latncy: unknown key"), HasSubstr("latency")));
  EXPECT_THAT(refused("[cache.l6]\nlatency = 2\n"), AllOf(HasSubstr("m.toml:2: cache.l6"), HasSubstr("l1")));
  EXPECT_THAT(refused("[cache.l4]\nlatency = 99\n"),
              AllOf(HasSubstr("m.toml:2: cache.l4"), HasSubstr("the tree has no such cache")));
  EXPECT_THAT(refused("[costs]\nsteals = 2\n"),
              AllOf(HasSubstr("m.toml:3: costs.steals"), HasSubstr("did you mean steal")));
  EXPECT_THAT(refused("[memory]\nsize = 2\n"),
              AllOf(HasSubstr("m.toml:3: memory.size"), HasSubstr("known here: latency")));
  EXPECT_THAT(refused("[[core]]\nfrequency = 2\n"), HasSubstr("m.toml:3: core.frequency: unknown key"));
  EXPECT_THAT(refused("[[link]]\nfrom = 0\nto = 1\nspeed = 1\n"), HasSubstr("m.toml:5: link.speed: unknown key"));
}

TEST_F(model_file, wrong_types) {
  EXPECT_THAT(refused("frequency = \"fast\"\n"),
              AllOf(HasSubstr("m.toml:2: frequency: is \"fast\""), HasSubstr("a number above 0")));
  EXPECT_THAT(refused("overlap = 2.5\n"), HasSubstr("m.toml:2: overlap: is 2.5; expected an integer from 1 to 1024"));
  EXPECT_THAT(refused("cache = 3\n"), AllOf(HasSubstr("m.toml:2: cache"), HasSubstr("[cache]")));
  EXPECT_THAT(refused("[cache]\nl1 = 3\n"), AllOf(HasSubstr("m.toml:3: cache.l1"), HasSubstr("[cache.l1]")));
  EXPECT_THAT(refused("[core]\nspeed = 1\n"), AllOf(HasSubstr("m.toml:2: core"), HasSubstr("[[core]]")));
  EXPECT_THAT(refused("sources = \"x\"\n"), HasSubstr("m.toml:2: sources: is \"x\"; expected a list of texts"));
  EXPECT_THAT(refused("page_size = \"4 pages\"\n"), AllOf(HasSubstr("m.toml:2: page_size"), HasSubstr("KiB")));
  EXPECT_THAT(refused("title = 3\n"), HasSubstr("m.toml:2: title: is 3; expected text"));
  EXPECT_THAT(refused("[[link]]\nfrom = 0\nto = 1\nboth = 1\n"),
              HasSubstr("m.toml:5: link.both: is 1; expected true or false"));
  EXPECT_THAT(refusal(write("m.toml", "tree = 4\n")), HasSubstr("m.toml:1: tree: expected"));
  EXPECT_THAT(refusal(write("m.toml", "tree = \"\n")), AllOf(HasSubstr("m.toml:1"), HasSubstr("not TOML")));
  EXPECT_THAT(refused("frequency = 2\nfrequency = 3\n"), AllOf(HasSubstr("m.toml:3"), HasSubstr("not TOML")));
}

TEST_F(model_file, impossible_numbers) {
  EXPECT_THAT(refused("frequency = 1e-12\n"),
              AllOf(HasSubstr("m.toml:2: frequency: is 1e-12"), HasSubstr("from 0.000001")));
  EXPECT_THAT(refused("[memory]\nlatency = 1e30\n"),
              AllOf(HasSubstr("m.toml:3: memory.latency: is 1e+30"), HasSubstr("to 1,000,000,000,000")));
  for (const char* value : {"0", "-1", "nan", "inf"}) {
    EXPECT_THAT(refused(std::string("frequency = ") + value + "\n"), HasSubstr("m.toml:2: frequency: is ")) << value;
    EXPECT_THAT(refused(std::string("[cache.l2]\nlatency = ") + value + "\n"),
                HasSubstr("m.toml:3: cache.l2.latency: is "))
        << value;
    EXPECT_THAT(refused(std::string("[[core]]\nspeed = ") + value + "\n"), HasSubstr("m.toml:3: core.speed: is "))
        << value;
  }
  EXPECT_THAT(refused("frequency = 2600\n"), HasSubstr("give GHz, not MHz"));
  EXPECT_THAT(refused("overlap = 0\n"), HasSubstr("overlap: is 0"));
  EXPECT_THAT(refused("page_size = 5000\n"), HasSubstr("m.toml:2: page_size: expected a power of two"));
  EXPECT_THAT(refused("[costs]\nsteal = -1\n"),
              HasSubstr("m.toml:3: costs.steal: is -1; expected a number, 0 or above"));
  EXPECT_THAT(refused("[costs]\nkernel_switch = -1\n"),
              HasSubstr("m.toml:3: costs.kernel_switch: is -1; expected a number, 0 or above"));
  EXPECT_THAT(refused("[costs]\nsignals = 1\n"), AllOf(HasSubstr("costs.signals"), HasSubstr("did you mean signal")));
  EXPECT_THAT(refused("[costs]\nsignal = 5\nsignal_lock = 6\n"),
              HasSubstr("m.toml:4: costs.signal_lock: is 6 ns, more than the 5 ns of costs.signal"));
  EXPECT_THAT(refused("time_slice = 0\n"), HasSubstr("time_slice"));
  EXPECT_THAT(refused("[memory]\nchannels = 0\n"), HasSubstr("m.toml:3: memory.channels"));
  EXPECT_THAT(refused("[memory]\nbandwidth = -3\n"), HasSubstr("m.toml:3: memory.bandwidth"));
  EXPECT_THAT(refused("[links]\nlatency = nan\n"), HasSubstr("m.toml:3: links.latency"));
}

TEST_F(model_file, impossible_caches) {
  EXPECT_THAT(refused("[cache.l1]\nways = 7\n"), AllOf(HasSubstr("m.toml:3: cache.l1.ways"), HasSubstr("512 lines")));
  EXPECT_THAT(refused("[cache.l1]\nways = \"some\"\n"),
              AllOf(HasSubstr("m.toml:3: cache.l1.ways"), HasSubstr("\"full\"")));
  EXPECT_THAT(refused("[cache.l1]\nline = 48\n"),
              AllOf(HasSubstr("m.toml:3: cache.l1.line"), HasSubstr("power of two")));
  EXPECT_THAT(refused("[cache.l1]\nlatency = 5\n[cache.l2]\nlatency = 4\n"),
              AllOf(HasSubstr("m.toml:5: cache.l2.latency"), HasSubstr("less than the 5 ns of l1")));
  EXPECT_THAT(refused("[cache.l3]\nlatency = 95\n"),
              AllOf(HasSubstr("memory.latency"), HasSubstr("by default"), HasSubstr("less than the 95 ns of l3")));
  EXPECT_THAT(refused("[memory]\nlatency = 3\n"), HasSubstr("m.toml:3: memory.latency: is 3 ns, less than"));
  EXPECT_THAT(refused("[cache.l3]\nsize = \"512 KiB\"\n"),
              AllOf(HasSubstr("m.toml:3: cache.l3.size"), HasSubstr("less than the 1048576 of l2 inside it")));
  EXPECT_THAT(
      refused("[cache.l2]\nline = 128\n"),
      AllOf(HasSubstr("m.toml:3: cache.l2.line"), HasSubstr("l3 has lines of 64 bytes, shorter than the 128 of l2")));
  EXPECT_THAT(refused("[cache.l3]\nline = 32\n"),
              AllOf(HasSubstr("m.toml:3: cache.l3.line"), HasSubstr("shorter than the 64 of l1")));
  EXPECT_THAT(refusal(write("m.toml", "tree = \"synthetic:l3:1(size=64KiB) l2:2(size=1MiB) pu:1\"\n")),
              AllOf(HasSubstr("m.toml:1: tree: l3 has 65536 bytes")));
}

TEST_F(model_file, impossible_cores) {
  EXPECT_THAT(refused("[[core]]\nspeed = 1.5\n"),
              HasSubstr("m.toml:3: core.speed: is 1.5; speeds are relative to the fastest kind"));
  EXPECT_THAT(refused("[[core]]\nspeed = 0.5\n"), HasSubstr("the fastest kind has speed 0.5; divide all speeds by it"));
  EXPECT_THAT(refused("[[core]]\nunits = \"0-9\"\n"),
              HasSubstr("m.toml:3: core.units: \"0-9\": the machine has no unit 4"));
  EXPECT_THAT(refused("[[core]]\nunits = \"0-\"\n"), HasSubstr("m.toml:3: core.units: \"0-\": expected a list like"));
  EXPECT_THAT(refused("[[core]]\nunits = \"0-1\"\n"), HasSubstr("unit 2 belongs to no kind"));
  EXPECT_THAT(refused("[[core]]\nunits = \"0-3\"\n[[core]]\nunits = \"3\"\n"),
              HasSubstr("m.toml:4: core.units: unit 3 belongs to two kinds"));
  EXPECT_THAT(refused("[[core]]\n[[core]]\n"), HasSubstr("m.toml:3: core.units: only one kind can be without"));
}

TEST_F(model_file, impossible_nodes_and_links) {
  EXPECT_THAT(refused("[[node]]\nnuma = 5\n"),
              HasSubstr("m.toml:3: node.numa: there is no node 5; the nodes are 0, 1"));
  EXPECT_THAT(refused("[[node]]\nlatency = 5\n"), HasSubstr("m.toml:2: node.numa: is missing"));
  EXPECT_THAT(refused("[[node]]\nnuma = 0\n[[node]]\nnuma = 0\n"),
              HasSubstr("m.toml:4: node.numa: node 0 is described twice"));
  EXPECT_THAT(refused("[[link]]\nfrom = 0\nto = 2\n"), HasSubstr("m.toml:4: link.to: there is no node 2"));
  EXPECT_THAT(refused("[[link]]\nfrom = 1\nto = 1\n"), HasSubstr("from node 1 to itself"));
  EXPECT_THAT(refused("[[link]]\nfrom = 0\nto = 1\n[[link]]\nfrom = 1\nto = 0\n"),
              HasSubstr("m.toml:5: link: the link from node 1 to node 0 is described twice"));
}

TEST_F(model_file, assumptions_name_keys) {
  EXPECT_THAT(refused("assumptions = [\"guessed\"]\n"),
              AllOf(HasSubstr("m.toml:2: assumptions"), HasSubstr("KEY: REASON")));
  EXPECT_THAT(refused("assumptions = [\n\"cache.l1: ok\",\n\"cache.l9: why\"]\n"),
              HasSubstr("m.toml:4: assumptions: \"cache.l9: why\""));
}

TEST_F(model_file, bases_that_do_not_end) {
  write("a.toml", "base = \"b.toml\"\n");
  write("b.toml", "base = \"c.toml\"\n");
  write("c.toml", "\nbase = \"a.toml\"\n");
  EXPECT_THAT(refusal((folder_ / "a.toml").string()),
              AllOf(HasSubstr("c.toml:2: base: files include each other in a circle"), HasSubstr("b.toml -> ")));
  EXPECT_THAT(refusal(write("self.toml", "base = \"../" + folder_.filename().string() + "/self.toml\"\n")),
              HasSubstr("self.toml:1: base: files include each other"));
  EXPECT_THAT(refusal(write("lost.toml", "base = \"skylake-4x15\"\n")),
              AllOf(HasSubstr("lost.toml:1: base"), HasSubstr("did you mean skylake-4x16")));
  EXPECT_THAT(refusal(write("kind.toml", "base = 3\n")), HasSubstr("kind.toml:1: base: expected"));
}

TEST_F(model_file, names_that_are_nothing) {
  EXPECT_THAT(refusal("skylake-4x61"),
              AllOf(HasSubstr("machine 'skylake-4x61'"), HasSubstr("did you mean skylake-4x16")));
  EXPECT_THAT(refusal("/absent/machine.xml"), AllOf(HasSubstr("/absent/machine.xml"), HasSubstr("synthetic:")));
  EXPECT_THAT(refusal("defaults"), HasSubstr("no shipped machine"));
  EXPECT_THAT(refusal(folder_.string()), HasSubstr("no file that can be read"));
  EXPECT_THAT(refusal(write("m.toml", "frequency = 2\n")),
              AllOf(HasSubstr("m.toml:1: tree: is missing"), HasSubstr("MACHINE+FILE")));
  EXPECT_THAT(refusal(write("m.toml", "tree = \"absent.xml\"\n")),
              AllOf(HasSubstr("m.toml:1: tree"), HasSubstr("absent.xml")));
  EXPECT_THAT(refusal(write("m.toml", "tree = \"synthetic:what:1\"\n")),
              AllOf(HasSubstr("m.toml:1: tree"), HasSubstr("for example")));
  EXPECT_THAT(refusal(write("m.xml", "<html/>\n")), HasSubstr("not a file written by lstopo"));
  EXPECT_THAT(refusal(""), "accepted");
}

}  // namespace
}  // namespace model_file_test
}  // namespace heddle::machine
