// Steps of the kernels sph2d and sph3d.
#pragma once

#include <chrono>

#include "backend/common.hpp"
#include "harness/kernel.hpp"
#include "sph/particles.hpp"

namespace heddle::bench {

// f(leaf) for the leaves below the nodes [first, last), which are siblings.
template <class Backend, int D, class F>
void sph_leaves(const std::vector<sph_node<D>>& nodes, std::uint32_t first, std::uint32_t last, const F& f) {
  if (last - first == 1) {
    const sph_node<D>& n = nodes[first];
    if (n.count == 0) f(n);
    else sph_leaves<Backend, D>(nodes, n.children, n.children + n.count, f);
    return;
  }
  const std::uint32_t middle = first + (last - first) / 2;
  const std::size_t begin = nodes[first].first, cut = nodes[middle].first, end = nodes[last - 1].last;
  invoke<Backend>(
      hint{static_cast<double>(cut - begin), static_cast<double>(end - cut), (end - begin) * sizeof(sph_particle<D>)},
      [=, &nodes, &f] { sph_leaves<Backend, D>(nodes, first, middle, f); },
      [=, &nodes, &f] { sph_leaves<Backend, D>(nodes, middle, last, f); });
}

template <class Backend, int D>
void sph_execute(context& c) {
  sph_water<D> water(c.n(), touch_of(c.options().touch, touch::interleave));
  Backend backend(c.options());
  backend.run([&] {
    c.collect(
        "time", "ms",
        [&] {
          std::chrono::duration<double> spent{};
          water.reset();
          for (std::size_t i = 0; i < c.iterations(5); ++i) {
            water.build();
            const auto begin = std::chrono::steady_clock::now();
            sph_leaves<Backend, D>(water.nodes(), 0, 1, [&](const sph_node<D>& leaf) { water.density(leaf); });
            sph_leaves<Backend, D>(water.nodes(), 0, 1, [&](const sph_node<D>& leaf) { water.force(leaf); });
            spent += std::chrono::steady_clock::now() - begin;
            for_halves<Backend>(0, water.size(), sizeof(sph_particle<D>), sizeof(sph_particle<D>), 64 << 10,
                                [&](std::size_t first, std::size_t last) { water.move(first, last); });
          }
          return spent.count() * 1e3;
        },
        [&] { return water.checksum(); });
  });
}

}  // namespace heddle::bench
