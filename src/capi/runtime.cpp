#include "capi/status.hpp"

namespace capi = heddle::capi;

extern "C" {

const char* heddle_strerror(heddle_status status) {
  switch (status) {
    case HEDDLE_OK: return "success";
    case HEDDLE_INVALID: return "an argument is null or out of range";
    case HEDDLE_NO_MEMORY: return "not enough memory";
    case HEDDLE_NO_THREAD: return "no kernel thread or no stack for a thread can be had";
    case HEDDLE_TIMED_OUT: return "the time limit passed";
    case HEDDLE_BUSY: return "not possible without waiting";
    case HEDDLE_NOT_OWNER: return "the calling thread may not do this";
    case HEDDLE_FAILED: return "a callback ended by a C++ exception";
    case HEDDLE_UNSUPPORTED: return "not to be had on this machine, with this C library or in this build";
  }
  return "not a status of heddle";
}

const char* heddle_version(void) { return HEDDLE_VERSION_STRING; }

heddle_status heddle_runtime_create(heddle_runtime** out, const heddle_runtime_options* options) {
  if (out == nullptr) return HEDDLE_INVALID;
  return capi::guarded([&] {
    heddle::runtime_options o;
    if (options != nullptr) {
      if (options->workers != 0) o.workers = options->workers;
      if (options->policy != nullptr) o.policy = options->policy;
      if (options->stack_size != 0) o.stack_size = options->stack_size;
      if (options->preemption != HEDDLE_PREEMPTION_DEFAULT) o.preempt = capi::from(options->preemption);
      if (options->tls != HEDDLE_TLS_DEFAULT) o.preempt_tls = capi::from(options->tls);
      if (options->preempt_interval != 0) o.preempt_interval = capi::span(options->preempt_interval);
      if (options->preempt_timer != nullptr) o.preempt_timer = options->preempt_timer;
      if (options->priority_mode != nullptr) o.priority_mode = capi::mode_named(options->priority_mode);
      if (options->priority_aging != 0) o.priority_aging = options->priority_aging;
      if (options->packing != nullptr) o.packing = options->packing;
    }
    *out = new heddle_runtime{heddle::runtime(o)};
    return HEDDLE_OK;
  });
}

heddle_status heddle_runtime_destroy(heddle_runtime* runtime) {
  if (runtime == nullptr) return HEDDLE_INVALID;
  if (runtime->object.is_current()) return HEDDLE_NOT_OWNER;
  return capi::destroy(runtime);
}

heddle_status heddle_runtime_run(heddle_runtime* runtime, heddle_function f, void* argument) {
  if (f == nullptr) return HEDDLE_INVALID;
  return capi::guarded([&] {
    capi::of(runtime).run([&] { capi::call(f, argument); });
    return HEDDLE_OK;
  });
}

unsigned heddle_runtime_workers(heddle_runtime* runtime) {
  unsigned workers = 0;
  capi::guarded([&] {
    workers = capi::of(runtime).workers();
    return HEDDLE_OK;
  });
  return workers;
}

heddle_status heddle_runtime_set_active_workers(heddle_runtime* runtime, unsigned n) {
  return capi::guarded([&] {
    capi::of(runtime).set_active_workers(n);
    return HEDDLE_OK;
  });
}

unsigned heddle_runtime_active_workers(heddle_runtime* runtime) {
  unsigned workers = 0;
  capi::guarded([&] {
    workers = capi::of(runtime).active_workers();
    return HEDDLE_OK;
  });
  return workers;
}

int heddle_runtime_worker_rank(heddle_runtime* runtime) {
  int rank = -1;
  capi::guarded([&] {
    rank = capi::of(runtime).worker_rank();
    return HEDDLE_OK;
  });
  return rank;
}

}  // extern "C"
