// The contents of `heddle topo`, and its two forms.
#pragma once

#include "machine/limits.hpp"
#include "machine/model.hpp"
#include "machine/plan.hpp"
#include "machine/topology.hpp"

namespace heddle::cli::topo {

using machine::memory_group;
using machine::processing_unit;
using machine::topology;

struct view {
  // Null if no machine was named; then there are no figures to show.
  const machine::model* model;
  const topology& machine;  // the whole machine
  const topology& placed;   // the tree for the workers
  const topology& shown;    // one of the two
  const machine::limits& allowed;
  const machine::worker_plan& workers;
};

// If `ascii` is true, the tree is drawn without Unicode.
void print_text(const view& v, bool ascii);
void print_json(const view& v);

}  // namespace heddle::cli::topo
