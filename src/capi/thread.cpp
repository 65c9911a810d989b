// Threads of heddle.h. The handle is shared by the thread and the caller that joins or detaches it; the second of the
// two gives it up. The second may be a thread that must not call free (signal-yield, without storage of its own). So
// handles that are given up wait for the next call of create, which allocates anyway. [capi:3]
#include <heddle/blocking.hpp>
#include <heddle/sleep.hpp>
#include <heddle/thread.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <utility>

#include "capi/status.hpp"

namespace capi = heddle::capi;

struct heddle_thread {
  void* (*f)(void*);
  void* argument;
  void* result{nullptr};
  bool failed{false};
  // Set by the end of the thread and by detach; the second of the two gives the handle up. A join does not look at it.
  std::atomic<bool> one_is_gone{false};
  heddle_thread* next{nullptr};  // in the list of handles given up
  heddle::thread object;
};

namespace {

std::atomic<heddle_thread*> given_up{nullptr};  // a stack that is only emptied as a whole

// Called by the thread's end and by detach.
void leave(heddle_thread* handle) noexcept {
  if (!handle->one_is_gone.exchange(true)) return;
  handle->next = given_up.load();
  while (!given_up.compare_exchange_weak(handle->next, handle)) {
  }
}

void free_given_up() noexcept {
  if (given_up.load() == nullptr) return;
  for (heddle_thread* handle = given_up.exchange(nullptr); handle != nullptr;)
    delete std::exchange(handle, handle->next);
}

heddle::thread_options from(const heddle_thread_options* options) {
  heddle::thread_options o;
  if (options == nullptr) return o;
  o.stack_size = options->stack_size;
  o.name = options->name;
  o.preemption = capi::from(options->preemption);
  o.tls = capi::from(options->tls);
  o.priority = heddle::priority{options->priority};
  if (options->runtime != nullptr) o.where = &options->runtime->object;
  if (options->pinned == 0) return o;
  if (options->worker >= heddle::any_worker) throw std::invalid_argument("heddle: no such worker");
  o.worker = static_cast<std::uint16_t>(options->worker);
  return o;
}

}  // namespace

extern "C" {

heddle_status heddle_thread_create(heddle_thread** out, const heddle_thread_options* options, void* (*f)(void*),
                                   void* argument) {
  if (out == nullptr || f == nullptr) return HEDDLE_INVALID;
  return capi::guarded([&] {
    const heddle::thread_options o = from(options);
    free_given_up();
    auto handle = std::make_unique<heddle_thread>();
    handle->f = f;
    handle->argument = argument;
    // The thread may begin before handle->object is assigned, so it must never look at handle->object.
    handle->object = heddle::thread(o, [h = handle.get()] {
      try {
        h->result = h->f(h->argument);
      } catch (...) {
        h->failed = true;
      }
      leave(h);
    });
    *out = handle.release();
    return HEDDLE_OK;
  });
}

heddle_status heddle_thread_join(heddle_thread* thread, void** result) {
  if (thread == nullptr || !thread->object.joinable()) return HEDDLE_INVALID;
  return capi::guarded([&] {
    thread->object.join();  // the thread has left the handle, so it is ours
    const bool failed = thread->failed;
    if (result != nullptr) *result = thread->result;
    delete thread;
    return failed ? HEDDLE_FAILED : HEDDLE_OK;
  });
}

heddle_status heddle_thread_detach(heddle_thread* thread) {
  if (thread == nullptr || !thread->object.joinable()) return HEDDLE_INVALID;
  return capi::guarded([&] {
    thread->object.detach();
    leave(thread);
    return HEDDLE_OK;
  });
}

heddle_status heddle_run(const heddle_thread_options* options, heddle_function f, void* argument) {
  if (f == nullptr) return HEDDLE_INVALID;
  return capi::guarded([&] {
    heddle::run(from(options), [&] { capi::call(f, argument); });
    return HEDDLE_OK;
  });
}

uint64_t heddle_thread_id(void) { return heddle::this_thread::id(); }

void heddle_yield(void) { heddle::this_thread::yield(); }

void heddle_sleep(uint64_t time) { heddle::this_thread::sleep_for(capi::span(time)); }

heddle_status heddle_blocking(heddle_function f, void* argument) {
  if (f == nullptr) return HEDDLE_INVALID;
  return capi::guarded([&] {
    heddle::blocking([&] { capi::call(f, argument); });
    return HEDDLE_OK;
  });
}

}  // extern "C"
