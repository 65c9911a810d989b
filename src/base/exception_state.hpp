// The exceptions that are being handled and thrown where a context runs, which it takes along when it is switched away
// from in the middle of that (a catch block that waits).
#pragma once

#include <cxxabi.h>

namespace heddle::base {

// What the C++ runtime keeps of them for each kernel thread (Itanium C++ ABI, 2.2.2: __cxa_eh_globals). Whoever
// switches contexts leaves it empty for the next one, and gives it back on the kernel thread where the context goes on,
// which may be another one.
struct exception_state {
  void* caught{nullptr};
  unsigned uncaught{0};

  bool any() const noexcept { return caught != nullptr || uncaught != 0; }

  // The calling kernel thread's own: the same object as long as it lives.
  static exception_state& of_this_kernel_thread() noexcept {
    return *reinterpret_cast<exception_state*>(abi::__cxa_get_globals());
  }

  // Returns what it holds and leaves it empty.
  [[nodiscard]] exception_state leave() noexcept {
    const exception_state mine = *this;
    if (mine.any()) [[unlikely]]
      *this = {};
    return mine;
  }
  // Takes up what leave() has returned, there or elsewhere. It is empty.
  void take_back(const exception_state& left) noexcept {
    if (left.any()) [[unlikely]]
      *this = left;
  }
};

}  // namespace heddle::base
