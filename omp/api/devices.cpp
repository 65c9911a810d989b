// Devices: OpenMP 5.1, sections 3.7 and 3.8. The only device is the host, which is the initial device, number 0. Memory
// of a device is memory of the host.
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "omp/api/api.hpp"
#include "omp/core/settings/environment.hpp"
#include "omp/core/teams/team.hpp"
#include "omp/core/teams/thread.hpp"

namespace {

// Accepts also the numbers that compilers and later versions of the standard use for the host.
bool is_host(int device) noexcept { return device == 0 || device == -1 || device == -10; }

bool copies(const void* to, const void* from, int to_device, int from_device) noexcept {
  return to != nullptr && from != nullptr && is_host(to_device) && is_host(from_device);
}

int copy_box(char* to, const char* from, std::size_t element, int dimensions, const std::size_t* volume,
             const std::size_t* to_offsets, const std::size_t* from_offsets, const std::size_t* to_dimensions,
             const std::size_t* from_dimensions) noexcept {
  if (dimensions == 1) {
    std::size_t bytes = 0, skip_to = 0, skip_from = 0;
    if (__builtin_mul_overflow(element, volume[0], &bytes) ||
        __builtin_mul_overflow(element, to_offsets[0], &skip_to) ||
        __builtin_mul_overflow(element, from_offsets[0], &skip_from))
      return EINVAL;
    std::memcpy(to + skip_to, from + skip_from, bytes);
    return 0;
  }
  std::size_t to_slice = element, from_slice = element;
  for (int i = 1; i < dimensions; ++i) {
    if (__builtin_mul_overflow(to_slice, to_dimensions[i], &to_slice) ||
        __builtin_mul_overflow(from_slice, from_dimensions[i], &from_slice))
      return EINVAL;
  }
  for (std::size_t i = 0; i < volume[0]; ++i) {
    const int error =
        copy_box(to + (to_offsets[0] + i) * to_slice, from + (from_offsets[0] + i) * from_slice, element,
                 dimensions - 1, volume + 1, to_offsets + 1, from_offsets + 1, to_dimensions + 1, from_dimensions + 1);
    if (error != 0) return error;
  }
  return 0;
}

}  // namespace

extern "C" {

int omp_get_num_devices() { return 0; }
int omp_get_device_num() { return 0; }
int omp_get_initial_device() { return 0; }
int omp_is_initial_device() { return 1; }

void* omp_target_alloc(std::size_t size, int device) {
  return size == 0 || !is_host(device) ? nullptr : std::malloc(size);
}
void omp_target_free(void* memory, int device) {
  if (is_host(device)) std::free(memory);
}
int omp_target_is_present(const void* memory, int device) { return memory != nullptr && is_host(device) ? 1 : 0; }
int omp_target_is_accessible(const void* memory, std::size_t, int device) {
  return memory != nullptr && is_host(device) ? 1 : 0;
}

int omp_target_memcpy(void* to, const void* from, std::size_t size, std::size_t to_offset, std::size_t from_offset,
                      int to_device, int from_device) {
  if (size == 0) return 0;
  if (!copies(to, from, to_device, from_device)) return EINVAL;
  std::memcpy(static_cast<char*>(to) + to_offset, static_cast<const char*>(from) + from_offset, size);
  return 0;
}

int omp_target_memcpy_rect(void* to, const void* from, std::size_t element, int dimensions, const std::size_t* volume,
                           const std::size_t* to_offsets, const std::size_t* from_offsets,
                           const std::size_t* to_dimensions, const std::size_t* from_dimensions, int to_device,
                           int from_device) {
  // the greatest possible number of dimensions
  if (to == nullptr && from == nullptr) return std::numeric_limits<int>::max();
  if (!copies(to, from, to_device, from_device) || element == 0 || dimensions < 1 || volume == nullptr ||
      to_offsets == nullptr || from_offsets == nullptr || to_dimensions == nullptr || from_dimensions == nullptr)
    return EINVAL;
  return copy_box(static_cast<char*>(to), static_cast<const char*>(from), element, dimensions, volume, to_offsets,
                  from_offsets, to_dimensions, from_dimensions);
}

// Host memory is available to the host without being associated.
int omp_target_associate_ptr(const void*, const void*, std::size_t, std::size_t, int) { return EINVAL; }
int omp_target_disassociate_ptr(const void*, int) { return EINVAL; }
HEDDLE_API void* omp_get_mapped_ptr(const void* memory, int device) {
  return is_host(device) ? const_cast<void*>(memory) : nullptr;
}
HEDDLE_API void* omp_target_memset(void* memory, int value, std::size_t size, int device) {
  if (memory != nullptr && is_host(device)) std::memset(memory, value, size);
  return memory;
}

// The value of OMP_TARGET_OFFLOAD: 0 disabled, 1 default, 2 mandatory.
HEDDLE_API int __kmpc_get_target_offload() {
  switch (heddle::omp::process_environment().target_offload) {
    case heddle::omp::offload::disabled: return 0;
    case heddle::omp::offload::mandatory: return 2;
    default: return 1;
  }
}

// Teams are kept for their threads' next regions and cost only memory. So these functions only report whether the call
// is allowed, which it is outside of parallel regions, and dismiss the caller's teams.
int omp_pause_resource(int kind, int device) {
  if (kind < 0 || kind > 2 || !is_host(device)) return -1;
  heddle::omp::thread& self = heddle::omp::thread::current();
  if (self.in->level > 0) return -1;
  if (kind != 0) heddle::omp::dismiss_teams(self);  // soft and hard
  return 0;
}
int omp_pause_resource_all(int kind) { return omp_pause_resource(kind, 0); }

}  // extern "C"
