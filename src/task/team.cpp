#include <heddle/team.hpp>

#include <algorithm>
#include <memory>
#include <mutex>
#include <new>
#include <system_error>
#include <utility>
#include <vector>

#include <heddle/thread.hpp>

#include "worker/new_thread.hpp"
#include "worker/preemption/section.hpp"
#include "worker/runtime.hpp"

namespace heddle {

namespace {

// The mode of teams whose options name none. Relaxed: a choice that publishes nothing.
constinit std::atomic<team_mode> mode_set{team_mode::gang};

}  // namespace

void set_gang_sched() noexcept { mode_set.store(team_mode::gang, std::memory_order_relaxed); }
void reset_gang_sched() noexcept { mode_set.store(team_mode::stealing, std::memory_order_relaxed); }

}  // namespace heddle

namespace heddle::detail {

// The argument of a team's thread.
struct team_core::part {
  team_core* core;
  unsigned number;
};

// A wait of a member.
struct team_core::step {
  team_core& core;
  bool at_end;  // at the end of its part it waits for the end of all members
  bool tasks;
  std::uint32_t phase{0};
  team_task* found{nullptr};  // a task that was found instead
  bool over{false};
};

team_core::team_core(const team_options& options) : options_(options), size_(options.threads) {
  worker::runtime& home = options.where != nullptr ? options.where->core() : worker::here();
  if (size_ == 0) size_ = home.workers();
  static_cast<void>(worker::kind_of(home, options.preemption, options.tls));  // throws if the kind cannot be had
  if (options_.mode == team_mode::as_set) options_.mode = mode_set.load(std::memory_order_relaxed);  // as its stores
  if (options_.mode == team_mode::gang) gang_ = make_gang(options.where, size_);
}

team_core::~team_core() {
  if (gang_ != nullptr) free_gang(gang_);
}

void team_core::run(void (*body)(void*, team_member&), void* data) {
  body_ = body;
  data_ = data;
  called_off_ = false;
  singles_.store(0, std::memory_order_relaxed);  // relaxed: published with the threads
  expected_ = size_;
  thread_options kind;
  kind.stack_size = options_.stack_size;
  kind.name = options_.name;
  kind.where = options_.where;
  kind.preemption = options_.preemption;
  kind.tls = options_.tls;
  kind.priority = options_.priority;
  std::vector<thread_handle*> threads;
  threads.reserve(size_);
  std::exception_ptr failure;
  try {
    for (unsigned i = 0; i < size_; ++i) {
      const made_thread made = make_thread(kind, sizeof(part), alignof(part), [](void* room) noexcept {
        const part mine = *static_cast<part*>(room);
        mine.core->execute(mine.number);
      });
      ::new (made.room) part{this, i};
      threads.push_back(made.thread);
    }
  } catch (...) {
    failure = std::current_exception();
    called_off_ = true;
  }
  if (gang_ != nullptr && !called_off_) {
    begin_gang(gang_, size_);
    for (unsigned i = 0; i < size_; ++i) take_into_gang(gang_, i, threads[i]);
  }
  for (thread_handle* t : threads) start_thread(t);
  for (thread_handle* t : threads) join_thread(t);
  if (failure == nullptr) failure = std::exchange(thrown_, nullptr);
  if (failure != nullptr) std::rethrow_exception(failure);
}

void team_core::execute(unsigned number) noexcept {
  if (called_off_) return;
  try {
    team_member self(*this, number);
    body_(data_, self);
  } catch (...) {
    keep_exception();
  }
  end_part();
  if (gang_ != nullptr) leave_gang();
}

void team_core::keep_exception() noexcept {
  std::exception_ptr caught = std::current_exception();
  const worker::section inside;
  std::lock_guard hold(guard_);
  if (thrown_ == nullptr) thrown_ = std::move(caught);
}

void team_core::add(team_task* t) noexcept {
  t->next = nullptr;
  const worker::section inside;
  waiter* woken;
  {
    std::lock_guard hold(guard_);
    if (oldest_ == nullptr) oldest_ = t;
    else newest_->next = t;
    newest_ = t;
    ++unfinished_;
    woken = waiters_.pop_front();
  }
  if (woken != nullptr) wake(*woken);
}

void team_core::arrive(bool tasks) noexcept {
  step s{*this, false, tasks};
  {
    const worker::section inside;
    std::lock_guard hold(guard_);
    s.phase = phase_;
    ++arrived_;
    tasks_count_ = tasks;
  }
  perform(s);
}

void team_core::end_part() noexcept {
  step s{*this, true, true};
  {
    const worker::section inside;
    std::lock_guard hold(guard_);
    --expected_;
  }
  perform(s);
}

void team_core::perform(step& s) noexcept {
  for (;;) {
    {
      const worker::section inside;
      guard_.lock();
      if (!look(s)) {  // look() has given the guard back
        waiter w("team");
        suspend(w, enqueue, &s);
      }
    }
    if (s.over) return;
    team_task* const t = std::exchange(s.found, nullptr);
    if (t == nullptr) continue;
    try {
      t->run(t);
    } catch (...) {
      keep_exception();
    }
    const worker::section inside;
    std::lock_guard hold(guard_);
    --unfinished_;
  }
}

// The next three functions need guard_.
bool team_core::all_are_here() const noexcept { return arrived_ == expected_ && (!tasks_count_ || unfinished_ == 0); }

bool team_core::all_have_ended() const noexcept { return expected_ == 0 && unfinished_ == 0; }

bool team_core::is_over(const step& s) const noexcept {
  return s.at_end ? all_have_ended() : phase_ != s.phase || all_are_here();
}

// Called under guard_, which it gives back. Returns true if the step `s` is over or a task was found.
bool team_core::look(step& s) noexcept {
  s.over = is_over(s);
  if (arrived_ != 0 ? all_are_here() : all_have_ended()) {  // the first one that sees it tells the others
    end_phase();
    return s.over;
  }
  if (!s.over && s.tasks && oldest_ != nullptr) {
    s.found = oldest_;
    oldest_ = oldest_->next;
  }
  guard_.unlock();
  return s.over || s.found != nullptr;
}

void team_core::end_phase() noexcept {
  arrived_ = 0;
  ++phase_;
  waiter_list all = std::exchange(waiters_, {});
  guard_.unlock();
  while (waiter* w = all.pop_front()) wake(*w);
}

// Runs on another stack, if the caller is a user-level thread.
bool team_core::enqueue(void* step_taken, waiter& w) noexcept {
  step& s = *static_cast<step*>(step_taken);
  team_core& core = s.core;
  std::lock_guard hold(core.guard_);
  if (core.is_over(s) || (s.tasks && core.oldest_ != nullptr)) return false;
  core.waiters_.push_back(w);
  return true;
}

}  // namespace heddle::detail
