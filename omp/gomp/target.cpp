// Target regions of the GNU ABI: there is no device, so they run on the host, in a region of the caller's alone.
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "omp/core/team.hpp"
#include "omp/core/thread.hpp"

using namespace heddle::omp;

namespace {

// Kinds of mappings that the host has to do something for: what is firstprivate is copied, here by the runtime.
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
      void* place = copies_.back().get();
      std::size_t room = bytes;
      std::align(alignment, sizes[i], place, room);
      std::memcpy(place, addresses[i], sizes[i]);
      addresses_[i] = place;
    }
  }
  void** addresses() noexcept { return addresses_.data(); }

 private:
  std::vector<void*> addresses_;
  std::vector<std::unique_ptr<char[]>> copies_;
};

void run_here(void (*code)(void*), void* data) {
  thread& self = thread::current();
  region_options how;
  how.serial = true;
  how.league_number = 0;
  team& t = begin_region(self, how, {});
  t.level = 0;  // a target region begins anew
  t.active_level = 0;
  code(data);
  end_region(self);
}

}  // namespace

HEDDLE_OMP_ENTRY void GOMP_target(int, void (*code)(void*), const void*, std::size_t, void** addresses, std::size_t*,
                                  unsigned char*) {
  run_here(code, addresses);
}

// Dependences are waited for by GOMP_taskwait_depend before.
HEDDLE_OMP_ENTRY void GOMP_taskwait_depend(void** depend) __attribute__((weak));

HEDDLE_OMP_ENTRY void GOMP_target_ext(int, void (*code)(void*), std::size_t count, void** addresses, std::size_t* sizes,
                                      unsigned short* kinds, unsigned, void** depend, void**) {
  if (depend != nullptr && GOMP_taskwait_depend != nullptr) GOMP_taskwait_depend(depend);
  private_copies copies(count, addresses, sizes, kinds);
  run_here(code, copies.addresses());
}

// Data are where they are.
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
