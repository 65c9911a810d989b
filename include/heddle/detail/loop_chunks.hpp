// A loop's body behind a pointer, which the library's parts of loops call once for each chunk.
#pragma once

#include <cstddef>

#include <heddle/parallel_invoke.hpp>

namespace heddle::detail {

// A reference to a loop's Work (loop_tree.hpp) whose type is erased and whose parts may run in any order. It is itself
// a Work.
class loop_chunks {
 public:
  using result = nothing_returned;
  // in_any_order is not set, because the schedule has been chosen already.
  static constexpr bool in_ranges = true;

  template <class Work>
  static loop_chunks of(Work& work) noexcept {
    return {&work, [](void* self, std::size_t low, std::size_t high) {
              typename Work::result nothing{};
              (*static_cast<Work*>(self))(nothing, low, high);
            }};
  }
  // Throws what the body throws.
  void operator()(std::size_t low, std::size_t high) const { run_(work_, low, high); }
  void operator()(result&, std::size_t low, std::size_t high) const { run_(work_, low, high); }
  static result combine(result, result) noexcept { return {}; }
  static result nothing() noexcept { return {}; }
  // The address of the code that runs iterations, by which a trace names the loop.
  const void* code() const noexcept { return reinterpret_cast<const void*>(run_); }

 private:
  using function = void (*)(void*, std::size_t, std::size_t);
  loop_chunks(void* work, function run) noexcept : work_(work), run_(run) {}
  void* work_;
  function run_;
};

}  // namespace heddle::detail
