#pragma once

namespace heddle::sim {

// From now on the program's annotations count, or not. `fast`: it may leave out the arithmetic whose cost it tells.
void offer_cost_model(bool offered, bool fast) noexcept;

}  // namespace heddle::sim
