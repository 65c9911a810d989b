// The callbacks of the tool.
#pragma once

#include <atomic>

#include "omp/ompt/state.hpp"

namespace heddle::omp::ompt {

inline constexpr int last_event = ompt_callback_error;

// The callbacks by the numbers of their events; null if not asked for. Written by the tool at any time, from any
// thread.
inline constinit std::atomic<ompt_callback_t> callbacks[last_event + 1]{};

template <ompt_callbacks_t Event>
struct callback_of;
#define HEDDLE_OMPT_EVENT(event, form, result) \
  template <>                                  \
  struct callback_of<ompt_callback_##event> {  \
    using type = ompt_callback_##form##_t;     \
  };
#include "omp/ompt/events.def"
#undef HEDDLE_OMPT_EVENT

template <ompt_callbacks_t Event>
typename callback_of<Event>::type callback() noexcept {
  // acquire pairs with set_callback: makes visible what the tool did before it asked for the event
  return reinterpret_cast<typename callback_of<Event>::type>(callbacks[Event].load(std::memory_order_acquire));
}

// Calls the tool, if it has asked for that event.
template <ompt_callbacks_t Event, class... Arguments>
void tell(Arguments... arguments) {
  if (const auto call = callback<Event>()) call(arguments...);
}

ompt_set_result_t set_callback(ompt_callbacks_t event, ompt_callback_t call);
int get_callback(ompt_callbacks_t event, ompt_callback_t* call);
void forget_callbacks() noexcept;

}  // namespace heddle::omp::ompt
