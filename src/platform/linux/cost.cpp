// Real machines need not be told what code costs.
#include <heddle/detail/cost_model.hpp>
#include <heddle/pause.hpp>

#include "arch/arch.hpp"

constinit const heddle_cost_model* heddle_cost = nullptr;

void heddle_cost_declare() {}

void heddle_pause() noexcept { heddle::arch::pause(); }
