// Dam break in the plane: the interactions of particles under a quadtree, recursively over the tree, two passes a step;
// work is the number of particles. Some twenty neighbours a particle: what is near counts. Origin: section 4.4.3 of the
// ADWS thesis, which has the interactions of FDPS; sorting and building the tree are not timed there, nor here.
#pragma once

#include "sph/sph.hpp"

namespace heddle::bench {

struct sph2d {
  static constexpr std::size_t default_n = 50'000;
  template <class Backend>
  static constexpr bool supports = Backend::tasks;
  template <class Backend>
  static void execute(context& c) {
    sph_execute<Backend, 2>(c);
  }
};

}  // namespace heddle::bench
