// Reading environment variables: good and bad values of each, what follows from them, and what is printed.
#include "omp/core/settings/environment.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>

namespace environment_test {
namespace {

using namespace heddle::omp;
using testing::ElementsAre;
using testing::HasSubstr;

environment_values read(std::vector<std::string> lines, std::vector<std::string>* complaints = nullptr) {
  std::vector<const char*> texts;
  for (const std::string& line : lines) texts.push_back(line.c_str());
  return values_from(texts, complaints);
}

// Two packages of four cores with two units each; a cache for two cores, a node a package.
machine_units sixteen() {
  machine_units units;
  for (int i = 0; i < 16; ++i) {
    const auto u = static_cast<unsigned>(i);
    units.push_back({i, u / 2, u / 8, u / 4, i / 8});
  }
  return units;
}

environment environment_with(std::vector<std::string> lines, std::vector<std::string>* complaints = nullptr) {
  return environment_from(read(std::move(lines)), sixteen(), 12, complaints);
}

struct sample {
  const char* name;
  std::vector<std::pair<const char*, const char*>> good;  // as given, as written
  std::vector<const char*> bad;
};

const std::vector<std::pair<const char*, const char*>> booleans = {
    {"true", "TRUE"}, {"FALSE", "FALSE"}, {" 1 ", "TRUE"}, {"off", "FALSE"}, {"Yes", "TRUE"}};
const std::vector<const char*> no_booleans = {"tru", "2", "true false", "-"};
const std::vector<std::pair<const char*, const char*>> positives = {{"1", "1"}, {" 77 ", "77"}, {"+4", "4"}};
const std::vector<const char*> no_positives = {"0", "-1", "x", "3x", "99999999999", "1,2", "1.5"};
const std::vector<std::pair<const char*, const char*>> wholes = {{"0", "0"}, {"12", "12"}};
const std::vector<const char*> no_wholes = {"-1", "many", "1 2"};
const std::vector<std::pair<const char*, const char*>> sizes_in_k = {{"4096", "4M"}, {"1M", "1M"},     {"64 k", "64K"},
                                                                     {"2G", "2G"},   {"100B", "100B"}, {"8MB", "8M"}};
const std::vector<const char*> no_sizes = {"0", "-4", "4X", "M", "4M4", "99999999999999999999", "99999999T"};

const std::vector<sample> samples = {
    {"KMP_WARNINGS", booleans, no_booleans},
    {"OMP_AFFINITY_FORMAT", {{"%n of %N", "%n of %N"}}, {}},
    {"OMP_ALLOCATOR",
     {{"omp_const_mem_alloc", "omp_const_mem_alloc"}, {"OMP_DEFAULT_MEM_ALLOC", "omp_default_mem_alloc"}},
     {"omp_null_allocator", "malloc", "3", "omp_default_mem_space:alignment=3", "omp_default_mem_space:speed=1"}},
    {"OMP_CANCELLATION", booleans, no_booleans},
    {"OMP_DEFAULT_DEVICE", wholes, no_wholes},
    {"OMP_DISPLAY_AFFINITY", booleans, no_booleans},
    {"OMP_DISPLAY_ENV", {{"true", "true"}, {"VERBOSE", "verbose"}, {"0", "false"}}, {"loud", "2"}},
    {"OMP_DYNAMIC", booleans, no_booleans},
    {"OMP_NESTED", booleans, no_booleans},
    {"KMP_MAX_ACTIVE_LEVELS", wholes, no_wholes},
    {"OMP_MAX_ACTIVE_LEVELS", wholes, no_wholes},
    {"OMP_MAX_TASK_PRIORITY", wholes, no_wholes},
    {"OMP_NUM_TEAMS", positives, no_positives},
    {"OMP_NUM_THREADS",
     {{"4", "4"}, {"4,2", "4,2"}, {" 8 , 4 , 1 ", "8,4,1"}},
     {"0", "-3", "4,", ",4", "4,0", "four", "4 2", "4;2"}},
    {"OMP_PLACES",
     {{"threads", "threads"},
      {"Cores(3)", "cores(3)"},
      {"sockets", "sockets"},
      {"ll_caches", "ll_caches"},
      {"numa_domains(1)", "numa_domains(1)"},
      {"{0,1},{2,3}", "{0,1},{2,3}"}},
     {"core", "cores(0)", "cores(", "cores(2)x", "{}", "{0", "0}", "{0},", "{0:0}", "{-1}", "{0:2:x}", "{0:999999999}",
      "{0:4}:100000", "{0,1}:2:-1"}},
    {"OMP_PROC_BIND",
     {{"true", "true"}, {"close", "close"}, {"MASTER", "primary"}, {"spread, close", "spread,close"}},
     {"yes", "near", "true,close", "close,", "1"}},
    {"OMP_SCHEDULE",
     {{"static", "static"},
      {"STATIC,4", "static,4"},
      {"dynamic", "dynamic"},
      {"dynamic , 7", "dynamic,7"},
      {"guided,2", "guided,2"},
      {"auto", "auto"},
      {"monotonic:dynamic,3", "monotonic:dynamic,3"},
      {"nonmonotonic:guided", "guided"},
      {"trapezoidal,13", "trapezoidal,13"},
      {"static_steal,2", "dynamic,2"}},
     {"fast", "static,0", "static,-1", "dynamic,x", "static,1,2", "ordered:static", ",3"}},
    {"GOMP_STACKSIZE", sizes_in_k, no_sizes},
    {"OMP_STACKSIZE", sizes_in_k, no_sizes},
    {"KMP_STACKSIZE", {{"4096", "4K"}, {"1M", "1M"}, {"2g", "2G"}}, no_sizes},
    {"OMP_TARGET_OFFLOAD", {{"MANDATORY", "mandatory"}, {"default", "default"}, {"disabled", "disabled"}}, {"gpu"}},
    {"OMP_TEAMS_THREAD_LIMIT", positives, no_positives},
    {"KMP_TEAMS_THREAD_LIMIT", positives, no_positives},
    {"KMP_ALL_THREADS", positives, no_positives},
    {"KMP_MAX_THREADS", positives, no_positives},
    {"KMP_DEVICE_THREAD_LIMIT", positives, no_positives},
    {"OMP_THREAD_LIMIT", positives, no_positives},
    {"OMP_TOOL", {{"enabled", "enabled"}, {"Disabled", "disabled"}}, {"true", "on"}},
    {"OMP_TOOL_LIBRARIES", {{"a.so:b.so", "a.so:b.so"}}, {}},
    {"OMP_TOOL_VERBOSE_INIT", {{"stdout", "stdout"}}, {}},
    {"OMP_WAIT_POLICY", {{"ACTIVE", "active"}, {"passive", "passive"}}, {"lazy", "1"}},
    {"GOMP_CPU_AFFINITY", {{"0 3 1-2 4-15:2", ""}, {"0,1", ""}}, {"a", "3-1", "0-4:0", "-1"}},
    {"KMP_AFFINITY",
     {{"compact", ""},
      {"granularity=fine,scatter", ""},
      {"verbose,granularity=core,compact,1,0", ""},
      {"granularity=fine,proclist=[0,2-4,{5,6}],explicit", ""},
      {"none", ""}},
     {"fast", "granularity=tiny,compact", "explicit", "compact,scatter", "proclist=[0,explicit"}},
    {"GOMP_SPINCOUNT", {{"1000", "1000"}, {"3 k", "3000"}, {"infinite", "infinite"}}, {"-1", "x", "3q"}},
    {"KMP_ENABLE_TASK_THROTTLING", {{"1", "TRUE"}, {"false", "FALSE"}}, {"some"}},
    {"KMP_TEAMS_PROC_BIND", {{"close", "close"}, {"Master", "primary"}}, {"true", "near", "close,spread"}},
    {"KMP_HW_SUBSET",
     {{"1s,2c,1t", "1s,2c,1t"}, {"1T, 4 cores @2", "4c@2,1t"}, {"*c,1t", "*c,1t"}, {":1s,2t@1", ":1s,2t@1"}},
     {"0c", "2x", "1c,2c", "c@", "1c@x", "4", ","}},
    {"KMP_BLOCKTIME",
     {{"200", "200ms"},
      {"0", "0ms"},
      {"5us", "5us"},
      {"2s", "2000ms"},
      {"infinite", "infinite"},
      {"2147483647", "infinite"}},
     {"-1", "soon", "3h"}},
    {"KMP_DISP_NUM_BUFFERS", {{"1", "1"}, {" 4096", "4096"}}, {"0", "4097", "-1", "few"}},
    {"KMP_DYNAMIC_MODE", {{"load_balance", "load_balance"}}, {}},
    {"KMP_LIBRARY", {{"serial", "serial"}, {"TURNAROUND", "turnaround"}, {"throughput", "throughput"}}, {"fast"}},
    {"KMP_SETTINGS", booleans, no_booleans},
    {"HEDDLE_OMP_PREEMPT", {{"auto", "auto"}, {"on", "on"}, {"OFF", "off"}}, {"1", "always"}},
    {"HEDDLE_OMP_VICTIM", {{"random", "random"}, {"History", "history"}, {"hybrid", "hybrid"}}, {"1", "none"}},
    {"OMP_GANG_SCHED", {{"1", "TRUE"}, {"true", "TRUE"}, {"0", "FALSE"}}, {"gang", "2"}},
    {"HEDDLE_OMP_TEAMS", {{"auto", "auto"}, {"gang", "gang"}, {"Stealing", "stealing"}}, {"1", "gangs"}},
};

const variable& variable_named(std::string_view name) {
  for (const variable& v : variables()) {
    if (v.name == name) return v;
  }
  throw std::invalid_argument("no variable " + std::string(name));
}

TEST(Environment, EveryVariableHasSamples) {
  std::set<std::string> with;
  for (const sample& s : samples) with.insert(s.name);
  for (const variable& v : variables()) {
    EXPECT_TRUE(v.is_ignored || with.contains(v.name)) << v.name;
  }
}

TEST(Environment, GoodValuesAreRead) {
  for (const sample& s : samples) {
    for (const auto& [given, written] : s.good) {
      std::vector<std::string> complaints;
      const environment_values values = read({std::string(s.name) + '=' + given}, &complaints);
      EXPECT_THAT(complaints, ElementsAre()) << s.name;
      EXPECT_EQ(variable_named(s.name).write(values), written) << s.name << '=' << given;
    }
  }
}

TEST(Environment, WhatIsWrittenIsReadAgain) {
  for (const sample& s : samples) {
    for (const auto& [given, written] : s.good) {
      if (*written == '\0') continue;
      const environment_values once = read({std::string(s.name) + '=' + given});
      EXPECT_EQ(read({std::string(s.name) + '=' + written}), once) << s.name << '=' << given;
    }
  }
}

TEST(Environment, BadValuesLeaveTheDefaultAndAreSaidOnce) {
  for (const sample& s : samples) {
    for (const char* const given : s.bad) {
      std::vector<std::string> complaints;
      const environment_values values = read({std::string(s.name) + '=' + given}, &complaints);
      if (s.name != std::string_view("OMP_PLACES")) {
        EXPECT_EQ(values, environment_values()) << s.name << '=' << given;
      }
      ASSERT_EQ(complaints.size(), 1u) << s.name << '=' << given;
      EXPECT_THAT(complaints[0], HasSubstr(std::string(s.name) + '=' + given + ": expected "));
      EXPECT_THAT(complaints[0], HasSubstr(variable_named(s.name).values));
    }
  }
}

TEST(Environment, SaysOfNumbersWhetherTheyAreTooSmallOrTooLarge) {
  const std::string_view expected[][2] = {{"KMP_DISP_NUM_BUFFERS=0", ", this is too small; taken as 8"},
                                          {"KMP_DISP_NUM_BUFFERS=4097", ", this is too large; taken as 8"},
                                          {"KMP_DISP_NUM_BUFFERS=many", "4096; taken as 8"},
                                          {"OMP_THREAD_LIMIT= -3 ", ", this is too small; "},
                                          {"OMP_MAX_TASK_PRIORITY=99999999999", ", this is too large; "}};
  for (const auto& [given, said] : expected) {
    std::vector<std::string> complaints;
    read({given.data()}, &complaints);
    ASSERT_EQ(complaints.size(), 1u) << given;
    EXPECT_THAT(complaints[0], HasSubstr(std::string(said))) << given;
  }
}

TEST(Environment, PlacesThatCannotBeReadAreThoseOfTheirFirstWordOrCores) {
  const std::string_view expected[][2] = {
      {"threads()", "threads"}, {"Sockets(", "sockets"}, {"core", "cores"}, {"{0,1", "cores"}, {"invalid", "cores"}};
  for (const auto& [given, taken] : expected) {
    std::vector<std::string> complaints;
    const environment_values values = read({"OMP_PLACES=" + std::string(given)}, &complaints);
    EXPECT_EQ(variable_named("OMP_PLACES").write(values), taken) << given;
    ASSERT_EQ(complaints.size(), 1u) << given;
    EXPECT_THAT(complaints[0], HasSubstr("; taken as " + std::string(taken)));
  }
}

TEST(Environment, EmptyValuesCountAsUnset) {
  for (const variable& v : variables()) {
    std::vector<std::string> complaints;
    EXPECT_EQ(read({std::string(v.name) + "=", std::string(v.name) + "=  "}, &complaints), environment_values());
    EXPECT_THAT(complaints, ElementsAre()) << v.name;
  }
}

TEST(Environment, VariablesOfOtherRuntimesAreAccepted) {
  std::vector<std::string> complaints;
  for (const variable& v : variables()) {
    if (v.is_ignored) read({std::string(v.name) + "=anything"}, &complaints);
  }
  EXPECT_THAT(complaints, ElementsAre());
}

TEST(Environment, WithoutVariablesARegionHasAsManyThreadsAsThereAreWorkers) {
  const environment e = environment_with({});
  EXPECT_EQ(e.initial.threads, 12);
  EXPECT_EQ(e.processors, 16);
  EXPECT_EQ(e.initial.max_active_levels, 1);
  EXPECT_EQ(e.initial.thread_limit, std::numeric_limits<int>::max());
  EXPECT_EQ(e.initial.bind, bind_kind::no);
  EXPECT_TRUE(e.all_places.empty());
  EXPECT_FALSE(e.spin_is_said);
}

TEST(Environment, ListsAllowNestedRegions) {
  EXPECT_EQ(environment_with({"OMP_NUM_THREADS=4"}).initial.max_active_levels, 1);
  EXPECT_GT(environment_with({"OMP_NUM_THREADS=4,2"}).initial.max_active_levels, 1);
  EXPECT_GT(environment_with({"OMP_PROC_BIND=spread,close"}).initial.max_active_levels, 1);
  EXPECT_GT(environment_with({"OMP_NESTED=true"}).initial.max_active_levels, 1);
  EXPECT_EQ(environment_with({"OMP_NESTED=true", "OMP_MAX_ACTIVE_LEVELS=3"}).initial.max_active_levels, 3);
  EXPECT_EQ(environment_with({"OMP_NUM_THREADS=4,2", "OMP_NESTED=false"}).initial.max_active_levels, 1);
}

// omp_get_max_threads returns nthreads-var, which the limit does not change: OpenMP 5.1, section 3.2.3.
TEST(Environment, TheLimitLeavesTheNumberOfThreadsThatRegionsAskFor) {
  const environment standard = environment_with({"OMP_THREAD_LIMIT=5"});
  EXPECT_EQ(standard.initial.thread_limit, 5);
  EXPECT_EQ(standard.initial.threads, 12);
  EXPECT_EQ(environment_with({"OMP_THREAD_LIMIT=5", "OMP_NUM_THREADS=7"}).initial.threads, 7);
}

TEST(Environment, MoreSpecialVariablesCountBeforeOthers) {
  EXPECT_EQ(environment_with({"GOMP_STACKSIZE=1M", "OMP_STACKSIZE=2M"}).stack_size, std::size_t{2} << 20);
  EXPECT_EQ(environment_with({"KMP_STACKSIZE=3M", "OMP_STACKSIZE=2M"}).stack_size, std::size_t{3} << 20);
  EXPECT_EQ(environment_with({"OMP_PLACES=threads", "GOMP_CPU_AFFINITY=0"}).all_places.size(), 16u);
}

TEST(Environment, HowLongThreadsSpin) {
  EXPECT_EQ(environment_with({"OMP_WAIT_POLICY=passive"}).spin, 0);
  EXPECT_EQ(environment_with({"OMP_WAIT_POLICY=active"}).spin, unlimited_spin);
  EXPECT_EQ(environment_with({"KMP_LIBRARY=turnaround"}).spin, unlimited_spin);
  EXPECT_EQ(environment_with({"OMP_WAIT_POLICY=active", "KMP_BLOCKTIME=3"}).spin, 3'000'000);
  EXPECT_EQ(environment_with({"GOMP_SPINCOUNT=infinite"}).spin, unlimited_spin);
  EXPECT_GT(environment_with({"GOMP_SPINCOUNT=1000"}).spin, 0);
  EXPECT_EQ(environment_with({"KMP_LIBRARY=serial"}).initial.threads, 1);
}

TEST(Environment, BindingFollowsFromPlacesAndTheOtherWayRound) {
  EXPECT_EQ(environment_with({"OMP_PLACES=cores"}).initial.bind, bind_kind::yes);
  EXPECT_EQ(environment_with({"OMP_PROC_BIND=close"}).all_places.size(), 8u);
  EXPECT_EQ(environment_with({"OMP_PLACES=cores", "OMP_PROC_BIND=false"}).initial.bind, bind_kind::no);
  EXPECT_EQ(environment_with({"KMP_AFFINITY=scatter,granularity=fine"}).initial.bind, bind_kind::spread);
  EXPECT_EQ(environment_with({"KMP_AFFINITY=none"}).initial.bind, bind_kind::no);
  EXPECT_TRUE(environment_with({"KMP_AFFINITY=verbose,compact"}).display_affinity);
}

TEST(Environment, RegionsInsideTakeTheNextElements) {
  // The lists are the process's; this is about those that it has not.
  control_variables outer;
  outer.threads = 7;
  outer.dynamic = true;
  outer.run_schedule = {schedule_kind::of_guided, true, 3};
  const control_variables inner = inherited(outer, 0, 1, -1);
  EXPECT_EQ(inner, outer);
}

TEST(Environment, BothFormsOfDisplay) {
  const environment e = environment_with({"OMP_NUM_THREADS=3,2", "OMP_SCHEDULE=dynamic,5"});
  const std::string standard = environment_text(e, false);
  EXPECT_THAT(standard, HasSubstr("\nOPENMP DISPLAY ENVIRONMENT BEGIN\n"));
  EXPECT_THAT(standard, HasSubstr("_OPENMP = '"));
  EXPECT_THAT(standard, HasSubstr("  [host] OMP_NUM_THREADS = '3,2'\n"));
  EXPECT_THAT(standard, HasSubstr("  [host] OMP_SCHEDULE = 'dynamic,5'\n"));
  EXPECT_THAT(standard, HasSubstr("\nOPENMP DISPLAY ENVIRONMENT END\n"));
  EXPECT_THAT(standard, testing::Not(HasSubstr("KMP_")));
  const std::string all = environment_text(e, true);
  EXPECT_THAT(all, HasSubstr("[host] KMP_BLOCKTIME"));
  EXPECT_THAT(all, HasSubstr("[host] HEDDLE_OMP_PREEMPT = 'auto'"));
  for (const variable& v : variables()) {
    if (!std::string_view(v.name).starts_with("OMP_")) continue;
    EXPECT_THAT(standard, HasSubstr(std::string("[host] ") + v.name + " = '"));
  }
}

TEST(Environment, Settings) {
  const std::string text = settings_text(environment_with({"OMP_PLACES=sockets(", "KMP_BLOCKTIME=3"}));
  EXPECT_THAT(text, testing::StartsWith("\nEffective settings:\n"));
  EXPECT_THAT(text, HasSubstr("\n  OMP_PLACES='sockets'\n"));
  EXPECT_THAT(text, HasSubstr("\n  KMP_BLOCKTIME='3ms'\n"));
  EXPECT_THAT(text, HasSubstr("\n  OMP_NUM_THREADS='12'\n"));
}

TEST(Environment, TheGuidesTableIsThisTable) {
  std::ifstream file(HEDDLE_SOURCE_DIR "/docs/guide/openmp_variables.md");
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_THAT(text.str(), HasSubstr(environment_markdown())) << "the table is:\n" << environment_markdown();
}

}  // namespace
}  // namespace environment_test
