/// All headers of heddle except <heddle/cost.hpp>, because including that header declares that the program tells its
/// own costs to a simulator.
#pragma once

#include <heddle/export.hpp>  // first, because it refuses an older C++

#include <heddle/arena.hpp>
#include <heddle/barrier.hpp>
#include <heddle/blocking.hpp>
#include <heddle/box.hpp>
#include <heddle/cancellable_barrier.hpp>
#include <heddle/channel.hpp>
#include <heddle/communication.hpp>
#include <heddle/condition_variable.hpp>
#include <heddle/event_count.hpp>
#include <heddle/first_touch.hpp>
#include <heddle/future.hpp>
#include <heddle/isolate.hpp>
#include <heddle/iteration.hpp>
#include <heddle/job.hpp>
#include <heddle/latch.hpp>
#include <heddle/machine.hpp>
#include <heddle/mutex.hpp>
#include <heddle/parallel_for.hpp>
#include <heddle/parallel_for_each.hpp>
#include <heddle/parallel_invoke.hpp>
#include <heddle/parallel_pipeline.hpp>
#include <heddle/parallel_reduce.hpp>
#include <heddle/parallel_scan.hpp>
#include <heddle/parallel_sort.hpp>
#include <heddle/pause.hpp>
#include <heddle/poller.hpp>
#include <heddle/preemption.hpp>
#include <heddle/priority.hpp>
#include <heddle/readiness.hpp>
#include <heddle/reuse_distance.hpp>
#include <heddle/runtime.hpp>
#include <heddle/semaphore.hpp>
#include <heddle/shared_mutex.hpp>
#include <heddle/sleep.hpp>
#include <heddle/task_group.hpp>
#include <heddle/team.hpp>
#include <heddle/thread.hpp>
#include <heddle/thread_slot.hpp>
#include <heddle/trace.hpp>
#include <heddle/worker_local.hpp>
