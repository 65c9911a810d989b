#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "omp/kmp/ident.hpp"

namespace heddle::omp::kmp {

namespace {

template <std::size_t... I>
void call_with(microtask code, std::int32_t* global_number, std::int32_t* number, void** a, void** frame,
               std::index_sequence<I...>) {
  if (frame != nullptr) *frame = __builtin_frame_address(0);
  // The function has fixed parameters. Both instruction sets pass them as they do here, and a function that takes fewer
  // does not look at the others.
  using fixed = void (*)(std::int32_t*, std::int32_t*, decltype((void)I, static_cast<void*>(nullptr))...);
  reinterpret_cast<fixed>(code)(global_number, number, a[I]...);
  // It is not a tail call, so the frame stays for as long as the call.
  __asm__ volatile("");
}

template <std::size_t N>
void call_padded(microtask code, std::int32_t* global_number, std::int32_t* number, int count, void** arguments,
                 void** frame) {
  void* padded[N] = {};
  std::copy_n(arguments, count, padded);
  call_with(code, global_number, number, padded, frame, std::make_index_sequence<N>());
}

}  // namespace

void call_microtask(microtask code, std::int32_t* global_number, std::int32_t* number, int count, void** arguments,
                    void** frame) {
  if (count <= 4) return call_padded<4>(code, global_number, number, count, arguments, frame);
  if (count <= 16) return call_padded<16>(code, global_number, number, count, arguments, frame);
  if (count <= 64) return call_padded<64>(code, global_number, number, count, arguments, frame);
  if (count <= most_arguments) return call_padded<most_arguments>(code, global_number, number, count, arguments, frame);
  std::fprintf(stderr, "heddle: OpenMP: a parallel region with %d shared variables; %d is the most\n", count,
               most_arguments);
  std::_Exit(1);
}

}  // namespace heddle::omp::kmp
