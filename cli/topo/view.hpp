// What `heddle topo` shows, and the two forms in which it shows that.
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
  const machine::model* model;  // null if no machine was named: then there are no figures to show
  const topology& machine;      // all of it
  const topology& placed;       // for the workers
  const topology& shown;        // one of these
  const machine::limits& allowed;
  const machine::worker_plan& workers;
};

// `ascii`: the tree is drawn without Unicode.
void print_text(const view& v, bool ascii);
void print_json(const view& v);

}  // namespace heddle::cli::topo
