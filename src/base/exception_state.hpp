// The exceptions that a context is handling or throwing. The context takes them along if it is switched away from in
// the middle of that (a catch block that waits).
#pragma once

#include <cxxabi.h>

namespace heddle::base {

// The C++ runtime's record of them for each kernel thread (Itanium C++ ABI, 2.2.2: __cxa_eh_globals). Code that
// switches contexts leaves it empty for the next context, and gives it back on the kernel thread where the context goes
// on, which may be another one.
struct exception_state {
  void* caught{nullptr};
  unsigned uncaught{0};

  bool any() const noexcept { return caught != nullptr || uncaught != 0; }

  // Returns the record of the calling kernel thread, which is the same object as long as the kernel thread lives.
  static exception_state& of_this_kernel_thread() noexcept {
    return *reinterpret_cast<exception_state*>(abi::__cxa_get_globals());
  }

  // Returns the record's contents and leaves it empty.
  [[nodiscard]] exception_state leave() noexcept {
    const exception_state mine = *this;
    if (mine.any()) [[unlikely]]
      *this = {};
    return mine;
  }
  // Restores what leave() has returned, on the same or another kernel thread. The record must be empty.
  void take_back(const exception_state& left) noexcept {
    if (left.any()) [[unlikely]]
      *this = left;
  }
};

}  // namespace heddle::base
