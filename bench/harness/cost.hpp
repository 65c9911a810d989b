// The costs that kernels declare to the simulator (heddle/cost.hpp), in a form that programs without heddle have, too:
// there the symbol is missing and nothing is declared. A leaf declares its cost once, before it computes. Outside a
// simulation that is two predictable branches.
//
// A leaf declares every part of its data that it touches, as often as it comes into the innermost cache anew. Accesses
// that hit there are included in the cycles.
#pragma once

#include <cstddef>
#include <initializer_list>

#include <heddle/detail/cost_model.hpp>

extern "C" __attribute__((weak)) const heddle_cost_model* heddle_cost;
extern "C" __attribute__((weak)) void heddle_pause() noexcept;

namespace heddle::bench::told {

inline const heddle_cost_model* model() { return &heddle_cost == nullptr ? nullptr : heddle::detail::cost_model(); }
// Tasks of a few nanoseconds do not even test it. Their kernels are templates over `telling`, which is chosen once,
// before the first task.
enum class telling : bool { no, yes };

// Calls f.operator()<telling>(), by whether costs are declared to a simulator.
template <class F>
decltype(auto) choose(F&& f) {
  if (model() != nullptr) [[unlikely]]
    return f.template operator()<telling::yes>();
  return f.template operator()<telling::no>();
}
template <telling Tell>
inline void cycles_if(double n) {
  if constexpr (Tell == telling::yes) model()->cycles(n);
}

// A turn of a loop that waits for another worker: heddle::this_thread::pause(), where the program has heddle.
inline void pause() {
  if (&heddle_pause != nullptr) return heddle_pause();
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
}

inline void cycles(double n) {
  if (const auto* to = model(); to != nullptr) [[unlikely]]
    to->cycles(n);
}
inline void read(const void* address, std::size_t bytes) {
  if (const auto* to = model(); to != nullptr) [[unlikely]]
    to->access(address, bytes, 0);
}
inline void write(const void* address, std::size_t bytes) {
  if (const auto* to = model(); to != nullptr) [[unlikely]]
    to->access(address, bytes, 1);
}

// `count` rows of each set, side by side: the first of each, then the second of each. Their lines overlap, as an
// out-of-order core has those of the next rows on the way while it computes this one.
using row_set = heddle_cost_rows;
inline void rows(std::initializer_list<row_set> sets, std::size_t count) {
  if (const auto* to = model(); to != nullptr) [[unlikely]]
    to->rows(sets.begin(), sets.size(), count);
}

inline void rows(const row_set* sets, std::size_t size, std::size_t count) {
  if (const auto* to = model(); to != nullptr) [[unlikely]]
    to->rows(sets, size, count);
}

// Names the piece of a grid that a leaf works on. It is set by the backend whose runtime draws task maps.
inline void (*piece_of_grid)(const char* grid, std::size_t x0, std::size_t y0, std::size_t x1,
                             std::size_t y1) = nullptr;
inline void piece(const char* grid, std::size_t x0, std::size_t y0, std::size_t x1, std::size_t y1) {
  if (piece_of_grid != nullptr) piece_of_grid(grid, x0, y0, x1, y1);
}

// Returns true in the simulator's fast mode: a leaf may leave out arithmetic on which nothing else depends. Results are
// then not checked.
inline bool only() {
  const auto* to = model();
  return to != nullptr && to->only != 0;
}

}  // namespace heddle::bench::told
