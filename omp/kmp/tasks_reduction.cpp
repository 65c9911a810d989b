// Entry points of the LLVM ABI: task reductions.
#include <vector>

#include "omp/core/tasks/task_reduction.hpp"
#include "omp/core/tasks/taskwait.hpp"
#include "omp/kmp/task_layout.hpp"

struct ident;

namespace heddle::omp {

namespace {

using namespace kmp;

std::vector<reduction_item> items_of(const known_reduction* from, std::int32_t count) {
  std::vector<reduction_item> items;
  for (std::int32_t i = 0; i < count; ++i) {
    const known_reduction& d = from[i];
    items.push_back({d.shared, d.original, d.size, d.init, d.fini, d.combine});
  }
  return items;
}

std::vector<reduction_item> items_of(const known_reduction_50* from, std::int32_t count) {
  std::vector<reduction_item> items;
  for (std::int32_t i = 0; i < count; ++i) {
    const known_reduction_50& d = from[i];
    items.push_back({d.shared, nullptr, d.size, d.init, d.fini, d.combine});
  }
  return items;
}

template <class Known>
void* begin(const void* data, std::int32_t count) {
  thread& self = thread::current();
  const auto items = items_of(static_cast<const Known*>(data), count);
  begin_reductions(self, items.data(), items.size());
  return self.running->group;
}

template <class Known>
void* begin_shared(std::int32_t of_work_share, const void* data, std::int32_t count) {
  thread& self = thread::current();
  const auto items = items_of(static_cast<const Known*>(data), count);
  begin_shared_reductions(self, of_work_share != 0, items.data(), items.size());
  return self.running->group;
}

}  // namespace

HEDDLE_OMP_ENTRY void* __kmpc_task_reduction_init(std::int32_t, std::int32_t count, void* data) {
  return begin<known_reduction_50>(data, count);
}

HEDDLE_OMP_ENTRY void* __kmpc_taskred_init(std::int32_t, std::int32_t count, void* data) {
  return begin<known_reduction>(data, count);
}

HEDDLE_OMP_ENTRY void* __kmpc_task_reduction_modifier_init(ident*, std::int32_t, std::int32_t of_work_share,
                                                           std::int32_t count, void* data) {
  return begin_shared<known_reduction_50>(of_work_share, data, count);
}

HEDDLE_OMP_ENTRY void* __kmpc_taskred_modifier_init(ident*, std::int32_t, std::int32_t of_work_share,
                                                    std::int32_t count, void* data) {
  return begin_shared<known_reduction>(of_work_share, data, count);
}

HEDDLE_OMP_ENTRY void __kmpc_task_reduction_modifier_fini(ident*, std::int32_t, std::int32_t) {
  end_shared_reductions(thread::current());
}

HEDDLE_OMP_ENTRY void* __kmpc_task_reduction_get_th_data(std::int32_t, void* group, void* data) {
  void* const copy = private_copy(thread::current(), static_cast<task_group*>(group), data);
  return copy != nullptr ? copy : data;
}

}  // namespace heddle::omp
