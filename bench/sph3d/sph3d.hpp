// Dam break in space: the interactions of particles under an octree, recursively over the tree, two passes a step; work
// is the number of particles. Some sixty neighbours a particle: bound by computation, and uneven. Origin: section 4.4.3
// of the ADWS thesis, which has the interactions of FDPS; sorting and building the tree are not timed there, nor here.
#pragma once

#include "sph/sph.hpp"

namespace heddle::bench {

struct sph3d {
  static constexpr std::size_t default_n = 20'000;
  template <class Backend>
  static constexpr bool supports = Backend::tasks;
  template <class Backend>
  static void execute(context& c) {
    sph_execute<Backend, 3>(c);
  }
};

}  // namespace heddle::bench
