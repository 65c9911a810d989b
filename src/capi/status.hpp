// Exceptions and null pointers as status codes: the outer edge of every function of heddle.h.
#pragma once

#include <chrono>
#include <new>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <heddle/heddle.h>
#include <heddle/runtime.hpp>

struct heddle_runtime {
  heddle::runtime object;
};

namespace heddle::capi {

// What f() returns, or the status of its exception.
template <class F>
heddle_status guarded(F&& f) noexcept {
  try {
    return f();
  } catch (const std::bad_alloc&) {
    return HEDDLE_NO_MEMORY;
  } catch (const std::invalid_argument&) {
    return HEDDLE_INVALID;
  } catch (const std::system_error&) {
    return HEDDLE_NO_THREAD;
  } catch (...) {
    return HEDDLE_FAILED;
  }
}

// A callback ended by an exception of its own, which may look like one of heddle's.
struct callback_failed {};

template <class F, class... Args>
void call(F f, Args... args) {
  try {
    f(args...);
  } catch (...) {
    throw callback_failed();
  }
}

// Makes *out; the constructor arguments are the object's.
template <class T, class... Args>
heddle_status make(T** out, Args&&... args) noexcept {
  if (out == nullptr) return HEDDLE_INVALID;
  return guarded([&] {
    *out = new T(std::forward<Args>(args)...);
    return HEDDLE_OK;
  });
}

template <class T>
heddle_status destroy(T* object) noexcept {
  if (object == nullptr) return HEDDLE_INVALID;
  delete object;
  return HEDDLE_OK;
}

// f(object->object) when there is one; a bool result tells success from `otherwise`.
template <class T, class F>
heddle_status with(T* object, heddle_status otherwise, F&& f) noexcept {
  if (object == nullptr) return HEDDLE_INVALID;
  return guarded([&] { return f(object->object) ? HEDDLE_OK : otherwise; });
}
template <class T, class F>
heddle_status with(T* object, F&& f) noexcept {
  if (object == nullptr) return HEDDLE_INVALID;
  return guarded([&] {
    f(object->object);
    return HEDDLE_OK;
  });
}

// 292 years and more are for ever.
inline std::chrono::nanoseconds span(std::uint64_t time) noexcept {
  const auto most = static_cast<std::uint64_t>(std::chrono::nanoseconds::max().count());
  return std::chrono::nanoseconds(static_cast<std::chrono::nanoseconds::rep>(time < most ? time : most));
}

inline runtime& of(heddle_runtime* handle) { return handle != nullptr ? handle->object : runtime::current(); }

}  // namespace heddle::capi
