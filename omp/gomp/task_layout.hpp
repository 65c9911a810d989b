// The parts of tasks that the GNU ABI fixes: flags, the call of their functions, and the arrays of depend clauses.
#pragma once

#include <cstddef>
#include <cstdint>

#include "omp/core/tasks/depend.hpp"
#include "omp/core/tasks/task.hpp"

namespace heddle::omp::gomp {

using function = void (*)(void*);
using copy_function = void (*)(void* to, void* from);

namespace task_flags {
inline constexpr unsigned untied = 1u << 0;
inline constexpr unsigned is_final = 1u << 1;
inline constexpr unsigned depend = 1u << 3;
inline constexpr unsigned priority = 1u << 4;
inline constexpr unsigned up = 1u << 8;
inline constexpr unsigned grainsize = 1u << 9;
inline constexpr unsigned if_clause = 1u << 10;
inline constexpr unsigned nogroup = 1u << 11;
inline constexpr unsigned reduction = 1u << 12;
inline constexpr unsigned detach = 1u << 13;
inline constexpr unsigned strict = 1u << 14;
}  // namespace task_flags

// The distance from the payload's beginning of an argument with that alignment.
inline std::uint32_t offset_of(void* payload, std::size_t alignment) noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(payload);
  return static_cast<std::uint32_t>(((at + alignment - 1) & ~(alignment - 1)) - at);
}

// The argument lies in the payload at the offset in abi_flags. If a copy function made it, the body destroys it, and
// therefore runs in any case.
[[gnu::always_inline]] inline void run_body(explicit_task& it, thread&, bool discard) {
  if (discard && it.abi == 0) return;
  reinterpret_cast<function>(it.abi_word)(static_cast<char*>(it.payload) + it.abi_flags);
}

// Sets the data of a new task that run_body needs. The task's payload must have room for the argument.
inline void set_body(explicit_task& it, function fn, copy_function copy, std::size_t alignment) noexcept {
  it.body = run_body;
  it.abi = copy != nullptr ? 1 : 0;
  it.abi_word = reinterpret_cast<void*>(fn);
  it.abi_flags = alignment > alignof(explicit_task) ? offset_of(it.payload, alignment) : 0;
}

// omp_depend_t of the ABI's compilers.
struct depend_object {
  void* address;
  std::uintptr_t kind;  // 1 in, 2 out, 3 inout, 4 mutexinoutset, 5 inoutset
};

// There are two forms: {count, outs, addresses...}, first those of out and inout; and {0, count, outs, mutexinoutsets,
// ins, addresses..., depend objects...}. A null address means all memory.
inline depend_item item_of(const void* from, std::size_t i) {
  auto* const* const words = static_cast<void* const*>(from);
  const auto number = [&](std::size_t at) { return reinterpret_cast<std::size_t>(words[at]); };
  if (words[0] != nullptr) return {words[2 + i], i < number(1) ? depend_kind::out : depend_kind::in};
  const std::size_t outs = number(2), mutexes = number(3), ins = number(4);
  if (i < outs) return {words[5 + i], depend_kind::out};
  if (i < outs + mutexes) return {words[5 + i], depend_kind::mutexinoutset};
  if (i < outs + mutexes + ins) return {words[5 + i], depend_kind::in};
  const auto& object = *static_cast<const depend_object*>(words[5 + i]);
  switch (object.kind) {
    case 1: return {object.address, depend_kind::in};
    case 4: return {object.address, depend_kind::mutexinoutset};
    case 5: return {object.address, depend_kind::inoutset};
    default: return {object.address, depend_kind::out};
  }
}

inline depend_list list_of(void** words) noexcept {
  return {reinterpret_cast<std::size_t>(words[0] != nullptr ? words[0] : words[1]), item_of, words};
}

}  // namespace heddle::omp::gomp
