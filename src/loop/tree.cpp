// The engine of loops whose parts may run in any order, compiled once for all their bodies.
#include <heddle/detail/loop_tree.hpp>

namespace heddle::detail {

template class loop_tree<loop_body>;

void run_loop_from_outside(loop_body body, std::size_t n, loop_site& site, std::size_t grain,
                           const std::stop_token& stop, std::size_t bytes) {
  run_in_runtime([&] { loop_tree<loop_body>(body, site, grain, stop, bytes).run(n, body); });
}

}  // namespace heddle::detail
