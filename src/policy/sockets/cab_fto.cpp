// CAB-FTO, cache-aware bi-tier work stealing with the full tree oriented partition, for programs whose tree of tasks is
// full. Tasks down to the boundary level are shared out among sockets. Each subtree below it fits the cache of one
// socket and is run by one socket; a socket runs one subtree at a time. How the tiers work: cab_laws.md, bi_tier.cpp.
//
// Source: Chen, Guo, "Task scheduling for multi-core and parallel architectures" (Springer 2017), section 3.4.1.
//
// Deviations, and why:
// - B is two for a fork. For a group it is the expected number of children (task_group::expect), else the number that
//   the root had in the iteration before, else two; branching=N sets it. The book's compiler counts spawns.
// - S_d is the number of bytes that the outermost group or fork says that it touches, or bytes=N. If neither is given,
//   the boundary level gives each socket one task, and no more. The cache is the machine's, or cache=N.
// - level=N sets the boundary level, for programs whose recursion does not begin in the outermost group or fork, and
//   for sweeps. level=0 is plain stealing, which the book chooses for programs bound by computing; cab-gto and laws
//   find such programs by themselves.
#include "policy/sockets/cab_fto.hpp"

#include "policy/sockets/cab_parameters.hpp"

namespace heddle::policy {

void cab_fto::start(scheduler& host) {
  policy::start(host);
  tiers_.start(host);
  cache_ = settings_.cache > 0 ? settings_.cache : cache_of_a_socket(host);
  const bool chosen_plain = settings_.level_given && settings_.level == 0;
  if (!tiers_.is_flat() && !chosen_plain) return;
  tiers_.start_plain();
  want_nothing(wants_);
}

const char* cab_fto::words_of(const tier_birth& b) const noexcept {
  if (settings_.level_given) return "cab-fto: two tiers, boundary level as given";
  return b.parent.bytes > 0 && cache_ > 0 ? "cab-fto: two tiers by declared bytes, boundary level"
                                          : "cab-fto: two tiers by the number of sockets alone, boundary level";
}

unsigned cab_fto::level_of(unsigned self, const tree_site& s, const tier_birth& b) noexcept {
  std::atomic<unsigned>& known = levels_[s.number];  // relaxed: written by the root; published with its children
  if (b.parent.parent != nullptr) return known.load(std::memory_order_relaxed);
  unsigned level = settings_.level;
  if (!settings_.level_given) {
    const unsigned branching = settings_.branching != 0 ? settings_.branching : b.count != 0 ? b.count : 2;
    level = boundary_level(branching, tiers_.sockets(), b.parent.bytes, cache_);
  }
  known.store(level, std::memory_order_relaxed);  // relaxed as above
  if (said_.exchange(level) != level) host_->remark(self, words_of(b), level);
  return level;
}

tier_place cab_fto::place(unsigned self, tree_site& s, const tier_birth& b) noexcept {
  const unsigned boundary = level_of(self, s, b);
  const tier what = b.child.level < boundary ? tier::inter : b.child.level == boundary ? tier::leaf : tier::intra;
  return {what, socket_pools::inter, nobody};
}

std::unique_ptr<policy> cab_fto::make(parameters& given) {
  const cab_parameters shared = cab_parameters_of(given);
  settings s{shared.tiers, shared.cache, 0, 0, false};
  ask_for_cab(given, s.tiers);
  s.branching = given.whole("branching", 0, 0, 1e6);
  if (s.branching == 1)
    throw std::invalid_argument("policy cab-fto: branching=1: a task that branches has 2 children or more");
  s.level_given = !given.text("level").empty();
  s.level = given.whole("level", 0, 0, 64);
  return create<cab_fto>(s);
}

}  // namespace heddle::policy
