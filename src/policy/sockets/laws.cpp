// LAWS, locality-aware work stealing, for iterative programs bound by memory on machines with several nodes. Each
// socket owns an equal part of the program's data. A task runs on the socket in whose part its own data lies, in each
// iteration the same one (the allocator). The tasks of a socket are packed into subtrees that fit its cache and run one
// after the other (CF subtrees). laws-nc is the allocator alone. How the tiers work: cab_laws.md, bi_tier.cpp.
//
// Source: Chen, Guo, "Task scheduling for multi-core and parallel architectures" (Springer 2017), chapter 4.
//
// In the first iteration every task lies in its socket's pool. All workers of the socket take from there, and no
// others, so that pages come to the node of their socket. Later iterations: section 4.7.
//
// Deviations, and why:
// - The book does not place a task across the border of two sockets' parts. Here it runs where its range begins,
//   because its first half runs there, and so on down. A task that is known to have no children runs where most of its
//   range is.
// - A root runs on the first socket, because its first halves do, if it is the only root; others run anywhere.
// - b of Eq. 4.5 is two for a fork. For a group it is the expected number of children (task_group::expect), else the
//   number that the task had in the iteration before. In the first iteration such children have their parent's range.
// - Only whole CF subtrees are stolen, and only by a thief that insists: at the beginning of an iteration the pools of
//   the sockets that come last in the data are empty for a moment. Tasks above the CF roots are taken by their own
//   socket.
// - The first cut respects the sockets: a CF root's range lies within one. If counters are missing the declared bytes
//   are used. If nothing is known the topmost tasks within one socket are the CF roots at first.
// - laws-nc: tasks are shared out by their ranges until each socket has `pieces` of them (8, ours), regardless of the
//   cache. Several run at once on a socket, and other sockets steal from it.
// - Algorithm 6: cut_search.hpp. A program whose tree changes keeps its allocator. A task that the first iteration did
//   not have is a CF root where it begins within one socket.
// - A program that runs once has a first iteration only. The book's Eq. 3.5 for such programs is that of
//   cab-gto:soid=branching.
// - Programs bound by computing run under random_ws after some iterations: soid_profile.hpp.
#include "policy/sockets/laws.hpp"

#include "policy/sockets/cab_parameters.hpp"

namespace heddle::policy {

void laws::start(scheduler& host) {
  policy::start(host);
  tiers_.start(host);
  cache_ = settings_.cache > 0 ? settings_.cache : cache_of_a_socket(host);
  if (!tiers_.is_flat()) return;
  tiers_.start_plain();
  want_nothing(wants_);
}

tier_place laws::place(unsigned, tree_site& s, const tier_birth& b) noexcept {
  const unsigned sockets = tiers_.sockets();
  std::atomic<bool>& packed_here = sites_[s.number].packed;
  // relaxed: reset by the root before its first child
  if (s.passes == 0 && b.parent.parent == nullptr) packed_here.store(false, std::memory_order_relaxed);
  const bool packed = packed_here.load(std::memory_order_relaxed);  // relaxed: published with the tasks

  tier_node& child = b.child;
  const bool within = child.range.is_within_one(sockets);
  const bool is_last = packed && child.known && child.first_child == nullptr && !child.inlined;
  const unsigned socket = is_last ? child.range.main_socket(sockets) : child.range.first_socket(sockets);

  if (!packed) return {tier::inter, socket_pools::local, socket};
  if (!settings_.packs) {
    const bool piece = is_last || (within && child.width >= static_cast<double>(sockets) * settings_.pieces);
    return {piece ? tier::leaf : tier::inter, piece ? socket_pools::open : socket_pools::local, socket};
  }
  const bool root = child.known ? child.cut : within;
  return {root ? tier::leaf : tier::inter, root ? socket_pools::inter : socket_pools::upper, socket};
}

void laws::ends(unsigned self, tree_site& s, bool whole) noexcept {
  if (!whole || s.root->made == 0) return;
  // relaxed: this thread's own
  sites_[s.number].packed.load(std::memory_order_relaxed) ? tune(self, s) : pack(self, s);
  if (!sites_[s.number].counted) computing_.measured(s, soid_profile::guess(s, host_->workers(), settings_.cmpi));
  if (!computing_.ended(s)) return;
  host_->remark(self,
                sites_[s.number].counted
                    ? "laws: plain stealing, bound by computing; misses in a million instructions"
                    : "laws: plain stealing, as if bound by computing; declared lines in a million ns",
                computing_.misses_in_a_million(s));
  tiers_.go_plain();
}

void laws::pack(unsigned self, tree_site& s) noexcept {
  const soid_profile profile = soid_profile::of(self, tiers_.tree(), s, settings_.cmpi);
  sites_[s.number].counted = profile.measured;
  if (profile.measured) computing_.measured(s, profile);
  packing& here = sites_[s.number];
  const auto size = [&](const tier_node& n) { return profile.measured ? n.soid : n.bytes; };
  const unsigned roots = tiers_.tree().cut(s, cache_, size, [this](const tier_node& n) {
    return n.parent != nullptr && n.range.is_within_one(tiers_.sockets());
  });
  task_tree::save_cut(s);
  here.search = cut_search(settings_.repeats, settings_.margin, settings_.warmup);
  here.packed.store(true, std::memory_order_relaxed);  // relaxed: published with the next iteration's children
  if (!settings_.packs) return;
  host_->remark(self,
                profile.in_words({"laws: packed by the processor's counters, CF roots",
                                  "laws: packed by the simulator's counts, CF roots",
                                  "laws: packed by declared bytes, without counters, CF roots",
                                  "laws: packed by the number of sockets alone, CF roots"}),
                roots);
  if (profile.measured)
    host_->remark(self, "laws: misses in a million instructions, first iteration", profile.misses_in_a_million);
}

// Algorithm 6.
void laws::tune(unsigned self, tree_site& s) noexcept {
  cut_search& search = sites_[s.number].search;
  if (!settings_.packs || settings_.repeats == 0 || search.is_done()) return;
  const cut_search::advice advice = search.took(s.elapsed);
  if (advice.restore) task_tree::restore_cut(s);
  if (advice.save) task_tree::save_cut(s);
  cut_search::move next = advice.next;
  while (next != cut_search::move::none) {
    const unsigned moved = next == cut_search::move::finer
                               ? task_tree::cut_finer(s)
                               : task_tree::cut_coarser(s, [this](const tier_node& n) {
                                   return n.parent != nullptr && n.range.is_within_one(tiers_.sockets());
                                 });
    if (moved != 0) break;
    next = search.cannot();
  }
  if (!search.is_done()) return;
  host_->remark(self, "laws: packing settled, CF roots", task_tree::roots(s));
  // plus the iteration that was measured
  host_->remark(self, "laws: packing settled, after iterations", search.iterations() + 1);
}

namespace {

laws::settings settings_of(parameters& given, bool packs) {
  const cab_parameters shared = cab_parameters_of(given);
  laws::settings s{shared.tiers, shared.cache, 0, packs, 0, 0, 0, 8};
  s.tiers.pools.at_random = true;
  s.cmpi = given.number("cmpi", 0.001, 0, 1e3);
  if (packs) {
    s.repeats = given.whole("repeats", 2, 0, 1000);
    s.warmup = given.whole("warmup", 1, 0, 1000);
    s.margin = given.number("margin", 0.01, 0, 0.99);
  } else {
    s.pieces = given.whole("pieces", 8, 1, 4096);
  }
  return s;
}

}  // namespace

std::unique_ptr<policy> laws::make(parameters& given) { return create<laws>(settings_of(given, true)); }
std::unique_ptr<policy> laws::make_nc(parameters& given) { return create<laws>(settings_of(given, false)); }

}  // namespace heddle::policy
