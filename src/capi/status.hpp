// Exceptions and null pointers as status codes: the outer layer of every function of heddle.h.
#pragma once

#include <chrono>
#include <new>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

#include <heddle/heddle.h>
#include <heddle/preemption.hpp>
#include <heddle/runtime.hpp>

struct heddle_runtime {
  heddle::runtime object;
};

namespace heddle::capi {

// Returns the result of f(), or the status of its exception.
template <class F>
heddle_status guarded(F&& f) noexcept {
  try {
    return f();
  } catch (const std::bad_alloc&) {
    return HEDDLE_NO_MEMORY;
  } catch (const std::invalid_argument&) {
    return HEDDLE_INVALID;
  } catch (const std::system_error& e) {
    return e.code() == std::errc::not_supported ? HEDDLE_UNSUPPORTED : HEDDLE_NO_THREAD;
  } catch (...) {
    return HEDDLE_FAILED;
  }
}

// Says that a callback ended by an exception of its own, which may look like one of heddle's.
struct callback_failed {};

template <class F, class... Args>
void call(F f, Args... args) {
  try {
    f(args...);
  } catch (...) {
    throw callback_failed();
  }
}

// Makes *out. The constructor arguments are those of the object.
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

// Calls f(object->object) if there is an object. A bool result tells success from `otherwise`.
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

// A time of 292 years or more means for ever.
inline std::chrono::nanoseconds span(std::uint64_t time) noexcept {
  const auto most = static_cast<std::uint64_t>(std::chrono::nanoseconds::max().count());
  return std::chrono::nanoseconds(static_cast<std::chrono::nanoseconds::rep>(time < most ? time : most));
}

// Throw std::invalid_argument for a number that has no name in the header.
inline preemption from(heddle_preemption how) {
  switch (how) {
    case HEDDLE_PREEMPTION_DEFAULT: return preemption::as_runtime;
    case HEDDLE_PREEMPTION_NONE: return preemption::none;
    case HEDDLE_PREEMPTION_SIGNAL_YIELD: return preemption::signal_yield;
    case HEDDLE_PREEMPTION_KLT_SWITCHING: return preemption::klt_switching;
  }
  throw std::invalid_argument("heddle: no such preemption");
}
inline tls from(heddle_tls whose) {
  switch (whose) {
    case HEDDLE_TLS_DEFAULT: return tls::as_runtime;
    case HEDDLE_TLS_CARRIER: return tls::carrier;
    case HEDDLE_TLS_OWN: return tls::own;
    case HEDDLE_TLS_CALLER: return tls::caller;
  }
  throw std::invalid_argument("heddle: no such thread-local storage");
}

inline priority_mode mode_named(std::string_view name) {
  if (name == "aging") return priority_mode::aging;
  if (name == "strict") return priority_mode::strict;
  throw std::invalid_argument("heddle: no such mode of priorities");
}

inline runtime& of(heddle_runtime* handle) { return handle != nullptr ? handle->object : runtime::current(); }

}  // namespace heddle::capi
