// Doacross loops of the LLVM ABI: they have a slot of their own beside that of the loop.
#include <memory>

#include "omp/core/teams/doacross.hpp"
#include "omp/core/teams/team.hpp"
#include "omp/kmp/ident.hpp"
#include "omp/ompt/tasks.hpp"

using namespace heddle::omp;
using kmp::ident;

namespace {

// The bounds of one of the loops in the ABI's form; `upper` is included.
struct dimension {
  std::int64_t lower;
  std::int64_t upper;
  std::int64_t step;
};

std::uint64_t trips_of(const dimension& d) noexcept {
  const auto lower = static_cast<std::uint64_t>(d.lower);
  const auto upper = static_cast<std::uint64_t>(d.upper);
  if (d.step > 0) return d.upper < d.lower ? 0 : (upper - lower) / static_cast<std::uint64_t>(d.step) + 1;
  return d.lower < d.upper ? 0 : (lower - upper) / (std::uint64_t{0} - static_cast<std::uint64_t>(d.step)) + 1;
}

struct dimensions {
  unsigned count;
  const dimension* of;
};

void set_up(work_share& s, void* from) {
  const auto& given = *static_cast<const dimensions*>(from);
  const auto loops = std::make_unique<doacross_loop[]>(given.count);
  for (unsigned i = 0; i < given.count; ++i) {
    const dimension& d = given.of[i];
    loops[i] = {static_cast<std::uint64_t>(d.lower), static_cast<std::uint64_t>(d.step), trips_of(d)};
  }
  s.across = make_doacross(given.count, loops.get());
}

}  // namespace

HEDDLE_OMP_ENTRY void __kmpc_doacross_init(ident*, std::int32_t, std::int32_t count, const dimension* of) {
  thread& self = thread::current();
  dimensions given{static_cast<unsigned>(count), of};
  self.work.across = &enter_share(self, self.work.across_number, set_up, &given);
}

HEDDLE_OMP_ENTRY void __kmpc_doacross_wait(ident*, std::int32_t, const std::int64_t* values) {
  thread& self = thread::current();
  if (self.work.across == nullptr || self.in->size == 1) return;
  doacross& d = *self.work.across->across;
  std::uint64_t number = 0;
  if (!number_of(d, reinterpret_cast<const std::uint64_t*>(values), number)) return;
  if (ompt::on()) [[unlikely]]
    ompt::doacross(self, reinterpret_cast<const std::uint64_t*>(values), d.loops, false);
  wait_for(self, d, number);
}

HEDDLE_OMP_ENTRY void __kmpc_doacross_post(ident*, std::int32_t, const std::int64_t* values) {
  thread& self = thread::current();
  if (self.work.across == nullptr || self.in->size == 1) return;
  doacross& d = *self.work.across->across;
  std::uint64_t number = 0;
  if (!number_of(d, reinterpret_cast<const std::uint64_t*>(values), number)) return;
  if (ompt::on()) [[unlikely]]
    ompt::doacross(self, reinterpret_cast<const std::uint64_t*>(values), d.loops, true);
  post(self, d, number);
}

HEDDLE_OMP_ENTRY void __kmpc_doacross_fini(ident*, std::int32_t) {
  thread& self = thread::current();
  if (self.work.across == nullptr) return;
  leave_share(self, *std::exchange(self.work.across, nullptr), self.work.across_number);
}
