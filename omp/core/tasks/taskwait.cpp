#include "omp/core/tasks/taskwait.hpp"

#include "omp/core/tasks/depend.hpp"

namespace heddle::omp {

void wait_for_children(thread& self) {
  task& t = *self.running;
  help_until(self, &t, [&] { return t.unfinished() == 0; }, [&] { t.move_count(); });
  if (t.depends != nullptr) forget_dependences(t);
}

void taskyield(thread& self) {
  if (self.in->tasked.load(std::memory_order_relaxed) && run_one(self, self.running)) return;
  heddle::detail::yield();
}

}  // namespace heddle::omp
