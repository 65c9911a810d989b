#include "worker/carrier.hpp"

#include <new>

#include "base/contracts.hpp"
#include "worker/runtime.hpp"

namespace heddle::worker {

void runtime::carry(void* argument) {
  auto& self = *static_cast<carrier*>(argument);
  platform::use_alternate_stack();
  fiber::describe_native_stack(self.native);
  for (;;) {
    std::uint32_t signal;
    // acquire pairs with the assigning kernel thread: `assigned`
    while ((signal = self.signal.load(std::memory_order_acquire)) == 0) platform::wait_on(self.signal, 0);
    if (signal == 2) return;
    self.signal.store(0);
    worker& w = *self.assigned;
    heddle_current_queue = &w;
    platform::bind_self(w.processing_unit);
    trace::emit<trace::event::worker_start>(w.ring, self.kernel.handle);
    w.run(self);
    heddle_current_queue = &worker::foreign_queue;
    if (w.by == &self) return;  // the runtime stops
    // The worker went to another carrier; the thread that kept this one has left it in return_from_blocking, which made
    // it a spare.
  }
}

carrier* runtime::make_carrier() noexcept {
  auto* c = new (std::nothrow) carrier(*this);
  if (c == nullptr) return nullptr;
  if (platform::start(c->kernel, carry, c, "heddle") != 0) {
    delete c;
    return nullptr;
  }
  std::lock_guard hold(carrier_mutex_);
  c->next_all = carriers_;
  carriers_ = c;
  return c;
}

carrier* runtime::take_spare() noexcept {
  {
    std::lock_guard hold(carrier_mutex_);
    if (spares_ != nullptr) {
      carrier* c = spares_;
      spares_ = c->next_spare;
      return c;
    }
  }
  return make_carrier();
}

bool runtime::lend_worker(worker& w) noexcept {
  carrier* old = w.by;
  carrier* fresh = take_spare();
  if (fresh == nullptr) return false;
  trace::emit<trace::event::blocking_begin>(w.ring, w.running->id);
  old->assigned = nullptr;
  heddle_current_queue = &worker::foreign_queue;
  w.running = nullptr;
  w.by = fresh;
  fresh->assigned = &w;
  fresh->signal.store(1, std::memory_order_release);  // pairs with carry: everything of the worker
  platform::wake_one(fresh->signal);
  return true;
}

namespace {


}  // namespace

void runtime::return_from_blocking(thread& self, carrier& c) noexcept {
  fiber::before_switch(&self, nullptr, c.native, false);
  // On the carrier's own stack: first a spare again, then the thread may go on elsewhere.
  heddle_switch(&self.stack_pointer, c.stack_pointer, [](void* a, void* b) {
    auto& back = *static_cast<carrier*>(b);
    fiber::after_switch(nullptr, back.native);
    runtime& home = back.home;
    {
      std::lock_guard hold(home.carrier_mutex_);
      back.next_spare = home.spares_;
      home.spares_ = &back;
    }
    home.submit(*static_cast<thread*>(a));
  }, &self, &c);
}

}  // namespace heddle::worker
