// State of the process that a child of fork() begins anew.
#pragma once

#include <pthread.h>

#include <new>

namespace heddle::omp {

// A `T` that is there before any constructor runs and is never destroyed, because constructors and destructors of
// static objects use it, too. It has no guard of the compiler's, which a child of fork() could find taken for ever.
template <class T>
union kept {
  T object;
  constexpr kept() noexcept : object() {}
  ~kept() {}

  // In the child of fork(), before anybody uses it there: a thread that was inside at the fork does not exist in the
  // child, so its locks would never be given back. What the object referred to stays in memory.
  void forget() noexcept { new (&object) T; }
};

// `const bool told = forget_in_children<object>();` beside the object. Returns false if the system refuses.
template <auto& object>
bool forget_in_children() noexcept {
  return pthread_atfork(nullptr, nullptr, [] { object.forget(); }) == 0;
}

}  // namespace heddle::omp
