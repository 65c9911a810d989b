// The annotations of <heddle/trace.hpp>, out of line.
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
