// Jobs, run on the stack of a thread: of one that was made for that, or of one that has ended.
#pragma once

#include <heddle/detail/fork_queue.hpp>

#include "fiber/thread.hpp"

namespace heddle::worker {

using fiber::thread;

class worker;

// A new thread of the kind that runs tasks, which begins with body(it); `argument` is its argument. By `w` itself.
// Null: no memory.
[[nodiscard]] thread* thread_for_tasks(worker& w, void (*body)(thread*), void* argument) noexcept;

// Runs it, on the calling thread, which is `self`.
void run_job(thread& self, detail::job* work) noexcept;

// Entry of threads that run jobs: runs its first job, then whatever job is next, until a thread is.
void run_jobs(thread* self) noexcept;

// The end of a thread whose stack nobody else will look at: runs jobs on it while jobs are next, then departs.
void serve(thread& self) noexcept;

}  // namespace heddle::worker
