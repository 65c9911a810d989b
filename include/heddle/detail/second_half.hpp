// The second half of a fork, or of a range of a loop: a job on its owner's stack, which any worker may run. It keeps
// what the job returns or throws on another worker until the owner joins it.
#pragma once

#include <exception>
#include <memory>
#include <new>
#include <utility>

#include <heddle/detail/fork_queue.hpp>
#include <heddle/export.hpp>

namespace heddle::detail {

// Marks the job finished and resumes its owner if it waits. The job may be gone when this returns.
HEDDLE_API void complete_job(job& work, job::end how) noexcept;

enum class join_outcome { run_here, done, failed };
// The join of a job whose pop has lost it. Returns run_here if no other thread has the job, because it was never queued
// or a preemptive thread takes it back here; the caller then runs it. Otherwise waits until the thread that has it is
// done. May suspend and migrate the caller.
HEDDLE_API join_outcome join_slow(job& work, ticket position) noexcept;
// The pop of a preemptive thread, whose own pop has lost the job because its queue is not the worker's. For other
// threads it returns `lost`.
HEDDLE_API popped pop_for_preemptive(const job& work) noexcept;
// Tells a trace that both halves have ended.
HEDDLE_API void note_join(const job& work) noexcept;
struct join_noted {
  const job& of;
  ~join_noted() { note_join(of); }
};

template <class Result>
struct second_half : job {
  explicit second_half(code run) noexcept : job(run) {}
  ~second_half() {}

  // On another worker: calls f and ends the job with what f returns or throws.
  template <class F>
  [[gnu::always_inline]] void complete(F f) noexcept {
    end how = end::done;
    try {
      ::new (static_cast<void*>(&value)) Result(f());
    } catch (...) {
      ::new (static_cast<void*>(&error)) std::exception_ptr(std::current_exception());
      how = end::failed;
    }
    complete_job(*this, how);
  }

  // The owner's, after join_slow has returned something else than run_here. Returns the result or throws the exception.
  Result take(join_outcome outcome) {
    if (outcome == join_outcome::failed) {
      const std::exception_ptr thrown = std::move(error);
      std::destroy_at(&error);
      std::rethrow_exception(thrown);
    }
    struct destroyer {
      Result& r;
      ~destroyer() { std::destroy_at(&r); }
    } destroy{value};
    return std::move(value);
  }

  // The owner's, when the first half threw: waits for this half if another thread runs it, and drops its result.
  void drop() noexcept {
    if (position == nullptr || pop(entry_of(this), position) != popped::lost) return;
    const join_outcome outcome = join_slow(*this, position);
    if (outcome == join_outcome::done) std::destroy_at(&value);
    if (outcome == join_outcome::failed) std::destroy_at(&error);
  }

  ticket position;
  union {  // alive only if another worker ran the job
    Result value;
    std::exception_ptr error;
  };
};

}  // namespace heddle::detail
