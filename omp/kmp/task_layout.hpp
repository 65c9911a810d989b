// The parts of tasks that the LLVM ABI fixes: the part of a task that its compilers know, and their flags and lists.
#pragma once

#include <cstddef>
#include <cstdint>

#include "omp/core/tasks/depend.hpp"
#include "omp/core/tasks/task.hpp"

namespace heddle::omp::kmp {

using routine = std::int32_t (*)(std::int32_t global_number, void* task);

// kmp_task_t. Privates follow it, and then the data to which `shareds` points.
struct known_task {
  void* shareds;
  routine entry;
  std::int32_t part;
  union {
    std::int32_t unused;
    routine destructors;
  } first;
  union {
    std::int32_t priority;
    routine unused;
  } second;
};
static_assert(sizeof(known_task) == 40);

namespace task_flags {
inline constexpr std::uint32_t tied = 0x1;
inline constexpr std::uint32_t is_final = 0x2;
inline constexpr std::uint32_t destructors = 0x8;
inline constexpr std::uint32_t proxy = 0x10;
inline constexpr std::uint32_t priority = 0x20;
inline constexpr std::uint32_t detachable = 0x40;
}  // namespace task_flags

// kmp_depend_info
struct known_dependence {
  std::intptr_t address;
  std::size_t length;
  std::uint8_t flag;
};
static_assert(sizeof(known_dependence) == 24);

// kmp_task_affinity_info
struct known_affinity {
  std::intptr_t address;
  std::size_t length;
  std::int32_t flags;
};
static_assert(sizeof(known_affinity) == 24);

namespace depend_flags {
inline constexpr std::uint8_t in = 0x1;
inline constexpr std::uint8_t out = 0x2;
inline constexpr std::uint8_t mutexinoutset = 0x4;
inline constexpr std::uint8_t inoutset = 0x8;
inline constexpr std::uint8_t all_memory = 0x80;
}  // namespace depend_flags

inline depend_item item_of(const void* from, std::size_t i) {
  const known_dependence& d = static_cast<const known_dependence*>(from)[i];
  const void* const address = reinterpret_cast<const void*>(d.address);
  // All memory is a flag of its own, or the address behind all others.
  if ((d.flag & depend_flags::all_memory) != 0 || d.address == -1) return {nullptr, depend_kind::out};
  if ((d.flag & depend_flags::out) != 0) return {address, depend_kind::out};
  if ((d.flag & depend_flags::mutexinoutset) != 0) return {address, depend_kind::mutexinoutset};
  if ((d.flag & depend_flags::inoutset) != 0) return {address, depend_kind::inoutset};
  return {address, depend_kind::in};
}

inline explicit_task& task_of(void* known) noexcept { return for_payload(known); }

// kmp_taskred_input_t, without the original and with it.
struct known_reduction_50 {
  void* shared;
  std::size_t size;
  void* init;
  void* fini;
  void* combine;
  std::uint32_t flags;
};
struct known_reduction {
  void* shared;
  void* original;
  std::size_t size;
  void* init;
  void* fini;
  void* combine;
  std::uint32_t flags;
};

}  // namespace heddle::omp::kmp
