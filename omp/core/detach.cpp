#include "omp/core/detach.hpp"

#include "omp/core/taskwait.hpp"

namespace heddle::omp {

bool body_ends(explicit_task& it) noexcept {
  return (it.event.fetch_or(event_bits::body_over) & event_bits::fulfilled) != 0;
}

bool is_discarded(explicit_task& it) noexcept {
  return (it.event.fetch_or(event_bits::discarded) & event_bits::fulfilled) != 0;
}

void await_event(thread& self, explicit_task& it) {
  place_of(self);  // its home: who fulfils the event wakes the owner
  // A tool hears of it before anybody can fulfil it: afterwards the event is that one's.
  if (ompt::on() && (it.event.load() & event_bits::fulfilled) == 0) [[unlikely]]
    ompt::included_waits(self, it);
  if ((it.event.fetch_or(event_bits::awaited) & event_bits::fulfilled) != 0) return;
  help_until(self, &it, [&] { return (it.event.load() & event_bits::let_go) != 0; }, [] {});
}

void fulfil(explicit_task& it) noexcept {
  const bool told = ompt::on();
  const ompt_data_t data = told ? it.tool.data : ompt_data_t{};  // the task may be gone afterwards
  const std::uint8_t was = it.event.fetch_or(event_bits::fulfilled);
  if (told && (was & event_bits::discarded) == 0) [[unlikely]] {
    if ((was & (event_bits::body_over | event_bits::awaited)) != 0) ompt::fulfilled_late(it);
    else ompt::fulfilled_early(data);
  }
  if ((was & event_bits::discarded) != 0) {
    release_block(it);
  } else if ((was & event_bits::body_over) != 0) {
    end_outside(it);
  } else if ((was & event_bits::awaited) != 0) {
    thread* const waits = it.home->owner;  // the task may be gone once it is let go
    it.event.fetch_or(event_bits::let_go);
    waits->parked.wake_after_fence();
  }
}

}  // namespace heddle::omp
