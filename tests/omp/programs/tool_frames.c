// The frames that a tool is told of: code that is called from the region's own function has that function's frame for
// its exit, or one that lies within it.
// link: -rdynamic
// oracle: not libgomp: has no interface for tools
#include <stdint.h>

#include "../../../omp/ompt/omp-tools.h"

#include "check.h"

static ompt_get_task_info_t task_info;

static int begin(ompt_function_lookup_t lookup, int device, ompt_data_t* data) {
  (void)device, (void)data;
  task_info = (ompt_get_task_info_t)lookup("ompt_get_task_info");
  return 1;
}
static void end(ompt_data_t* data) { (void)data; }

ompt_start_tool_result_t* ompt_start_tool(unsigned version, const char* runtime) {
  static ompt_start_tool_result_t result = {begin, end, {0}};
  (void)version, (void)runtime;
  return &result;
}

// Of the task on this level: 0 is the running one.
static __attribute__((noinline)) uintptr_t exit_of(int level) {
  ompt_frame_t* frame = NULL;
  CHECK(task_info(level, NULL, NULL, &frame, NULL, NULL) == 2);
  return frame == NULL ? 0 : (uintptr_t)frame->exit_frame.ptr;
}

int main(void) {
  for (int round = 0; round < 3; ++round) {
#pragma omp parallel
    {
      const uintptr_t region = (uintptr_t)__builtin_frame_address(0);
      CHECK(task_info != NULL);
      CHECK(exit_of(0) >= region);
#pragma omp single
      {
        // Undeferred: called from here, or a part of this function.
#pragma omp task if (0) firstprivate(region)
        {
          const uintptr_t own = (uintptr_t)__builtin_frame_address(0);
          const uintptr_t told = exit_of(0);
          CHECK(told >= own && told <= region + 2 * sizeof(void*));
          CHECK(exit_of(1) >= region);
        }
        // Deferred or not, on this thread's stack or another one: called from the runtime.
#pragma omp task
        {
          const uintptr_t own = (uintptr_t)__builtin_frame_address(0);
          CHECK(exit_of(0) >= own && exit_of(0) - own < 4096);
        }
      }
    }
  }
  return FINISHED();
}
