#include "omp/gomp/region.hpp"

#include "omp/ompt/records.hpp"

namespace heddle::omp::gomp {

namespace {

// Tells the tool the frame that calls the function.
void call_told(thread& self, void (*code)(void*), void* data) {
  const ompt::outside here(ompt::record_of(*self.running), __builtin_frame_address(0));
  code(data);
}

}  // namespace

void call_outlined(void* data, thread& self) {
  const outlined& o = *static_cast<outlined*>(data);
  if (ompt::on()) [[unlikely]]
    return call_told(self, o.code, o.data);
  o.code(o.data);
}

region_options options_of(unsigned threads, unsigned flags, const void* code) noexcept {
  region_options how;
  how.code = code;
  how.threads = static_cast<int>(threads);
  if ((flags & 7) != 0) how.bind = static_cast<int>(flags & 7);
  return how;
}

void run(void (*code)(void*), void* data, region_options how, const loop_plan* loop) {
  outlined o{code, data};
  how.loop = loop;
  run_region(thread::current(), how, {call_outlined, &o});
}

namespace {

// Takes only the function, for members whose leader has returned from the function that named the data.
void call_code(void* data, thread& self) {
  const auto code = reinterpret_cast<void (*)(void*)>(data);
  if (ompt::on()) [[unlikely]]
    return call_told(self, code, self.in->data_of_code);
  code(self.in->data_of_code);
}

}  // namespace

void start(void (*code)(void*), void* data, region_options how, const loop_plan* loop) {
  how.loop = loop;
  how.data = data;
  how.started = true;
  thread& self = thread::current();
  begin_region(self, how, {call_code, reinterpret_cast<void*>(code)});
  // The caller's own frame is that of the region's code.
  if (ompt::on()) [[unlikely]]
    ompt::callers_frame(__builtin_frame_address(0)).set(ompt::record_of(*self.running));
}

loop_plan static_plan(std::uint64_t chunk) noexcept {
  loop_plan plan;
  plan.chunk = chunk;
  return plan;
}

loop_plan dynamic_plan(std::uint64_t chunk) noexcept {
  loop_plan plan = static_plan(chunk);
  plan.kind = schedule_kind::of_dynamic;
  return plan;
}

loop_plan guided_plan(std::uint64_t chunk) noexcept {
  loop_plan plan = static_plan(chunk);
  plan.kind = schedule_kind::of_guided;
  return plan;
}

loop_plan runtime_plan() noexcept {
  const schedule& s = thread::current().running->variables->run_schedule;
  loop_plan plan = static_plan(s.chunk > 0 ? static_cast<std::uint64_t>(s.chunk) : 0);
  plan.kind = s.kind;
  return plan;
}

loop_plan plan_of(long schedule, std::uint64_t chunk) noexcept {
  constexpr long modifiers = 0x80000000L;
  switch (schedule & ~modifiers) {
    case 0: return runtime_plan();
    case 2: return dynamic_plan(chunk);
    case 3: return guided_plan(chunk);
    case 4: return static_plan(0);
    default: return static_plan(chunk);
  }
}

void set_range(loop_plan& plan, bool up, unsigned long long start, unsigned long long end,
               unsigned long long step) noexcept {
  plan.start = start;
  plan.step = step;
  plan.end = end;
  if (up) plan.trips = start < end ? (end - start - 1) / step + 1 : 0;
  else plan.trips = start > end ? (start - end - 1) / (0 - step) + 1 : 0;
}

void set_range(loop_plan& plan, long start, long end, long step) noexcept {
  const auto from = static_cast<unsigned long long>(start);
  const auto to = static_cast<unsigned long long>(end);
  const auto by = static_cast<unsigned long long>(step);
  plan.start = from;
  plan.step = by;
  plan.end = to;
  if (step > 0) plan.trips = start < end ? (to - from - 1) / by + 1 : 0;
  else plan.trips = start > end ? (from - to - 1) / (0 - by) + 1 : 0;
}

loop_plan sections_plan(unsigned count) noexcept {
  loop_plan plan = dynamic_plan(1);
  plan.trips = count;
  plan.start = 1;
  plan.sections = true;
  return plan;
}

}  // namespace heddle::omp::gomp
