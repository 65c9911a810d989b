/// Teams: threads that execute one function together.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <type_traits>
#include <utility>

#include <heddle/detail/gang.hpp>
#include <heddle/detail/wait.hpp>
#include <heddle/export.hpp>
#include <heddle/preemption.hpp>
#include <heddle/priority.hpp>
#include <heddle/runtime.hpp>

namespace heddle {

/// How the threads of a team get workers.
enum class team_mode : std::uint8_t {
  /// All threads run at once, each on a worker of its own, before everything else that is ready. So they may wait for
  /// each other by spinning, in a library's barrier for instance, though they are not preemptive. This holds if they
  /// are no more than the runtime's workers, and if a thread that another one spins for does not itself wait in the
  /// runtime meanwhile. Gangs that do not fit wait until others have ended or wait in the runtime as a whole; nested
  /// gangs come first. Preemptive threads have no such limits: their gangs take time slices, and so do threads that
  /// share a worker.
  gang,
  /// The threads run like any other threads: each idle worker takes the next one. They must wait for each other by
  /// heddle's means, or be preemptive.
  stealing,
  /// As set_gang_sched() and reset_gang_sched() say.
  as_set,
};

/// After the first call, teams that are made anywhere in the process are gangs unless their options name the other
/// mode; after the second call their threads get workers one by one. At the start they are gangs. Thread context: any.
/// The names are those of Bak et al. (ICS 2021), listing 1; ompx_set_gang_sched() does the same for regions of OpenMP.
HEDDLE_API void set_gang_sched() noexcept;
HEDDLE_API void reset_gang_sched() noexcept;

struct team_options {
  /// 0 means as many as the runtime has workers. If more are asked for, more are made.
  unsigned threads = 0;
  team_mode mode = team_mode::as_set;
  runtime* where = nullptr;    ///< null means runtime::current()
  std::size_t stack_size = 0;  ///< in bytes; 0 means the runtime's default
  const char* name = nullptr;  ///< of the threads; must outlive them
  heddle::preemption preemption = heddle::preemption::as_runtime;
  heddle::tls tls = heddle::tls::as_runtime;
  heddle::priority priority = heddle::priority::normal;
};

class team;
class team_member;

namespace detail {

// A task that waits for a member. It owns its memory.
struct team_task {
  team_task* next{nullptr};
  void (*run)(team_task* self){nullptr};  // called once; frees the task, also when it throws
};

// The state shared by the members of a team.
class team_core {
 public:
  HEDDLE_API explicit team_core(const team_options& options);
  HEDDLE_API ~team_core();
  team_core(const team_core&) = delete;
  team_core& operator=(const team_core&) = delete;

  unsigned size() const noexcept { return size_; }
  HEDDLE_API void run(void (*body)(void* data, team_member& self), void* data);
  HEDDLE_API void add(team_task* t) noexcept;
  // Returns when all members have arrived and, if `tasks` is true, no task is left.
  HEDDLE_API void arrive(bool tasks) noexcept;
  bool is_first_at(std::uint32_t single) noexcept {
    // `single` is a copy: the number of singles before this one
    return singles_.compare_exchange_strong(single, single + 1);
  }

 private:
  struct step;
  struct part;
  void execute(unsigned number) noexcept;
  void end_part() noexcept;
  void perform(step& s) noexcept;
  void keep_exception() noexcept;
  bool all_are_here() const noexcept;
  bool all_have_ended() const noexcept;
  bool is_over(const step& s) const noexcept;
  void end_phase() noexcept;
  [[nodiscard]] bool look(step& s) noexcept;
  static bool enqueue(void* step_taken, waiter& w) noexcept;

  team_options options_;
  unsigned size_;
  gang_handle* gang_{nullptr};  // null if the threads are not a gang
  void (*body_)(void* data, team_member& self){nullptr};
  void* data_{nullptr};
  bool called_off_{false};  // true if not all threads could be made
  std::atomic<std::uint32_t> singles_{0};
  spin_word guard_;
  // Under guard_:
  unsigned expected_{0};  // the number of members that have not ended their part
  unsigned arrived_{0};
  bool tasks_count_{false};  // true if tasks count in this phase
  std::uint32_t phase_{0};
  unsigned unfinished_{0};  // the number of tasks
  team_task* oldest_{nullptr};
  team_task* newest_{nullptr};
  std::exception_ptr thrown_;
  waiter_list waiters_;
};

}  // namespace detail

/// One of a team's threads, as the function that it executes sees it. Only that thread may use it; tasks of the team
/// may also call `task`. A function has no errors unless it says so.
class team_member {
 public:
  unsigned number() const noexcept { return number_; }     ///< from 0 to size() - 1
  unsigned size() const noexcept { return core_.size(); }  ///< the size of the team

  /// Returns when every member has come here or has ended its part, and all tasks have been executed. The members that
  /// wait here execute the tasks on their own threads, one after the other. May suspend the caller.
  void barrier() noexcept { core_.arrive(true); }
  /// Does the same without tasks: the caller runs nothing meanwhile. All members must call the same one of the two
  /// functions.
  void meet() noexcept { core_.arrive(false); }

  /// Makes a task, which a member that waits at a barrier executes; at the latest the members that have ended their
  /// parts do. A task may make tasks, and may wait, but not at the team's barriers. Throws std::bad_alloc; never
  /// suspends.
  template <class F>
  void task(F&& f) {
    struct made : detail::team_task {
      explicit made(F&& from) : f(std::forward<F>(from)) {}
      std::decay_t<F> f;
    };
    auto* t = new made(std::forward<F>(f));
    t->run = [](detail::team_task* self) {
      struct owner {
        made* t;
        ~owner() { delete t; }
      } const own{static_cast<made*>(self)};
      own.t->f();
    };
    core_.add(t);
  }

  /// Calls f() on the first member that comes here; the others do not wait for it. All members must call the same
  /// `single`s in the same order. Returns true on the member that ran `f`. Throws what f throws.
  template <class F>
  bool single(F&& f) {
    if (!core_.is_first_at(singles_++)) return false;
    std::forward<F>(f)();
    return true;
  }

 private:
  friend class detail::team_core;
  team_member(detail::team_core& core, unsigned number) noexcept : core_(core), number_(number) {}

  detail::team_core& core_;
  const unsigned number_;
  std::uint32_t singles_{0};
};

/// Threads that execute a function together, again and again. Thread context of every function: any; one team has at
/// most one call at a time.
class team {
 public:
  /// Throws std::bad_alloc, and std::system_error(not_supported) for threads of a kind that cannot be had here. It
  /// makes no threads yet.
  explicit team(const team_options& options = {}) : core_(options) {}
  team(const team&) = delete;
  team& operator=(const team&) = delete;

  unsigned size() const noexcept { return core_.size(); }

  /// Calls f(member), with a team_member&, on each of size() new threads. The caller waits and is none of them. Returns
  /// when all threads have ended and all tasks are done; a user-level caller may be suspended and migrate. A call from
  /// a thread of another team, even from inside it, makes a nested team. Throws the first exception that f or a task
  /// has thrown, after all others have ended (they are not waited for by the thrower, and do not wait for it). Throws
  /// std::system_error if not all threads can be made; f was then not called.
  template <class F>
  void run(F&& f) {
    using function = std::remove_reference_t<F>;
    core_.run([](void* data, team_member& self) { (*static_cast<function*>(data))(self); },
              const_cast<void*>(static_cast<const void*>(&f)));
  }

 private:
  detail::team_core core_;
};

}  // namespace heddle
