// The end of a submitted job.
#include "worker/jobs.hpp"

#include "worker/arenas/arena.hpp"
#include "worker/inline.hpp"
#include "worker/preemption/section.hpp"
#include "worker/runtime.hpp"
#include "worker/worker.hpp"

namespace heddle::detail {

void run_submitted(job* work) noexcept {
  heddle::job& submitted_job = submitted::of(work);
  submitted::function(submitted_job)(submitted_job);
  const worker::section inside;
  worker::worker& w = worker::worker::current();
  trace::emit<trace::event::task_end>(w.ring, work);  // the job may be gone: its address is a number
  if (worker::arena* const in = w.home.arena(); in != nullptr) in->job_ends();
  worker::census::count_finished(w);
}

}  // namespace heddle::detail
