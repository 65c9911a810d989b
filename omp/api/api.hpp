// The functions of omp.h, as C programs call them. Other files here build further functions on them. Enumerations are
// numbers; locks and interop objects are memory. The compilers' own headers differ only in types.
#pragma once

#include <cstddef>
#include <cstdint>

#include <heddle/export.hpp>

extern "C" {

// threads.cpp
HEDDLE_API int omp_get_num_threads();
HEDDLE_API int omp_get_thread_num();
HEDDLE_API int omp_get_num_procs();
HEDDLE_API int omp_in_parallel();
HEDDLE_API int omp_in_final();
HEDDLE_API int omp_in_explicit_task();
HEDDLE_API int omp_get_level();
HEDDLE_API int omp_get_active_level();
HEDDLE_API int omp_get_ancestor_thread_num(int level);
HEDDLE_API int omp_get_team_size(int level);
HEDDLE_API int omp_get_num_teams();
HEDDLE_API int omp_get_team_num();

// variables.cpp
HEDDLE_API void omp_set_num_threads(int threads);
HEDDLE_API int omp_get_max_threads();
HEDDLE_API void omp_set_dynamic(int on);
HEDDLE_API int omp_get_dynamic();
HEDDLE_API void omp_set_nested(int on);
HEDDLE_API int omp_get_nested();
HEDDLE_API void omp_set_max_active_levels(int levels);
HEDDLE_API int omp_get_max_active_levels();
HEDDLE_API int omp_get_supported_active_levels();
HEDDLE_API int omp_get_thread_limit();
HEDDLE_API void omp_set_schedule(int kind, int chunk);
HEDDLE_API void omp_get_schedule(int* kind, int* chunk);
HEDDLE_API void omp_set_num_teams(int teams);
HEDDLE_API int omp_get_max_teams();
HEDDLE_API void omp_set_teams_thread_limit(int threads);
HEDDLE_API int omp_get_teams_thread_limit();
HEDDLE_API int omp_get_max_task_priority();
HEDDLE_API int omp_get_cancellation();
HEDDLE_API void omp_display_env(int verbose);

// Regions inside regions that follow in the calling task, and in tasks and regions that it makes later, are gangs; or
// they get workers one by one. Source: Bak et al. (ICS 2021), listing 1.
HEDDLE_API void ompx_set_gang_sched();
HEDDLE_API void ompx_reset_gang_sched();

// affinity.cpp
HEDDLE_API int omp_get_proc_bind();
HEDDLE_API int omp_get_num_places();
HEDDLE_API int omp_get_place_num_procs(int place);
HEDDLE_API void omp_get_place_proc_ids(int place, int* ids);
HEDDLE_API int omp_get_place_num();
HEDDLE_API int omp_get_partition_num_places();
HEDDLE_API void omp_get_partition_place_nums(int* places);
HEDDLE_API void omp_set_affinity_format(const char* format);
HEDDLE_API std::size_t omp_get_affinity_format(char* buffer, std::size_t size);
HEDDLE_API void omp_display_affinity(const char* format);
HEDDLE_API std::size_t omp_capture_affinity(char* buffer, std::size_t size, const char* format);

// locks.cpp
HEDDLE_API void omp_init_lock(void* lock);
HEDDLE_API void omp_init_lock_with_hint(void* lock, int hint);
HEDDLE_API void omp_destroy_lock(void* lock);
HEDDLE_API void omp_set_lock(void* lock);
HEDDLE_API void omp_unset_lock(void* lock);
HEDDLE_API int omp_test_lock(void* lock);
HEDDLE_API void omp_init_nest_lock(void* lock);
HEDDLE_API void omp_init_nest_lock_with_hint(void* lock, int hint);
HEDDLE_API void omp_destroy_nest_lock(void* lock);
HEDDLE_API void omp_set_nest_lock(void* lock);
HEDDLE_API void omp_unset_nest_lock(void* lock);
HEDDLE_API int omp_test_nest_lock(void* lock);

// clock.cpp
HEDDLE_API double omp_get_wtime();
HEDDLE_API double omp_get_wtick();

// devices.cpp
HEDDLE_API void omp_set_default_device(int device);
HEDDLE_API int omp_get_default_device();
HEDDLE_API int omp_get_num_devices();
HEDDLE_API int omp_get_device_num();
HEDDLE_API int omp_get_initial_device();
HEDDLE_API int omp_is_initial_device();
HEDDLE_API void* omp_target_alloc(std::size_t size, int device);
HEDDLE_API void omp_target_free(void* memory, int device);
HEDDLE_API int omp_target_is_present(const void* memory, int device);
HEDDLE_API int omp_target_is_accessible(const void* memory, std::size_t size, int device);
HEDDLE_API int omp_target_memcpy(void* to, const void* from, std::size_t size, std::size_t to_offset,
                                 std::size_t from_offset, int to_device, int from_device);
HEDDLE_API int omp_target_memcpy_rect(void* to, const void* from, std::size_t element, int dimensions,
                                      const std::size_t* volume, const std::size_t* to_offsets,
                                      const std::size_t* from_offsets, const std::size_t* to_dimensions,
                                      const std::size_t* from_dimensions, int to_device, int from_device);
HEDDLE_API int omp_target_associate_ptr(const void* host, const void* device_memory, std::size_t size,
                                        std::size_t offset, int device);
HEDDLE_API int omp_target_disassociate_ptr(const void* host, int device);
HEDDLE_API int omp_pause_resource(int kind, int device);
HEDDLE_API int omp_pause_resource_all(int kind);
HEDDLE_API int omp_control_tool(int command, int modifier, void* argument);

// allocators.cpp
HEDDLE_API std::uintptr_t omp_init_allocator(std::uintptr_t space, int count, const void* traits);
HEDDLE_API void omp_destroy_allocator(std::uintptr_t allocator);
HEDDLE_API void omp_set_default_allocator(std::uintptr_t allocator);
HEDDLE_API std::uintptr_t omp_get_default_allocator();
HEDDLE_API void* omp_alloc(std::size_t size, std::uintptr_t allocator);
HEDDLE_API void* omp_aligned_alloc(std::size_t alignment, std::size_t size, std::uintptr_t allocator);
HEDDLE_API void* omp_calloc(std::size_t count, std::size_t size, std::uintptr_t allocator);
HEDDLE_API void* omp_aligned_calloc(std::size_t alignment, std::size_t count, std::size_t size,
                                    std::uintptr_t allocator);
HEDDLE_API void* omp_realloc(void* memory, std::size_t size, std::uintptr_t allocator, std::uintptr_t from);
HEDDLE_API void omp_free(void* memory, std::uintptr_t allocator);

// kmp.cpp
HEDDLE_API int kmp_get_stacksize();
HEDDLE_API void kmp_set_stacksize(int bytes);
HEDDLE_API std::size_t kmp_get_stacksize_s();
HEDDLE_API void kmp_set_stacksize_s(std::size_t bytes);
HEDDLE_API int kmp_get_blocktime();
HEDDLE_API void kmp_set_blocktime(int milliseconds);
HEDDLE_API int kmp_get_library();
HEDDLE_API void kmp_set_library(int kind);
HEDDLE_API void kmp_set_library_serial();
HEDDLE_API void kmp_set_library_turnaround();
HEDDLE_API void kmp_set_library_throughput();
HEDDLE_API void kmp_set_defaults(const char* text);
HEDDLE_API void kmp_set_disp_num_buffers(int count);
HEDDLE_API void kmp_set_warnings_on();
HEDDLE_API void kmp_set_warnings_off();
HEDDLE_API int kmp_get_num_known_threads();
HEDDLE_API int kmp_get_cancellation_status(int kind);
HEDDLE_API void kmp_set_thread_affinity_mask_initial();
HEDDLE_API int kmp_set_affinity(void** mask);
HEDDLE_API int kmp_get_affinity(void** mask);
HEDDLE_API int kmp_get_affinity_max_proc();
HEDDLE_API void kmp_create_affinity_mask(void** mask);
HEDDLE_API void kmp_destroy_affinity_mask(void** mask);
HEDDLE_API int kmp_set_affinity_mask_proc(int processor, void** mask);
HEDDLE_API int kmp_unset_affinity_mask_proc(int processor, void** mask);
HEDDLE_API int kmp_get_affinity_mask_proc(int processor, void** mask);
HEDDLE_API void* kmp_malloc(std::size_t size);
HEDDLE_API void* kmp_aligned_malloc(std::size_t size, std::size_t alignment);
HEDDLE_API void* kmp_calloc(std::size_t count, std::size_t size);
HEDDLE_API void* kmp_realloc(void* memory, std::size_t size);
HEDDLE_API void kmp_free(void* memory);

}  // extern "C"
