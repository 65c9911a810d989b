// CAB-GTO, cache-aware bi-tier work stealing with the general tree oriented partition, for programs whose tree of tasks
// is not full. The cut lies where the data that a subtree touches (SOID, its size of involved data) fits into the cache
// of a socket for the first time. How the tiers work: cab_laws.md, bi_tier.cpp.
//
// Source: Chen, Guo, "Task scheduling for multi-core and parallel architectures" (Springer 2017), section 3.4.2 and
// table 3.3.
//
// The parameter soid= says where sizes come from:
// - branching: Eq. 3.5, the bytes that the outermost group or fork touches (or bytes=N), divided by the number of
//   children all the way down. For programs that run once.
// - declared: the bytes that each group and fork says that it touches, divided by its children's shares of the work.
//   Below a group or fork that says nothing, as under branching.
// - profile: Eq. 3.6. The first iteration runs under random stealing, with every task counted; later ones are cut by
//   its tree.
// - auto: declared if the outermost group or fork tells its bytes, else profile.
// - The book's three cases leave equality open, and section 3.7.1.2 has another rule than section 3.4.2. Here a task is
//   a leaf inter-socket task if its size fits (<=) and its parent's does not.
// - The book drops the bound of section 3.4.1, at least one leaf inter-socket task for each socket. Without it, data
//   that fits into one cache would keep all other sockets idle. Here a task is a leaf only if its level would have as
//   many tasks as there are sockets, if all tasks branched as its ancestors do. bound=0 is the book's rule.
// - A first half of a fork has no counts of its own: task_tree::sum_up. A task that the first iteration did not have is
//   cut by its share of the bytes. If counters are missing the declared bytes are used, and if nothing is known the
//   bound alone.
// - The book's Table 3.3 cites Eq. 3.6 for programs that run once; it must be 3.5.
// - Programs bound by computing run under random_ws after some iterations: soid_profile.hpp.
#include "policy/sockets/cab_gto.hpp"

#include <array>

#include "policy/sockets/cab_parameters.hpp"

namespace heddle::policy {

void cab_gto::start(scheduler& host) {
  policy::start(host);
  tiers_.start(host);
  cache_ = settings_.cache > 0 ? settings_.cache : cache_of_a_socket(host);
  if (settings_.from == sizes::declared || settings_.from == sizes::branching) wants_.usage = false;
  if (!tiers_.is_flat()) return;
  tiers_.start_plain();
  want_nothing(wants_);
}

// Decides by what is known when the task is made.
bool cab_gto::is_cut(const tier_node& child) const noexcept {
  if (settings_.bounded && child.width < tiers_.sockets()) return false;
  return child.bytes <= 0 || cache_ <= 0 || child.bytes <= cache_;
}

tier_place cab_gto::place(unsigned, tree_site& s, const tier_birth& b) noexcept {
  std::atomic<phase>& of_site = phases_[s.number];  // relaxed: written by the root; published with its children
  phase now = of_site.load(std::memory_order_relaxed);
  if (b.parent.parent == nullptr && s.passes == 0) {
    const bool by_bytes = settings_.from == sizes::declared || settings_.from == sizes::branching ||
                          (settings_.from == sizes::automatic && b.parent.bytes > 0);
    now = by_bytes ? phase::by_bytes : phase::measuring;
    of_site.store(now, std::memory_order_relaxed);  // relaxed as above
  }
  if (now == phase::measuring) return {tier::inter, socket_pools::open, nobody};
  const bool by_tree = now == phase::by_tree && b.child.known;
  if (by_tree ? b.parent.cut : !settings_.bounded && b.parent.parent == nullptr && is_cut(b.parent))
    return {tier::intra, socket_pools::inter, nobody};  // the whole program fits into one cache
  const bool cut = by_tree ? b.child.cut : is_cut(b.child);
  return {cut ? tier::leaf : tier::inter, socket_pools::inter, nobody};
}

void cab_gto::say_bytes(unsigned self, double bytes) noexcept {
  const char* const what = bytes <= 0 ? "cab-gto: two tiers by the number of sockets alone, bytes"
                           : settings_.from == sizes::branching
                               ? "cab-gto: two tiers by declared bytes of the whole and by branching, bytes"
                               : "cab-gto: two tiers by declared bytes, of the whole";
  host_->remark(self, what, static_cast<std::uint64_t>(bytes));
}

// The sizes of figure 3.18.
void cab_gto::say_sizes(unsigned self, tree_site& s) noexcept {
  static constexpr std::array words{
      "cab-gto: mean bytes of a task of level 1", "cab-gto: mean bytes of a task of level 2",
      "cab-gto: mean bytes of a task of level 3", "cab-gto: mean bytes of a task of level 4"};
  std::array<double, words.size()> bytes{};
  std::array<unsigned, words.size()> tasks{};
  task_tree::walk(s.root, [&](const tier_node& n) {
    if (n.level > words.size()) return false;
    bytes[n.level - 1] += n.soid;
    ++tasks[n.level - 1];
    return n.level < words.size();
  });
  for (std::size_t i = 0; i < words.size(); ++i)
    if (tasks[i] != 0) host_->remark(self, words[i], static_cast<std::uint64_t>(bytes[i] / tasks[i]));
}

void cab_gto::ends(unsigned self, tree_site& s, bool whole) noexcept {
  std::atomic<phase>& of_site = phases_[s.number];
  // relaxed: this thread's own; before the first child of the iteration it is that of the older site with the same
  // number
  const phase now = of_site.load(std::memory_order_relaxed);
  if (!whole || s.root->made == 0) return;
  if (now == phase::by_bytes && s.passes == 0) say_bytes(self, s.root->bytes);
  if (now == phase::measuring) {
    const soid_profile profile = soid_profile::of(self, tiers_.tree(), s, settings_.cmpi);
    counted_[s.number] = profile.measured;
    if (profile.measured) computing_.measured(s, profile);
    const double least = settings_.bounded ? tiers_.sockets() : 1;
    const auto size = [&](const tier_node& n) { return profile.measured ? n.soid : n.bytes; };
    const unsigned roots = tiers_.tree().cut(s, cache_, size, [least](const tier_node& n) { return n.width >= least; });
    of_site.store(phase::by_tree, std::memory_order_relaxed);  // relaxed: published with the next iteration's children
    host_->remark(self,
                  profile.in_words({"cab-gto: two tiers by the processor's counters, leaf inter-socket tasks",
                                    "cab-gto: two tiers by the simulator's counts, leaf inter-socket tasks",
                                    "cab-gto: two tiers by declared bytes, without counters, leaf inter-socket tasks",
                                    "cab-gto: two tiers by the number of sockets alone, leaf inter-socket tasks"}),
                  roots);
    if (profile.measured) {
      host_->remark(self, "cab-gto: misses in a million instructions, first iteration", profile.misses_in_a_million);
      say_sizes(self, s);
    }
  }
  if (now == phase::by_bytes || !counted_[s.number])
    computing_.measured(s, soid_profile::guess(s, host_->workers(), settings_.cmpi));
  if (!computing_.ended(s)) return;
  host_->remark(self,
                counted_[s.number]
                    ? "cab-gto: plain stealing, bound by computing; misses in a million instructions"
                    : "cab-gto: plain stealing, as if bound by computing; declared lines in a million ns",
                computing_.misses_in_a_million(s));
  tiers_.go_plain();
}

std::unique_ptr<policy> cab_gto::make(parameters& given) {
  const cab_parameters shared = cab_parameters_of(given);
  settings s{shared.tiers, shared.cache, sizes::automatic, 0, true};
  s.from = static_cast<sizes>(given.choice("soid", "auto|declared|branching|profile"));
  s.tiers.even = s.from == sizes::branching;
  ask_for_cab(given, s.tiers);
  s.cmpi = given.number("cmpi", 0.001, 0, 1e3);
  s.bounded = given.whole("bound", 1, 0, 1) != 0;
  return create<cab_gto>(s);
}

}  // namespace heddle::policy
