// The seam's functions about costs do nothing on real machines.
#include <heddle/detail/cost_model.hpp>
#include <heddle/pause.hpp>

#include <atomic>

#include "arch/arch.hpp"

constinit const heddle_cost_model* heddle_cost = nullptr;

namespace {
constinit std::atomic<bool> is_declared{false};
}

void heddle_cost_declare() { is_declared.store(true); }
int heddle_cost_is_declared() noexcept { return is_declared.load() ? 1 : 0; }

void heddle_pause() noexcept { heddle::arch::pause(); }
