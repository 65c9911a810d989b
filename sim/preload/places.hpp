// Where a simulated program's heap and stack begin.
#pragma once

namespace heddle::sim {

// The program tells the costs of data at the addresses that malloc chose, and these would move with every byte that was
// allocated before. Called first: from here on each block of a page or more has pages of its own, and begins at the
// same place in the first.
void place_blocks() noexcept;
// Called when the simulator has allocated what it needs from the beginning. The program's smaller blocks come from
// behind a fixed place. Blocks that the simulator has freed would otherwise be among them, and their sizes depend on
// names of files and machines. HEDDLE_SIM_PADDING bytes come first.
void begin_heap() noexcept;

}  // namespace heddle::sim
