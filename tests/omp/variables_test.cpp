// Control variables in nested regions: lists for each level, what a task sets for itself and its regions, ancestors,
// schedules, texts of affinity, and the Fortran names.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "omp/api/api.hpp"
#include "omp/core/settings/affinity_format.hpp"
#include "omp/core/settings/environment.hpp"
#include "omp/core/teams/team.hpp"
#include "omp/core/teams/thread.hpp"

namespace variables_test {
namespace {

// Before anything reads the environment.
[[maybe_unused]] const bool is_set = [] {
  setenv("OMP_NUM_THREADS", "3,2,5", 1);
  setenv("OMP_SCHEDULE", "guided,4", 1);
  setenv("OMP_MAX_TASK_PRIORITY", "7", 1);
  setenv("OMP_PLACES", "{0}:1", 1);
  setenv("OMP_PROC_BIND", "spread,close", 1);
  return true;
}();

using heddle::omp::region_options;
using heddle::omp::thread;

template <class Body>
void region(const region_options& how, Body body) {
  heddle::omp::run_region(thread::current(), how, {[](void* data, thread&) { (*static_cast<Body*>(data))(); }, &body});
}
template <class Body>
void region(int threads, Body body) {
  region_options how;
  how.threads = threads;
  region(how, body);
}

TEST(Variables, EachLevelTakesItsElementOfTheList) {
  EXPECT_EQ(omp_get_max_threads(), 3);
  region(0, [] {
    EXPECT_EQ(omp_get_num_threads(), 3);
    EXPECT_EQ(omp_get_max_threads(), 2);
    region(0, [] {
      EXPECT_EQ(omp_get_num_threads(), 2);
      EXPECT_EQ(omp_get_max_threads(), 5);
      region(1, [] {
        EXPECT_EQ(omp_get_max_threads(), 5);  // the last one stays
        EXPECT_EQ(omp_get_level(), 3);
        EXPECT_EQ(omp_get_active_level(), 2);
      });
    });
  });
  EXPECT_EQ(omp_get_max_threads(), 3);
}

TEST(Variables, ATaskSetsThemForItselfAndItsRegions) {
  region(2, [] {
    const int mine = 10 + omp_get_thread_num();
    omp_set_num_threads(mine);
    omp_set_dynamic(omp_get_thread_num());
    omp_set_schedule(2, mine);
    EXPECT_EQ(omp_get_max_threads(), mine);
    EXPECT_EQ(omp_get_dynamic(), omp_get_thread_num());
    region(1, [mine] {
      int kind = 0, chunk = 0;
      omp_get_schedule(&kind, &chunk);
      EXPECT_EQ(kind, 2);
      EXPECT_EQ(chunk, mine);
      omp_set_schedule(3, 1);
    });
    int kind = 0, chunk = 0;
    omp_get_schedule(&kind, &chunk);
    EXPECT_EQ(kind, 2);
    EXPECT_EQ(chunk, mine);
  });
  EXPECT_EQ(omp_get_max_threads(), 3);
  EXPECT_EQ(omp_get_dynamic(), 0);
  region(2, [] { EXPECT_EQ(omp_get_max_threads(), 2); });  // nothing is left of the last region's
}

TEST(Variables, Levels) {
  const int before = omp_get_max_active_levels();
  omp_set_max_active_levels(1);
  EXPECT_EQ(omp_get_nested(), 0);
  region(2, [] {
    EXPECT_EQ(omp_in_parallel(), 1);
    region(2, [] { EXPECT_EQ(omp_get_num_threads(), 1); });
  });
  omp_set_nested(1);
  EXPECT_EQ(omp_get_max_active_levels(), omp_get_supported_active_levels());
  omp_set_max_active_levels(-4);
  EXPECT_EQ(omp_get_max_active_levels(), omp_get_supported_active_levels());
  omp_set_max_active_levels(before);
  EXPECT_EQ(omp_in_parallel(), 0);
}

TEST(Variables, Ancestors) {
  region(3, [] {
    const int outer = omp_get_thread_num();
    region(2, [outer] {
      EXPECT_EQ(omp_get_ancestor_thread_num(0), 0);
      EXPECT_EQ(omp_get_ancestor_thread_num(1), outer);
      EXPECT_EQ(omp_get_ancestor_thread_num(2), omp_get_thread_num());
      EXPECT_EQ(omp_get_ancestor_thread_num(3), -1);
      EXPECT_EQ(omp_get_ancestor_thread_num(-1), -1);
      EXPECT_EQ(omp_get_team_size(0), 1);
      EXPECT_EQ(omp_get_team_size(1), 3);
      EXPECT_EQ(omp_get_team_size(2), 2);
      EXPECT_EQ(omp_get_team_size(3), -1);
    });
  });
}

TEST(Variables, Schedules) {
  int kind = 0, chunk = 0;
  omp_get_schedule(&kind, &chunk);
  EXPECT_EQ(kind, 3);
  EXPECT_EQ(chunk, 4);
  omp_set_schedule(2, 0);
  omp_get_schedule(&kind, &chunk);
  EXPECT_EQ(chunk, 1);
  omp_set_schedule(1, -3);
  omp_get_schedule(&kind, &chunk);
  EXPECT_EQ(chunk, 0);
  omp_set_schedule(static_cast<int>(0x80000002u), 9);
  omp_get_schedule(&kind, &chunk);
  EXPECT_EQ(static_cast<unsigned>(kind), 0x80000002u);
  EXPECT_EQ(chunk, 9);
  omp_set_schedule(17, 2);  // no such kind: nothing changes
  omp_get_schedule(&kind, &chunk);
  EXPECT_EQ(chunk, 9);
  omp_set_schedule(3, 4);
}

TEST(Variables, OfTheProcess) {
  EXPECT_EQ(omp_get_max_task_priority(), 7);
  EXPECT_EQ(omp_get_cancellation(), 0);
  EXPECT_GE(omp_get_num_procs(), 1);
  EXPECT_EQ(omp_get_num_devices(), 0);
  EXPECT_EQ(omp_is_initial_device(), 1);
  omp_set_default_device(2);
  EXPECT_EQ(omp_get_default_device(), 2);
  omp_set_default_device(0);
  EXPECT_LE(omp_get_wtick(), 1e-3);
  const double then = omp_get_wtime();
  EXPECT_GE(omp_get_wtime(), then);
}

TEST(Variables, PlacesOfMembers) {
  ASSERT_EQ(omp_get_num_places(), 1);
  EXPECT_EQ(omp_get_proc_bind(), 4);
  EXPECT_EQ(omp_get_place_num(), 0);
  EXPECT_EQ(omp_get_place_num_procs(0), 1);
  EXPECT_EQ(omp_get_place_num_procs(7), 0);
  int id = -1;
  omp_get_place_proc_ids(0, &id);
  EXPECT_EQ(id, 0);
  region(3, [] {
    EXPECT_EQ(omp_get_proc_bind(), 3);
    EXPECT_EQ(omp_get_place_num(), 0);
    EXPECT_EQ(omp_get_partition_num_places(), 1);
    int place = -1;
    omp_get_partition_place_nums(&place);
    EXPECT_EQ(place, 0);
  });
}

TEST(Affinity, Fields) {
  heddle::omp::thread_facts facts;
  facts.level = 1;
  facts.number = 3;
  facts.team_size = 8;
  facts.ancestor = -1;
  facts.host = "here";
  facts.process = 77;
  facts.kernel_thread = 78;
  facts.processors = {0, 1, 4};
  facts.team_number = 2;
  facts.teams = 5;
  const auto line = [&](const char* format) { return heddle::omp::affinity_line(format, facts); };
  EXPECT_EQ(line("%n/%N at %L, %A"), "3/8 at 1, 0-1,4");
  EXPECT_EQ(line("%{thread_num}%{num_threads}%{nesting_level}%{thread_affinity}"), "3810-1,4");
  EXPECT_EQ(line("[%5n][%.5n][%0.5n]"), "[3    ][    3][00003]");
  EXPECT_EQ(line("[%0.4a]"), "[-001]");
  EXPECT_EQ(line("%H %P %i %t %T %%"), "here 77 78 2 5 %");
  EXPECT_EQ(line("%z|%{what}|%"), "undefined|undefined|undefined");
  EXPECT_EQ(line("%0.8{process_id}"), "00000077");
}

TEST(Affinity, Buffers) {
  omp_set_affinity_format("n=%n of %N");
  char small[4] = "zzz";
  EXPECT_EQ(omp_get_affinity_format(small, sizeof small), 10u);
  EXPECT_STREQ(small, "n=%");
  EXPECT_EQ(omp_get_affinity_format(nullptr, 0), 10u);
  char text[64];
  EXPECT_EQ(omp_capture_affinity(text, sizeof text, nullptr), 8u);
  EXPECT_STREQ(text, "n=0 of 1");
  EXPECT_EQ(omp_capture_affinity(text, sizeof text, "%L"), 1u);
  EXPECT_STREQ(text, "0");
  region(2, [] {
    char mine[64];
    omp_capture_affinity(mine, sizeof mine, "");
    EXPECT_EQ(std::string(mine), "n=" + std::to_string(omp_get_thread_num()) + " of 2");
  });
}

extern "C" {
int omp_get_max_threads_();
void omp_set_num_threads_(const std::int32_t*);
void omp_set_num_threads_8_(const std::int64_t*);
void omp_get_schedule_8_(std::int32_t*, std::int64_t*);
int omp_get_affinity_format_(char*, std::size_t);
int omp_capture_affinity_(char*, const char*, std::size_t, std::size_t);
int omp_get_ancestor_thread_num_8_(const std::int64_t*);
void omp_init_nest_lock_(void**);
int omp_test_nest_lock_(void**);
void omp_destroy_nest_lock_(void**);
}

TEST(Fortran, ArgumentsByReference) {
  const std::int32_t five = 5;
  const std::int64_t six = 6, level = 0, far = std::int64_t{1} << 40;
  omp_set_num_threads_(&five);
  EXPECT_EQ(omp_get_max_threads_(), 5);
  omp_set_num_threads_8_(&six);
  EXPECT_EQ(omp_get_max_threads_(), 6);
  EXPECT_EQ(omp_get_ancestor_thread_num_8_(&level), 0);
  EXPECT_EQ(omp_get_ancestor_thread_num_8_(&far), -1);
  std::int32_t kind = 0;
  std::int64_t chunk = 0;
  omp_get_schedule_8_(&kind, &chunk);
  EXPECT_EQ(chunk, 4);
  omp_set_num_threads(3);
  void* lock = nullptr;
  omp_init_nest_lock_(&lock);
  EXPECT_EQ(omp_test_nest_lock_(&lock), 1);
  omp_destroy_nest_lock_(&lock);
}

TEST(Fortran, TextsAreFilledUpWithBlanks) {
  omp_set_affinity_format("%n");
  char text[6] = "zzzzz";
  EXPECT_EQ(omp_get_affinity_format_(text, 5), 2);
  EXPECT_STREQ(text, "%n   ");
  EXPECT_EQ(omp_capture_affinity_(text, "%N    ", 5, 6), 1);
  EXPECT_STREQ(text, "1    ");
}

TEST(Devices, TheHostIsTheOnlyOne) {
  void* const memory = omp_target_alloc(100, 0);
  ASSERT_NE(memory, nullptr);
  EXPECT_EQ(omp_target_alloc(100, 3), nullptr);
  EXPECT_EQ(omp_target_is_present(memory, 0), 1);
  EXPECT_EQ(omp_target_memcpy(memory, "abc", 4, 10, 0, 0, 0), 0);
  EXPECT_STREQ(static_cast<char*>(memory) + 10, "abc");
  EXPECT_NE(omp_target_memcpy(memory, "abc", 4, 0, 0, 5, 0), 0);
  omp_target_free(memory, 0);

  int from[4][5], to[3][3] = {};
  for (int i = 0; i < 20; ++i) from[i / 5][i % 5] = i;
  const std::size_t volume[] = {2, 2}, to_at[] = {1, 1}, from_at[] = {1, 2}, to_size[] = {3, 3}, from_size[] = {4, 5};
  EXPECT_EQ(omp_target_memcpy_rect(to, from, sizeof(int), 2, volume, to_at, from_at, to_size, from_size, 0, 0), 0);
  EXPECT_EQ(to[1][1], 7);
  EXPECT_EQ(to[2][2], 13);
  EXPECT_EQ(to[0][0], 0);
  EXPECT_GE(omp_target_memcpy_rect(nullptr, nullptr, 0, 0, nullptr, nullptr, nullptr, nullptr, nullptr, 0, 0), 3);
}

TEST(Pausing, OutsideOfRegionsOnly) {
  EXPECT_EQ(omp_pause_resource(1, 0), 0);
  EXPECT_NE(omp_pause_resource(9, 0), 0);
  EXPECT_NE(omp_pause_resource(1, 4), 0);
  region(2, [] { EXPECT_NE(omp_pause_resource_all(1), 0); });
}

TEST(Settings, OfTheRuntime) {
  kmp_set_blocktime(12);
  EXPECT_EQ(kmp_get_blocktime(), 12);
  kmp_set_stacksize_s(1 << 20);
  EXPECT_EQ(kmp_get_stacksize_s(), std::size_t{1} << 20);
  EXPECT_EQ(kmp_get_library(), 3);
  kmp_set_library_turnaround();
  EXPECT_EQ(kmp_get_library(), 2);
  kmp_set_library_throughput();
  kmp_set_defaults("OMP_CANCELLATION=true|KMP_BLOCKTIME=3");
  EXPECT_EQ(omp_get_cancellation(), 1);
  EXPECT_EQ(kmp_get_blocktime(), 3);
  kmp_set_defaults("OMP_CANCELLATION=false");
  EXPECT_EQ(omp_get_cancellation(), 0);
}

}  // namespace
}  // namespace variables_test
