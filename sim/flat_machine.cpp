#include "sim/flat_machine.hpp"

#include <algorithm>
#include <vector>

namespace heddle::sim {

machine::model bare_machine(const std::string& synthetic, std::span<const cache_form> caches) {
  machine::topology tree = machine::topology::from_synthetic(synthetic);
  std::vector<machine::cache_info> formed(tree.caches().begin(), tree.caches().end());
  for (machine::cache_info& c : formed) {
    const auto form = std::ranges::find(caches, c.kind, &cache_form::level);
    if (form == caches.end()) continue;
    c.capacity = form->bytes;
    c.line_size = form->line;
    c.associativity = form->ways;
  }
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
  return {.name = synthetic, .tree = tree.with_caches(formed)};
#pragma GCC diagnostic pop
}

machine::model two_level_machine(cache_form first, cache_form last) {
  first.level = machine::group_kind::l1;
  last.level = machine::group_kind::l2;
  const cache_form both[] = {first, last};
  // The sizes in this text are replaced below; hwloc wants inner caches to be smaller.
  machine::model model = bare_machine("l2:1(size=1MB) l1:2(size=32KB) pu:1", both);
  model.page_size = std::uint64_t{1} << 30;
  return model;
}

}  // namespace heddle::sim
