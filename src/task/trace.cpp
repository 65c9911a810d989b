// The annotations of <heddle/trace.hpp>, out of line.
#include <heddle/trace.hpp>

#include "worker/runtime.hpp"
#include "worker/section.hpp"
#include "worker/worker.hpp"

namespace heddle::trace::detail {

constinit std::atomic<int> recording_runtimes{0};

namespace {

// The ring of the calling worker; null on a foreign thread and where nothing is traced.
ring* here() noexcept {
  worker::worker* w = worker::worker::current();
  return w != nullptr ? w->ring : nullptr;
}

// Numbers of the names used last, of this kernel thread: recorder::text locks and compares. The functions here do not switch,
// so that the thread stays the same within each.
struct known_name {
  std::uint64_t recorder;
  const char* name;
  std::uint32_t number;
};
constinit thread_local known_name known[4] __attribute__((tls_model("initial-exec"))) = {};  // no malloc at the first access

std::uint32_t number_of(const char* name) noexcept {
  recorder& to = *worker::worker::current()->home.recorder();
  known_name& slot = known[(reinterpret_cast<std::uintptr_t>(name) >> 3) % std::size(known)];
  if (slot.recorder != to.serial() || slot.name != name) slot = {to.serial(), name, to.text(name)};
  return slot.number;
}

}  // namespace

void note_region_begin(const char* name) noexcept {
  const worker::section inside;
  if (ring* to = here(); to != nullptr) emit<event::region_begin>(to, number_of(name));
}

void note_region_end() noexcept {
  const worker::section inside;
  emit<event::region_end>(here());
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
