// The parameters that cab-fto, cab-gto, laws and laws-nc share, and the steps that they all take at the start.
#pragma once

#include <heddle/policy.hpp>
#include "policy/sockets/bi_tier.hpp"

namespace heddle::policy {

struct cab_parameters {
  bi_tier::settings tiers;
  double cache;  // bytes of a socket's shared cache; 0 means the machine's
};

// sockets=N cuts the workers into N sockets; cache=N and bytes=N are in bytes.
inline cab_parameters cab_parameters_of(parameters& given) {
  cab_parameters p{};
  p.tiers.pools.sockets = given.whole("sockets", 0, 0, 4096);
  p.cache = given.number("cache", 0, 0, 1e18);
  p.tiers.pools.patience = given.whole("patience", 8, 0, 1e6);
  return p;
}

// The further parameters that the two forms of CAB share.
inline void ask_for_cab(parameters& given, bi_tier::settings& tiers) {
  tiers.bytes = given.number("bytes", 0, 0, 1e18);
  tiers.keeps = given.whole("keep", 1, 0, 1) != 0;
  if (!tiers.keeps) tiers.pools.patience = 0;  // no socket is better than another
  tiers.pools.literal = given.whole("literal", 0, 0, 1) != 0;
}

// With one socket there is nothing to share out. The policy is its random_ws, and hears of nothing.
inline void want_nothing(policy_wants& wants) noexcept {
  const policy_wants nothing;
  wants.spawns = wants.forks = wants.groups = wants.roots = wants.picks = wants.limits = false;
  wants.usage = wants.iterations = wants.elapsed = false;
  wants.work_conserving = nothing.work_conserving;
}

}  // namespace heddle::policy
