#include "omp/ompt/sync.hpp"

#include "omp/core/tasks/placing.hpp"
#include "omp/ompt/callbacks.hpp"
#include "omp/ompt/recording.hpp"
#include "omp/ompt/records.hpp"
#include "omp/ompt/work.hpp"

namespace heddle::omp::ompt {

namespace {

// The events of one synchronisation of the running task. Both ends of the wait are told even if there was nothing to
// wait for.
class region {
 public:
  region(thread& self, ompt_sync_region_t kind, const void* code) noexcept : self_(self), kind_(kind), code_(code) {
    if (kind == ompt_sync_region_taskwait) {
      recorded_as_ = recording::wait::children;
      object_ = self.running;
    } else if (kind == ompt_sync_region_taskgroup) {
      recorded_as_ = recording::wait::group;
      object_ = self.running->group;
    } else {
      recorded_as_ = recording::wait::barrier;
      object_ = self.in;
    }
  }
  void begins() const { tell_to<ompt_callback_sync_region>(ompt_scope_begin); }
  void wait_begins() const {
    tell_to<ompt_callback_sync_region_wait>(ompt_scope_begin);
    recording::wait_begins(self_, recorded_as_, object_);
  }
  void wait_ends() const {
    recording::wait_ends(self_, recorded_as_, object_);
    tell_to<ompt_callback_sync_region_wait>(ompt_scope_end);
  }
  void ends() const { tell_to<ompt_callback_sync_region>(ompt_scope_end); }

 private:
  template <ompt_callbacks_t Event>
  void tell_to(ompt_scope_endpoint_t endpoint) const {
    tell<Event>(kind_, endpoint, region_of(self_), data_of(*self_.running), code_);
  }
  thread& self_;
  ompt_sync_region_t kind_;
  const void* code_;
  recording::wait recorded_as_;
  const void* object_;
};

int state_in(ompt_sync_region_t kind) noexcept {
  switch (kind) {
    case ompt_sync_region_barrier_explicit: return ompt_state_wait_barrier_explicit;
    case ompt_sync_region_barrier_implicit_workshare: return ompt_state_wait_barrier_implicit_workshare;
    case ompt_sync_region_taskwait: return ompt_state_wait_taskwait;
    case ompt_sync_region_taskgroup: return ompt_state_wait_taskgroup;
    default: return ompt_state_wait_barrier_implementation;
  }
}

template <class Wait>
auto synchronise(thread& self, ompt_sync_region_t kind, const void* code, bool begins, Wait wait) {
  const inside here(self);
  const in_state waiting(self, state_in(kind));
  const region r(self, kind, code);
  if (begins) r.begins();
  r.wait_begins();
  if (placing::on()) placing::children_wait(self);
  const auto result = wait();
  if (placing::on()) placing::children_go_on(self);
  r.wait_ends();
  r.ends();
  return result;
}

}  // namespace

bool tell_barrier(thread& self, ompt_sync_region_t kind, const void* code, bool cancellable) {
  end_gnu_single(self);
  loop_ends(self, code);
  return synchronise(self, kind, code, true, [&] { return wait_at_barrier(self, cancellable); });
}

void tell_taskwait(thread& self, const void* code) {
  synchronise(self, ompt_sync_region_taskwait, code, true, [&] {
    taskwait(self);
    return 0;
  });
}

void tell_group_begin(thread& self, const void* code) {
  const inside here(self);
  begin_group(self);
  recording::group_begins(self, self.running->group);
  region(self, ompt_sync_region_taskgroup, code).begins();
}

void tell_group_end(thread& self, const void* code) {
  const task_group* const group = self.running->group;
  synchronise(self, ompt_sync_region_taskgroup, code, false, [&] {
    end_group(self);
    return 0;
  });
  recording::group_ends(self, group);
}

void tell_taskyield(thread& self) {
  const inside here(self);
  self.tool.yields = true;
  taskyield(self);
  self.tool.yields = false;
}

void tell_reduction(thread& self, ompt_scope_endpoint_t endpoint, const void* code) {
  const inside here(self);
  self.tool.state = endpoint == ompt_scope_begin ? int{ompt_state_work_reduction} : usual_state(self);
  tell<ompt_callback_reduction>(ompt_sync_region_reduction, endpoint, region_of(self), data_of(*self.running), code);
}

void tell_flush(thread& self, const void* code) {
  const inside here(self);
  tell<ompt_callback_flush>(&self.tool.data, code);
}

}  // namespace heddle::omp::ompt
