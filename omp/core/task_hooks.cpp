#include "omp/core/task_hooks.hpp"

// Weak: omp/core/task*.cpp has the true ones.
namespace heddle::omp::tasks {

[[gnu::weak]] bool may_find(thread&) noexcept { return false; }
[[gnu::weak]] bool run_one(thread&) { return false; }
[[gnu::weak]] bool unfinished(team&) noexcept { return false; }
[[gnu::weak]] void begin_reductions(thread&, std::uintptr_t*, void*&) {}
[[gnu::weak]] void end_reductions(thread&) {}
[[gnu::weak]] bool cancel_group(thread&) noexcept { return false; }
[[gnu::weak]] bool group_is_cancelled(thread&) noexcept { return false; }

}  // namespace heddle::omp::tasks
