// A tool hears of leagues, and of the initial tasks of their teams. As with LLVM's runtime, programs by clang have a
// region of one thread in each of these tasks.
// library: tool
// link: -ldl
// stderr: tool: right
// oracle: not libgomp: has no interface for tools
#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>

#include "check.h"
#include "tool_events.h"

static long long count_of(int what) {
  // The library that gcc links against has no such function.
  int (*control)(int, int, void*) = (int (*)(int, int, void*))dlsym(RTLD_DEFAULT, "omp_control_tool");
  long long count = -1;
  CHECK(control != NULL);
  if (control != NULL) CHECK_EQUAL(control(tool_command + what, 7, &count), 0);
  return count;
}

#ifdef __clang__
enum { regions_a_team = 2 };
#else
enum { regions_a_team = 1 };
#endif

int main(int argc, char** argv) {
  if (argc == 2 && getenv("OMP_TOOL_LIBRARIES") == NULL) {
    setenv("OMP_TOOL_LIBRARIES", argv[1], 1);
    execv(argv[0], argv);
    perror("execv");
    return 1;
  }
  const long long before = count_of(initial_tasks);
  int members = 0;
  for (int round = 0; round < 10; ++round) {
#pragma omp teams num_teams(5) shared(members)
#pragma omp parallel num_threads(2) shared(members)
    {
#pragma omp atomic
      members += 1;
    }
  }
  CHECK(members >= 50);
  CHECK_EQUAL(count_of(leagues), 10);
  CHECK_EQUAL(count_of(ended_leagues), 10);
  CHECK_EQUAL(count_of(initial_tasks), before + 50);
  CHECK_EQUAL(count_of(ended_initial_tasks), before - 1 + 50);
  CHECK_EQUAL(count_of(regions), 50 * regions_a_team);
  CHECK_EQUAL(count_of(ended_regions), 50 * regions_a_team);
  CHECK_EQUAL(count_of(implicit_tasks), members + 50 * (regions_a_team - 1));
  return FINISHED();
}
