// The annotations of <heddle/trace.hpp>, out of line, and events that another library writes.
#include <heddle/detail/trace_lane.hpp>
#include <heddle/runtime.hpp>
#include <heddle/trace.hpp>

#include "platform/platform.hpp"
#include "worker/preemption/section.hpp"
#include "worker/runtime.hpp"
#include "worker/worker.hpp"

namespace heddle::trace::detail {

namespace {

// Returns the ring of the calling worker, or null on a foreign thread and if nothing is traced.
ring* here() noexcept {
  worker::worker* w = worker::worker::current_or_null();
  return w != nullptr ? w->ring : nullptr;
}

// The functions here do not switch, so the kernel thread stays the same within each.
std::uint32_t number_of(const char* name) noexcept {
  return worker::tracing::number_of(*worker::worker::current().home.recorder(), name);
}

}  // namespace

void note_region_begin(const char* name) noexcept {
  const worker::section inside;
  if (worker::worker::current_or_null() != nullptr) {
    if (ring* to = here(); to != nullptr) emit<event::region_begin>(to, number_of(name));
    return;
  }
  recorder& to = worker::tracing::outside();
  emit<event::outside_begin>(to.foreign(), worker::tracing::number_of(to, name), platform::kernel_thread_id());
}

void note_region_end() noexcept {
  const worker::section inside;
  if (worker::worker::current_or_null() != nullptr) return emit<event::region_end>(here());
  emit<event::outside_end>(worker::tracing::outside().foreign(), platform::kernel_thread_id());
}

void note_piece(const char* grid, std::uint64_t low, std::uint64_t high) noexcept {
  const worker::section inside;
  if (ring* to = here(); to != nullptr) emit<event::piece>(to, number_of(grid), low, high);
}

void note_tree_piece(const char* tree, std::uint64_t range, std::uint64_t depth) noexcept {
  const worker::section inside;
  if (ring* to = here(); to != nullptr) emit<event::tree_piece>(to, number_of(tree), range, depth);
}

}  // namespace heddle::trace::detail

namespace heddle::trace {

unsigned flush() { return worker::tracing::save_all(); }

}  // namespace heddle::trace

namespace heddle::detail {

namespace {

trace::ring* ring_of(trace_lane* lane) noexcept {
  if (lane != nullptr) return reinterpret_cast<trace::ring*>(lane);
  worker::worker* w = worker::worker::current_or_null();
  return w != nullptr ? w->ring : nullptr;
}

}  // namespace

trace_lane* open_trace_lane() noexcept {
  worker::runtime& home = heddle::runtime::current().core();
  if (home.recorder() == nullptr) return nullptr;
  trace::ring* const lane = home.recorder()->add_lane();
  if (lane == nullptr) return nullptr;
  // Thread ids are counted from 1, so no thread of the runtime has this one.
  const std::uint64_t thread = std::uint64_t{1} << 48 | lane->worker();
  trace::emit<trace::event::worker_start>(lane, platform::kernel_thread_id());
  trace::emit<trace::event::thread_create>(lane, thread, 0u);
  trace::emit<trace::event::thread_switch_in>(lane, thread);
  return reinterpret_cast<trace_lane*>(lane);
}

unsigned write_to_trace(trace_lane* lane, unsigned event, std::uint32_t arg, std::uint64_t a,
                        std::uint64_t b) noexcept {
  const worker::section inside;
  trace::ring* const to = ring_of(lane);
  if (to == nullptr) return no_lane;
  to->write(static_cast<trace::event>(event), arg, a, b);
  return to->worker();
}

void write_steal_to_trace(trace_lane* lane, unsigned victim, std::uint64_t task) noexcept {
  const worker::section inside;
  trace::ring* const to = ring_of(lane);
  if (to == nullptr) return;
  worker::worker* const w = lane == nullptr ? worker::worker::current_or_null() : nullptr;
  const bool both_work = w != nullptr && victim < w->home.workers();
  trace::emit<trace::event::steal_attempt>(to, victim);
  trace::emit<trace::event::steal_success>(to, victim, both_work ? w->home.host().distance(w->rank, victim) : 1u, task);
}

}  // namespace heddle::detail
