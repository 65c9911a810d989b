/// Arenas: a limit on how many workers do certain work at once.
#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <heddle/detail/spin_word.hpp>
#include <heddle/export.hpp>
#include <heddle/job.hpp>
#include <heddle/priority.hpp>
#include <heddle/runtime.hpp>

namespace heddle {

/// Options for constructing an arena.
struct arena_options {
  /// The most workers that do the arena's work at once. By default, as many as may do it at all.
  std::optional<unsigned> max_concurrency{};
  /// Shown in messages about the arena.
  std::string name{};
  /// Ranks of the workers that may do the arena's work. By default, all workers of the runtime.
  std::optional<std::vector<unsigned>> workers{};
  /// Which of the arenas that wait for a worker gets the next one: one of a higher level before any of a lower one.
  heddle::priority priority = heddle::priority::normal;
  /// The runtime whose workers do the work. Null stands for the caller's runtime, which inside of an arena is that
  /// arena, or for the global one if the caller is a foreign kernel thread.
  runtime* where = nullptr;
};

/// A subset of a runtime's workers with a limit on concurrency and queues of its own. An arena has `max_concurrency`
/// places. A worker of the runtime that has nothing to do takes a free place and does the arena's work until there is
/// none left. At times it also leaves while there is work left, so that other work has its time slice.
///
/// Work that code inside of an arena makes stays inside: its children, forks, loops, jobs, and threads run in the
/// arena's places, and no other worker takes them. A wait frees the place for other work of the
/// arena. So at most `max_concurrency` workers do the arena's work at any moment, however deep it nests, and nothing
/// that waits in an arena below its limit is left while a worker that may do it is idle.
///
/// For code inside, the arena is its runtime: `runtime::current()` says `workers() == max_concurrency`, and
/// `worker_rank()` is the number of the place. Threads there have no preemption and no thread-local storage of their
/// own (std::system_error(not_supported)), and `blocking(f)` keeps its worker. docs/guide/arenas.md.
class HEDDLE_API arena {
 public:
  /// Throws std::invalid_argument if `max_concurrency` is 0 or above the number of workers that may do the work, if the
  /// subset is empty or has a rank twice, or if a rank or the priority does not exist. Throws std::bad_alloc. Thread
  /// context: any.
  explicit arena(const arena_options& options = {});
  /// Waits until all work of the arena has ended. An exception that `wait` has not thrown is lost. An arena has to end
  /// before its runtime does; the process is aborted otherwise. Thread context: any but the arena's own threads; may
  /// suspend and migrate a user-level thread.
  ~arena();
  arena(const arena&) = delete;
  arena& operator=(const arena&) = delete;

  /// Runs f() inside and waits for it; returns its result or throws its exception. A caller that is inside already
  /// calls f by itself. Throws std::system_error when no thread can be made. Thread context: any; may suspend and
  /// migrate a user-level thread.
  template <class F>
  auto execute(F&& f) {
    return inside_->run(std::forward<F>(f));
  }

  /// Runs f() inside, later; the caller goes on. Jobs begin in the order in which they came from outside. The first
  /// exception of such an f is thrown by `wait`. Throws what copying f throws, std::bad_alloc, and
  /// std::invalid_argument for a priority that does not exist. Thread context: any.
  template <class F>
  void enqueue(F&& f, task_info info = {}) {
    using closure = std::decay_t<F>;
    struct held final : job {
      held(arena& in, F&& body) : job(call), of(in), f(std::forward<F>(body)) {}
      static void call(job& self) noexcept {
        const std::unique_ptr<held> me(static_cast<held*>(&self));
        try {
          me->f();
        } catch (...) {
          me->of.failed(std::current_exception());
        }
      }
      arena& of;
      closure f;
    };
    auto made = std::make_unique<held>(*this, std::forward<F>(f));
    if (info.label == nullptr) info.label = reinterpret_cast<const void*>(&held::call);
    inside_->submit(*made, info);
    static_cast<void>(made.release());
  }

  /// Hands a job over to the arena. As runtime::submit.
  void submit(job& work, const task_info& info = {}) { inside_->submit(work, info); }

  /// Waits until every job of the arena has ended that was enqueued or submitted so far, by whomever; then throws the
  /// first exception of an enqueued function, if there is one. Throws std::logic_error when the caller is inside the
  /// arena. Thread context: any; may suspend and migrate a user-level thread.
  void wait();

  unsigned max_concurrency() const noexcept { return inside_->workers(); }
  const std::string& name() const noexcept { return name_; }
  /// The caller is inside.
  bool is_current() const noexcept { return inside_->is_current(); }
  /// The arena as its own threads see it, for interfaces that take a runtime (thread_options::where).
  runtime& inside() noexcept { return *inside_; }

 private:
  void failed(std::exception_ptr error) noexcept;

  const std::string name_;
  std::unique_ptr<runtime> inside_;
  detail::spin_word lock_;
  std::exception_ptr error_;  // under lock_: the first one since the last wait
};

}  // namespace heddle
