#include "omp/core/tasks/detach.hpp"

#include "omp/ompt/tasks.hpp"

namespace heddle::omp {

bool body_ends(explicit_task& it) noexcept {
  return (it.event.fetch_or(event_bits::body_over) & event_bits::fulfilled) != 0;
}

bool is_discarded(explicit_task& it) noexcept {
  return (it.event.fetch_or(event_bits::discarded) & event_bits::fulfilled) != 0;
}

void fulfil(explicit_task& it) noexcept {
  const bool told = ompt::on();
  const ompt_data_t data = told ? it.tool.data : ompt_data_t{};  // the task may be gone afterwards
  const std::uint8_t was = it.event.fetch_or(event_bits::fulfilled);
  if (told && (was & event_bits::discarded) == 0) [[unlikely]] {
    if ((was & event_bits::body_over) != 0) ompt::fulfilled_late(it);
    else ompt::fulfilled_early(data);
  }
  if ((was & event_bits::discarded) != 0) release_block(it);
  else if ((was & event_bits::body_over) != 0) end_outside(it);
}

}  // namespace heddle::omp
