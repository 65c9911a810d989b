// The switch of a worker from one thread to another: the second of its layers (worker.hpp). The caller of a switch says
// where it goes; the layer above chooses what runs next.
#pragma once

#include "arch/arch.hpp"
#include "fiber/preemptible.hpp"
#include "fiber/sanitizer.hpp"
#include "fiber/thread.hpp"
#include "worker/block_cache.hpp"
#include "worker/child_blocks.hpp"
#include "worker/worker_state.hpp"

namespace heddle::worker {

class worker_switching : public worker_state {
 public:
  worker_switching(runtime& home, unsigned rank, int processing_unit, std::uint64_t seed);

  // Leaves `self` (suspended or finished) for a thread that the caller has chosen and owns. `after(a, b)` runs when
  // self's context is complete. The same to the run loop.
  void switch_to(thread& self, thread& next, void (*after)(void*, void*), void* a, void* b) noexcept;
  void switch_to_run_loop(thread& self, void (*after)(void*, void*), void* a, void* b) noexcept;
  // Switches from the carrier's stack into a thread; returns when a thread leaves for the run loop.
  void dive(thread& next) noexcept;

  // Child first: runs body(child) on `stack_top` of the child's stack. after(self) runs there first, when self can be
  // resumed. Returns when body has returned to us (came_back) or when another worker has resumed self.
  void spawn(thread& self, thread& child, void* stack_top, void (*after)(thread*), void (*body)(thread*)) noexcept;
  // The last act of a child whose spawner nobody else has: its body returns right after.
  void came_back(thread& child, thread& spawner) noexcept;

  // The end of a thread: the last call of its body, before it returns. Then `after(self, b)` runs on another stack, and
  // `next` goes on, or, if that is null, the run loop.
  void depart(thread& self, thread* next, void (*after)(void*, void*), void* b = nullptr) noexcept;
  arch::departure* departing(thread& self) noexcept;

  thread* current_thread() const noexcept { return static_cast<thread*>(running); }

  // For AddressSanitizer: handed to the far side of a switch, it says what must happen there before the new context
  // goes on.
  struct crossing {
    thread* to;
    fiber::native_stack* native;
    void (*after)(void*, void*);
    void* a;
    void* b;
  };

 protected:
  template <bool Watched = true>
  void cross(thread* from, thread* to, void (*after)(void*, void*), void* a, void* b, bool last) noexcept;

 private:
  [[gnu::noinline]] void switch_watched(thread& self, thread& next, void (*after)(void*, void*), void* a,
                                        void* b) noexcept;
  // For switches that are watched. Called before the switch happens: for the trace, and for the meter.
  [[gnu::noinline]] void note_switch(thread* from, thread* to) noexcept;
  [[gnu::noinline]] void note_spawn(thread& self, thread& child) noexcept;
  [[gnu::noinline]] void note_return(thread& child, thread& parent) noexcept;
  [[gnu::noinline]] void note_departure(thread& self, thread* to) noexcept;
  void charge_switch(thread* to) const noexcept;

  arch::departure departure_{};
  thread* departing_to_{nullptr};
#if defined(HEDDLE_ASAN)
  crossing asan_crossing_{};
#endif

 public:
  // At the beginning of a cache line; the members after it are in the line of its last fields.
  [[no_unique_address]] block_cache blocks;
  child_blocks children;
};

}  // namespace heddle::worker
