#pragma once

namespace heddle::sim {

// Switches the program's annotations on or off. `fast`: the program may leave out the arithmetic whose cost it tells.
void offer_cost_model(bool offered, bool fast) noexcept;

}  // namespace heddle::sim
