// blocking(): the worker leaves its carrier and its thread to a blocking call. Protocol: README.md, "Blocking calls".
#include <heddle/blocking.hpp>

#include "worker/runtime.hpp"
#include "worker/worker.hpp"

namespace heddle::detail {

blocking_state begin_blocking() noexcept {
  worker::worker* w = worker::worker::current();
  if (w == nullptr) return {};
  blocking_state state{w->current_thread(), w->by};
  if (!w->home.lend_worker(*w)) return {};
  return state;  // on no worker from here on
}

void end_blocking(const blocking_state& state) noexcept {
  auto& self = *static_cast<worker::thread*>(state.thread);
  self.home->return_from_blocking(self, *static_cast<worker::carrier*>(state.carrier));
}

}  // namespace heddle::detail
