#include "omp/ompt/callbacks.hpp"

namespace heddle::omp::ompt {

namespace {

ompt_set_result_t support_of(ompt_callbacks_t event) noexcept {
  switch (event) {
#define HEDDLE_OMPT_EVENT(name, form, result) \
  case ompt_callback_##name: return ompt_set_##result;
#include "omp/ompt/events.def"
#undef HEDDLE_OMPT_EVENT
    default: return ompt_set_error;
  }
}

}  // namespace

ompt_set_result_t set_callback(ompt_callbacks_t event, ompt_callback_t call) {
  const ompt_set_result_t support = support_of(event);
  if (support != ompt_set_error) callbacks[event].store(call, std::memory_order_release);  // pairs with callback
  return support;
}

int get_callback(ompt_callbacks_t event, ompt_callback_t* call) {
  if (support_of(event) == ompt_set_error) return 0;
  const ompt_callback_t now = callbacks[event].load();
  if (now == nullptr) return 0;
  if (call != nullptr) *call = now;
  return 1;
}

void forget_callbacks() noexcept {
  for (std::atomic<ompt_callback_t>& c : callbacks) c.store(nullptr);
}

}  // namespace heddle::omp::ompt
