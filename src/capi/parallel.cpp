// Groups, forks and loops of heddle.h.
#include <heddle/iteration.hpp>
#include <heddle/parallel_for.hpp>
#include <heddle/parallel_invoke.hpp>
#include <heddle/task_group.hpp>

#include <atomic>
#include <limits>

#include "capi/status.hpp"

namespace capi = heddle::capi;

namespace {

double hint(double work) noexcept { return work > 0 ? work : std::numeric_limits<double>::quiet_NaN(); }

}  // namespace

struct heddle_group {
  heddle_group(double work, std::size_t bytes) : object(hint(work), bytes) {}
  heddle::task_group object;
  std::atomic<bool> failed{false};  // a child ended by an exception; the next wait reports it

  // Children's exceptions stay in the children, so an exception of wait() is its own: the caller is a child of
  // the group.
  heddle_status wait() noexcept {
    const heddle_status status = heddle::capi::guarded([this] {
      object.wait();
      return HEDDLE_OK;
    });
    if (status != HEDDLE_OK) return HEDDLE_NOT_OWNER;
    return failed.exchange(false) ? HEDDLE_FAILED : HEDDLE_OK;
  }
};

extern "C" {

heddle_status heddle_group_create(heddle_group** out, double work, size_t bytes) {
  return capi::make(out, work, bytes);
}

heddle_status heddle_group_destroy(heddle_group* group) {
  if (group == nullptr) return HEDDLE_INVALID;
  if (group->wait() == HEDDLE_NOT_OWNER) return HEDDLE_NOT_OWNER;
  return capi::destroy(group);
}

heddle_status heddle_group_run(heddle_group* group, heddle_function f, void* argument, double work) {
  if (f == nullptr) return HEDDLE_INVALID;
  return capi::with(group, [&](heddle::task_group& g) {
    g.run(
        [group, f, argument] {
          try {
            f(argument);
          } catch (...) {
            group->failed = true;
            group->object.cancel();
          }
        },
        heddle::child_options{hint(work), reinterpret_cast<const void*>(f)});
  });
}

heddle_status heddle_group_expect(heddle_group* group, unsigned children) {
  return capi::with(group, [children](heddle::task_group& g) { g.expect(children); });
}

void heddle_next_iteration(const void* label) {
  heddle::next_iteration(label != nullptr ? label : __builtin_return_address(0));
}

heddle_status heddle_group_wait(heddle_group* group) { return group == nullptr ? HEDDLE_INVALID : group->wait(); }

heddle_status heddle_group_set_preemption(heddle_group* group, heddle_preemption preemption, heddle_tls tls) {
  return capi::with(group, [&](heddle::task_group& g) { g.preempt(capi::from(preemption), capi::from(tls)); });
}

heddle_status heddle_group_set_priority(heddle_group* group, int priority) {
  return capi::with(group, [&](heddle::task_group& g) { g.priority(heddle::priority{priority}); });
}

heddle_status heddle_group_cancel(heddle_group* group) {
  return capi::with(group, [](heddle::task_group& g) { g.cancel(); });
}

heddle_status heddle_invoke(heddle_function f, void* f_argument, heddle_function g, void* g_argument) {
  if (f == nullptr || g == nullptr) return HEDDLE_INVALID;
  return capi::guarded([&] {
    heddle::parallel_invoke([&] { capi::call(f, f_argument); }, [&] { capi::call(g, g_argument); });
    return HEDDLE_OK;
  });
}

heddle_status heddle_for(int64_t first, int64_t last, uint64_t grain, void (*body)(int64_t, int64_t, void*),
                         void* argument) {
  if (body == nullptr) return HEDDLE_INVALID;
  return capi::guarded([&] {
    heddle::loop_options options;
    if (grain != 0) options.grain = grain;
    heddle::parallel_for_range(
        first, last, [&](int64_t low, int64_t high) { capi::call(body, low, high, argument); }, options);
    return HEDDLE_OK;
  });
}

}  // extern "C"
