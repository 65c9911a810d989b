// Target regions of the GNU ABI. There is no device, so they run on the host, in a region that consists of the caller
// alone.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include "omp/core/teams/team.hpp"
#include "omp/core/teams/thread.hpp"

using namespace heddle::omp;

namespace {

// The kinds of mappings for which the host has to do something: firstprivate data is copied, here by the runtime.
constexpr unsigned kind_mask = 0xff;
constexpr unsigned kind_firstprivate = 12;

class private_copies {
 public:
  private_copies(std::size_t count, void** addresses, const std::size_t* sizes, const unsigned short* kinds)
      : addresses_(addresses, addresses + count) {
    for (std::size_t i = 0; i < count; ++i) {
      if ((kinds[i] & kind_mask) != kind_firstprivate) continue;
      const std::size_t alignment = std::size_t{1} << (kinds[i] >> 8);
      const std::size_t bytes = sizes[i] + alignment;
      copies_.push_back(std::make_unique<char[]>(bytes));
      void* room_at = copies_.back().get();
      std::size_t room = bytes;
      std::align(alignment, sizes[i], room_at, room);
      std::memcpy(room_at, addresses[i], sizes[i]);
      addresses_[i] = room_at;
    }
  }
  void** addresses() noexcept { return addresses_.data(); }

 private:
  std::vector<void*> addresses_;
  std::vector<std::unique_ptr<char[]>> copies_;
};

// The teams and threads clauses of a target construct come as a list that a null ends, in the form of gcc 12. Each word
// has in bits 0 to 6 the device for which it holds (0 means any), and in bits 8 to 15 the clause. The value is in the
// bits above, or, if bit 7 is set, in the next word. Returns thread_limit, or 0.
int thread_limit_of(void* const* arguments) noexcept {
  constexpr std::intptr_t device_mask = 0x7f, in_next_word = 0x80, kind_of_argument = 0xff00, thread_limit = 0x200;
  constexpr int value_shift = 16;
  if (arguments == nullptr) return 0;
  while (*arguments != nullptr) {
    const auto word = reinterpret_cast<std::intptr_t>(*arguments++);
    std::intptr_t value = word >> value_shift;
    if ((word & in_next_word) != 0) value = reinterpret_cast<std::intptr_t>(*arguments++);
    if ((word & device_mask) != 0 || (word & kind_of_argument) != thread_limit || value <= 0) continue;
    return static_cast<int>(std::min<std::intptr_t>(value, std::numeric_limits<int>::max()));
  }
  return 0;
}

// `threads` is thread_limit, or 0.
void run_here(void (*code)(void*), void* data, int threads) {
  thread& self = thread::current();
  region_options how;
  how.serial = true;
  how.league_number = 0;
  team& t = begin_region(self, how, {});
  t.level = 0;  // a target region begins anew
  t.active_level = 0;
  if (threads != 0) t.variables.thread_limit = threads;
  code(data);
  end_region(self);
}

}  // namespace

HEDDLE_OMP_ENTRY void GOMP_target(int, void (*code)(void*), const void*, std::size_t, void** addresses, std::size_t*,
                                  unsigned char*) {
  run_here(code, addresses, 0);
}

// GOMP_taskwait_depend waits for dependences before the region.
HEDDLE_OMP_ENTRY void GOMP_taskwait_depend(void** depend) __attribute__((weak));

HEDDLE_OMP_ENTRY void GOMP_target_ext(int, void (*code)(void*), std::size_t count, void** addresses, std::size_t* sizes,
                                      unsigned short* kinds, unsigned, void** depend, void** arguments) {
  if (depend != nullptr && GOMP_taskwait_depend != nullptr) GOMP_taskwait_depend(depend);
  private_copies copies(count, addresses, sizes, kinds);
  run_here(code, copies.addresses(), thread_limit_of(arguments));
}

// Data stays where it is.
HEDDLE_OMP_ENTRY void GOMP_target_data(int, const void*, std::size_t, void**, std::size_t*, unsigned char*) {}
HEDDLE_OMP_ENTRY void GOMP_target_data_ext(int, std::size_t, void**, std::size_t*, unsigned short*) {}
HEDDLE_OMP_ENTRY void GOMP_target_end_data() {}
HEDDLE_OMP_ENTRY void GOMP_target_update(int, const void*, std::size_t, void**, std::size_t*, unsigned char*) {}
HEDDLE_OMP_ENTRY void GOMP_target_update_ext(int, std::size_t, void**, std::size_t*, unsigned short*, unsigned,
                                             void** depend) {
  if (depend != nullptr && GOMP_taskwait_depend != nullptr) GOMP_taskwait_depend(depend);
}
HEDDLE_OMP_ENTRY void GOMP_target_enter_exit_data(int, std::size_t, void**, std::size_t*, unsigned short*, unsigned,
                                                  void** depend) {
  if (depend != nullptr && GOMP_taskwait_depend != nullptr) GOMP_taskwait_depend(depend);
}
HEDDLE_OMP_ENTRY void GOMP_offload_register(const void*, int, const void*) {}
HEDDLE_OMP_ENTRY void GOMP_offload_register_ver(unsigned, const void*, int, const void*) {}
HEDDLE_OMP_ENTRY void GOMP_offload_unregister(const void*, int, const void*) {}
HEDDLE_OMP_ENTRY void GOMP_offload_unregister_ver(unsigned, const void*, int, const void*) {}
