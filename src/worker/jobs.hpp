// Jobs. A job runs on the stack of a thread: of one that was made for it, or of one that has ended.
#pragma once

#include <atomic>

#include <heddle/detail/fork_queue.hpp>
#include <heddle/job.hpp>

#include "fiber/thread.hpp"

namespace heddle::detail {

// The parts of a submitted job as the runtime sees it. Touched by the code that submits it, then by the code that has
// taken it.
struct submitted {
  static heddle::job*& next(heddle::job& work) noexcept { return work.next_; }
  static const void*& label(heddle::job& work) noexcept { return work.label_; }
  static heddle::job::function function(const heddle::job& work) noexcept { return work.run_; }
  static job* word(heddle::job& work) noexcept { return &work; }
  static heddle::job& of(job* word) noexcept { return static_cast<heddle::job&>(*word); }
};

// The code of the jobs that stand for another library's tasks (<heddle/detail/placed_task.hpp>), null until there is
// one. The library tells the trace of its tasks itself. Written by whoever makes such a task, always the same value.
inline std::atomic<job::code> code_of_placed_tasks{nullptr};
inline bool is_placed_task(job::code code) noexcept {
  return code != nullptr &&
         code == code_of_placed_tasks.load(std::memory_order_relaxed);  // a task brings the value along
}
// The code of groups' children that have not begun, null until there is one. Written by whoever makes such a child,
// always the same value.
inline std::atomic<job::code> code_of_children{nullptr};

// Returns the code of the body of the loop that a job joins, where loops share the code of such jobs. Returns null for
// all other jobs.
using find_body = const void* (*)(const job* one, job::code code) noexcept;
// Null until a traced loop begins. Written by the worker that begins the loop, always the same value.
inline std::atomic<find_body> body_of_joined_loop{nullptr};

// The address by which a trace names a job whose code is `code`.
inline const void* shown_code(job* word, job::code code) noexcept {
  if (code == run_submitted) return submitted::label(submitted::of(word));
  const find_body find = body_of_joined_loop.load(std::memory_order_relaxed);  // a job brings the value along
  const void* const body = find == nullptr ? nullptr : find(word, code);
  return body != nullptr ? body : reinterpret_cast<const void*>(code);
}

}  // namespace heddle::detail

namespace heddle::worker {

using fiber::thread;

class worker;

// Makes a thread of the kind that runs tasks, which begins with body(it); `argument` is its argument. Called by `w`
// itself. Returns null if there is no memory.
[[nodiscard]] thread* thread_for_tasks(worker& w, void (*body)(thread*), void* argument) noexcept;

// Runs the job on the calling thread, which is `self`.
void run_job(thread& self, detail::job* work) noexcept;

// The entry of threads that run jobs. Runs the thread's first job, then further jobs while a job is next. It ends when
// a thread is next.
void run_jobs(thread* self) noexcept;

// The end of a thread whose stack no other code will look at: runs jobs on it while jobs are next, then departs.
void serve(thread& self) noexcept;

}  // namespace heddle::worker
