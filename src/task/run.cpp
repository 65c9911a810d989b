// Calls from outside a runtime. They run on a worker that the foreign kernel thread takes over, or as threads that are
// waited for.
#include <heddle/thread.hpp>

#include "arch/arch.hpp"
#include "platform/platform.hpp"
#include "worker/caller.hpp"
#include "worker/preemption/section.hpp"
#include "worker/runtime.hpp"

namespace heddle::detail {

namespace {

fiber::thread& thread_of(thread_handle* t) noexcept { return *reinterpret_cast<fiber::thread*>(t); }

// Makes a thread that runs call(data).
thread_handle* make_caller(const thread_options& options, void (*call)(void*) noexcept, void* data) {
  struct shared {
    void (*call)(void*) noexcept;
    void* data;
  };
  const made_thread made = make_thread(options, sizeof(shared), alignof(shared), [](void* room) noexcept {
    const shared s = *static_cast<shared*>(room);
    s.call(s.data);
  });
  ::new (made.room) shared{call, data};
  return made.thread;
}

void start_and_join(thread_handle* handle) noexcept {
  start_thread(handle);
  join_thread(handle);
}

}  // namespace

void run_and_wait(runtime* where, void (*call)(void*) noexcept, void* data) {
  if (worker::caller::now().is_foreign()) {
    worker::runtime& home = where != nullptr ? where->core() : worker::here();
    if (home.caller_runs().run(call, data)) return;
  }
  thread_options options;
  options.where = where;
  start_and_join(make_caller(options, call, data));
}

void run_and_wait(const thread_options& options, void (*call)(void*) noexcept, void* data) {
  if (options.tls != tls::caller) return start_and_join(make_caller(options, call, data));
  const worker::caller who = worker::caller::now();
  thread_options with = options;
  fiber::preemptible* const caller = who.is_user_code() ? &who.preemptive() : nullptr;
  // The calling thread has no storage that it could pass on.
  if (!who.is_foreign() && (caller == nullptr || caller->block == nullptr)) {
    with.tls = tls::carrier;
    return start_and_join(make_caller(with, call, data));
  }
  with.tls = tls::own;
  thread_handle* const handle = make_caller(with, call, data);
  fiber::preemptible& its = *thread_of(handle).preemptive;
  its.how.storage = tls::caller;
  if (caller != nullptr) {
    const worker::section inside;
    its.block = caller->block;
    start_and_join(handle);
    return worker::take_storage_back(*caller);
  }
  platform::own_tls mine{arch::thread_pointer()};
  its.block = &mine;
  worker::wait_on_other_storage(
      *thread_of(handle).home, mine, [](void* t) noexcept { start_and_join(static_cast<thread_handle*>(t)); }, handle);
}

}  // namespace heddle::detail
