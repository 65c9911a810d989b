// A tree of fan-out 10 down to n leaves, each giving its number; the sum comes back up. Measures
// the cost of many children a node. Origin: the Skynet microbenchmark of actor and coroutine
// systems. "group": one task group's child a node, whatever the runtime; "halves": forks in two.
#pragma once

#include "backend/common.hpp"
#include "harness/cost.hpp"
#include "harness/kernel.hpp"

namespace heddle::bench {

template <class Backend, class Form = own_form>
std::uint64_t skynet_task(std::uint64_t first, std::uint64_t size) {
  if (size < 10) return first;
  told::cycles(40);  // and its ten children's
  const std::uint64_t part = size / 10;
  return Form::template sum<Backend>(10, [first, part](int i) {
    return skynet_task<Backend, Form>(first + static_cast<std::uint64_t>(i) * part, part);
  });
}

struct skynet {
  static constexpr std::size_t default_n = 1'000'000;
  template <class Backend>
  static constexpr bool supports = Backend::tasks;

  template <class Backend>
  static void execute(context& c) {
    Backend backend(c.options());
    backend.run([&] { measure_forms(c, [n = c.n()]<class Form>(Form) { return skynet_task<Backend, Form>(0, n); }); });
  }
};

}  // namespace heddle::bench
