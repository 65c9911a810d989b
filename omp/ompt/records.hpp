// The places of the records of tasks, and scopes that change a task's frame.
#pragma once

#include "omp/core/tasks/task.hpp"
#include "omp/core/teams/team.hpp"
#include "omp/core/teams/thread.hpp"
#include "omp/ompt/state.hpp"

namespace heddle::omp::ompt {

inline task_record& record_of(task& t) noexcept {
  return t.is_explicit ? static_cast<explicit_task&>(t).tool : static_cast<implicit_task&>(t).tool;
}
inline ompt_data_t* data_of(task& t) noexcept { return &record_of(t).data; }
inline ompt_data_t* region_of(thread& self) noexcept { return &self.in->tool.data; }

// A scope in which the running task is inside the runtime, because the program has called it. The outermost of such
// scopes sets the task's enter_frame.
class inside {
 public:
  explicit inside(thread& self) noexcept;
  inside(const inside&) = delete;
  ~inside() {
    of_.enter_frame = before_;
    of_.enter_frame_flags = flags_before_;
  }

 private:
  ompt_frame_t& of_;
  ompt_data_t before_;
  int flags_before_;
};

// A scope in which a task's own code runs, called from this frame (__builtin_frame_address(0)).
class outside {
 public:
  outside(task_record& of, void* frame) noexcept : of_(of.frame) {
    of_.exit_frame.ptr = frame;
    of_.exit_frame_flags = ompt_frame_runtime | ompt_frame_framepointer;
  }
  // For an explicit task. If the task runs where it was made, this tells that it begins; for other tasks ompt::run_task
  // tells it.
  outside(thread& self, explicit_task& of, void* frame);
  outside(const outside&) = delete;
  ~outside() {
    of_.exit_frame.ptr = nullptr;
    of_.exit_frame_flags = 0;
  }

 private:
  ompt_frame_t& of_;
};

// The frame of a task whose code is its caller's, in the same frame: a region or task without a function of its own.
// `own` is the frame of the entry point that is called, which has a frame pointer (__builtin_frame_address(0)). The
// caller's frame is told if it looks like one, else its end. This must be made by the function that has the frame,
// because the words below its return address are lost as soon as it makes a tail call.
class callers_frame {
 public:
  [[gnu::always_inline]] explicit callers_frame(void* own) noexcept {
    constexpr std::uintptr_t most = std::uintptr_t{1} << 20;
    const auto mine = reinterpret_cast<std::uintptr_t>(own);
    // volatile, so that it is read here, and not where it is used
    const auto saved = *static_cast<const volatile std::uintptr_t*>(own);
    const bool is_frame = saved > mine && saved - mine < most && saved % 16 == 0;
    address_ = is_frame ? reinterpret_cast<void*>(saved) : static_cast<void**>(own) + 2;
    flags_ = ompt_frame_application | (is_frame ? ompt_frame_framepointer : ompt_frame_stackaddress);
  }
  void set(task_record& of) const noexcept {
    of.frame.exit_frame.ptr = address_;
    of.frame.exit_frame_flags = flags_;
  }

 private:
  void* address_;
  int flags_;
};

// The state of a thread that waits for nothing.
int usual_state(const thread& self) noexcept;
// A scope in which the thread is in another state.
class in_state {
 public:
  in_state(thread& self, int state, ompt_wait_id_t what = 0) noexcept
      : of_(self.tool), before_(self.tool.state), waited_before_(self.tool.waits_for) {
    of_.state = state;
    of_.waits_for = what;
  }
  in_state(const in_state&) = delete;
  ~in_state() {
    of_.state = before_;
    of_.waits_for = waited_before_;
  }

 private:
  thread_record& of_;
  int before_;
  ompt_wait_id_t waited_before_;
};

}  // namespace heddle::omp::ompt
