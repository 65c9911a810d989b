// Entry points of the GNU ABI: task reductions.
#include "omp/core/tasks/task_reduction.hpp"
#include "omp/core/tasks/taskwait.hpp"

HEDDLE_OMP_ENTRY void GOMP_barrier();

namespace heddle::omp {

HEDDLE_OMP_ENTRY void GOMP_taskgroup_reduction_register(std::uintptr_t* words) {
  thread& self = thread::current();
  task_group& group = *self.running->group;
  register_words(words, group.reduction_words, nullptr, self.in->size);
  group.reduction_words = words;
}

HEDDLE_OMP_ENTRY void GOMP_taskgroup_reduction_unregister(std::uintptr_t* words) { unregister_words(words, true); }

HEDDLE_OMP_ENTRY void GOMP_task_reduction_remap(std::size_t count, std::size_t originals, void** pointers) {
  const thread& self = thread::current();
  remap_words(self.running->group, self.number, count, originals, pointers);
}

HEDDLE_OMP_ENTRY void GOMP_workshare_task_reduction_unregister(bool cancelled) {
  thread& self = thread::current();
  std::uintptr_t* const words = self.running->group->reduction_words;
  end_group(self);
  unregister_words(words, self.number == 0);
  if (!cancelled) GOMP_barrier();
}

}  // namespace heddle::omp
