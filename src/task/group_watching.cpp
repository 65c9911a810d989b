#include "task/group_watching.hpp"

#include "trace/emit.hpp"
#include "worker/preemption/section.hpp"
#include "worker/worker.hpp"

namespace heddle::detail {

void open_group(group_state& group) noexcept {
  const worker::section inside;
  worker::worker& w = worker::worker::current();
  // The caller was a preemptive thread, whose queue always says that groups are watched.
  if (!w.watches_groups) return;
  group.open = true;
  trace::emit<trace::event::group_begin>(w.ring, trace_id(group), group.work, group.bytes);
  if (!w.home.host().wants().groups) return;  // only the trace watches groups
  group.policy_data = nullptr;
  group.index.store(0, std::memory_order_relaxed);  // relaxed: there is no child yet
  if (w.home.host().wants().elapsed) group.opened_at = platform::cycles();
  policy::group_info info = info_of(group, w, 0);
  w.home.host().scheduler_policy().group_begin(w.rank, info);
  group.policy_data = info.data;
}

void close_group(group_state& group) noexcept {
  const worker::section inside;
  worker::worker& w = worker::worker::current();
  group.open = false;
  trace::emit<trace::event::group_end>(w.ring, trace_id(group));
  if (!w.home.host().wants().groups) return;
  policy::group_info info = info_of(group, w, elapsed_in(group, w));
  group.policy_data = nullptr;
  group.expected = 0;
  const policy::placement where = w.home.host().scheduler_policy().group_end(w.rank, info);
  if (where == policy::placement::send) w.home.host().place_running();
}

}  // namespace heddle::detail
