// Unwinds the stacks of contexts that do not run, exactly. The unwinder is called on the suspended stack itself, below
// its last frame, where the tables that describe heddle_switch apply.
#include <unwind.h>

#include "arch/arch.hpp"
#include "platform/platform.hpp"

namespace heddle::platform {

namespace {

struct walk {
  const void** into;
  std::size_t most, found;
  void* looker;  // the caller's stack pointer
  int skip;      // frames of this file
};

_Unwind_Reason_Code step(_Unwind_Context* context, void* argument) {
  walk& w = *static_cast<walk*>(argument);
  if (w.skip > 0) return --w.skip, _URC_NO_REASON;
  const auto address = _Unwind_GetIP(context);
  if (address == 0 || w.found == w.most) return _URC_END_OF_STACK;
  w.into[w.found++] = reinterpret_cast<const void*>(address);
  return _URC_NO_REASON;
}

}  // namespace

std::size_t unwind(void* stack_pointer, const void** into, std::size_t most) noexcept {
  walk w{into, most, 0, nullptr, 0};
  if (stack_pointer == nullptr) {
    w.skip = 1;
    _Unwind_Backtrace(step, &w);
    return w.found;
  }
  // Frames 0 and 1 are the function below and heddle_switch.
  w.skip = 2;
  heddle_switch(
      &w.looker, stack_pointer,
      [](void* argument, void*) {
        walk& mine = *static_cast<walk*>(argument);
        _Unwind_Backtrace(step, &mine);
        void* gone = nullptr;  // the context goes on from where it was, not from here
        heddle_switch(&gone, mine.looker, [](void*, void*) {}, nullptr, nullptr);
      },
      &w, nullptr);
  return w.found;
}

}  // namespace heddle::platform
