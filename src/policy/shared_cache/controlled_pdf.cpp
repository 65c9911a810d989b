// CONTROLLED-PDF: the graph of a program is cut into L2-supernodes, whose data fits into the cache that all workers
// share. Each L2-supernode is cut into L1-supernodes, whose data fits into a worker's own cache. L2-supernodes run one
// after the other. The L1-supernodes of one L2-supernode run in parallel, in the order of the serial program; each runs
// on one worker.
//
// Source: Blelloch, Chowdhury, Gibbons, Ramachandran, Chen, Kozuch, "Provably good multicore cache performance for
// divide-and-conquer algorithms" (SODA 2008), as Chen and Guo (2017), section 3.2, describe it.
//
// The second half of a fork whose bytes exceed the shared cache is held back until the first half has ended. Each child
// of such a group is held back until the child before it has ended. So at most one part of it, an L2-supernode, is
// under way. Second halves and children that fit into the shared cache are tasks of a `pdf`, and are ready at once. A
// part that fits into a worker's own cache is no task of any policy: it stays on its worker.
//
// Deviations, and why:
// - The space function that the paper asks of the user is the hints of bytes. A child or second half has its share of
//   them by work, else by the number of siblings, else all. If no bytes are given, those of the task hold. If those are
//   not known either, everything is run in parallel, as under pdf.
// - The caches are those of worker 0: the largest that it shares, and its leaf. `shared` and `own` set others. On a
//   machine with several shared caches all workers still take part in one L2-supernode.
// - The owner of a group that is larger than the shared cache goes on to its wait; then its children run in their
//   order. A child that another task than the group's owner adds is not held back.
// - Each thread without a parent has an L2-supernode of its own.
#include "policy/shared_cache/controlled_pdf.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <utility>

namespace heddle::policy {

namespace {

constexpr float unknown = -1;

// The data of a task that is in the order of `pdf`, which keeps the first member [seam:4].
struct sized {
  bool is_pdfs;
  bool is_held;  // it is held back: it is ready, and `pdf` does not know of it
  // Whether one of the children that were held back is under way.
  bool has_released;
  float bytes;
  // Its open forks, one bit each, the innermost lowest: 1 if the second half is held back. A 1 stands above them.
  std::uint64_t forks;
  // The innermost second half that is held back. In a half that is held back itself: the next one further out.
  task* half;
  // The list of children that are held back. In such a child: the next one.
  task* held;
  task* parent;  // for a child that is or was held back
};

sized& of(task& t) noexcept { return t.get<sized>(); }

double bytes_of(std::size_t given, task& owner) noexcept {
  return given != 0 ? static_cast<double>(given) : static_cast<double>(of(owner).bytes);
}

// `pdf` begins its own part of the data afterwards.
void note(task& t, double bytes, double share, bool is_held, task* parent) noexcept {
  const float own = bytes < 0 ? unknown : static_cast<float>(bytes * share);
  t.keep(sized{false, is_held, false, own, 1, nullptr, nullptr, parent});
}

char held_back;  // the data of a group whose children are held back

double ratio(double part, double whole) noexcept { return part >= 0 && whole > 0 && part <= whole ? part / whole : -1; }

}  // namespace

void controlled_pdf::start(scheduler& host) {
  policy::start(host);
  ready_.start(host);
  const machine::view machine = host.machine();
  const bool known = machine.workers() == host.workers() && machine.workers() != 0;
  const machine::memory_group* cache = known ? machine.shared_cache_of(0) : nullptr;
  if (shared_ == 0) shared_ = cache != nullptr ? static_cast<double>(cache->capacity) : 0;
  if (shared_ == 0) shared_ = std::numeric_limits<double>::infinity();
  if (own_ == 0 && known && is_cache(machine.leaf_of(0).kind))
    own_ = static_cast<double>(machine.leaf_of(0).capacity);  // 0 if not known, and then nothing fits
}

controlled_pdf::tier controlled_pdf::tier_of(double bytes) const noexcept {
  if (bytes < 0) return tier::shared;
  return bytes > shared_ ? tier::upper : bytes > own_ ? tier::shared : tier::own;
}

placement controlled_pdf::started(unsigned self, const task_info& info) noexcept {
  note(info.made, unknown, 1, false, nullptr);
  return ready_.started(self, info);
}

void controlled_pdf::enqueue(unsigned self, task& t) noexcept {
  if (!of(t).is_held) return ready_.enqueue(self, t);
  task* const parent = of(t).parent;
  if (parent == nullptr) return;  // a second half: `fork` has put it where fork_wait finds it
  std::lock_guard hold(lock_);
  of(t).held = std::exchange(of(*parent).held, &t);
}

// --- children ----------------------------------------------------------------------------------------------------

void controlled_pdf::group_begin(unsigned, group_info& info) noexcept {
  if (info.owner.tag != nullptr && tier_of(bytes_of(info.bytes, info.owner)) == tier::upper) info.data = &held_back;
}

placement controlled_pdf::spawn(unsigned self, const task_info& info) noexcept {
  if (info.parent->tag == nullptr) return placement::child_first;  // inside an L1-supernode
  const double bytes = bytes_of(info.bytes, *info.parent);
  if (tier_of(bytes) == tier::own) return placement::child_first;
  double share = ratio(info.work, info.group_work);
  if (share < 0) share = info.siblings != 0 ? 1.0 / info.siblings : 1;
  const bool is_held = info.group_data == &held_back;
  note(info.made, bytes, share, is_held, is_held ? info.parent : nullptr);
  return ready_.spawn(self, info);
}

void controlled_pdf::group_wait(unsigned self, group_info& info) noexcept {
  if (info.data != &held_back) return;
  {
    std::lock_guard hold(lock_);
    task* oldest = nullptr;  // the list begins with the newest child
    for (task* t = of(info.owner).held; t != nullptr;) {
      task* const older = std::exchange(of(*t).held, oldest);
      oldest = std::exchange(t, older);
    }
    of(info.owner).held = oldest;
  }
  release_child_of(self, info.owner);
}

// Releases the next child, unless one is under way.
void controlled_pdf::release_child_of(unsigned self, task& parent) noexcept {
  task* next = nullptr;
  {
    std::lock_guard hold(lock_);
    sized& above = of(parent);
    if (above.has_released || above.held == nullptr) return;
    next = std::exchange(above.held, of(*above.held).held);
    above.has_released = true;
    of(*next).held = nullptr;
    of(*next).is_held = false;
  }
  ready_.enqueue(self, *next);
}

void controlled_pdf::task_end(unsigned self, task& t) noexcept {
  task* const parent = of(t).parent;
  ready_.task_end(self, t);
  if (parent == nullptr) return;
  {
    std::lock_guard hold(lock_);
    of(*parent).has_released = false;
  }
  release_child_of(self, *parent);
}

// --- forks -------------------------------------------------------------------------------------------------------

bool controlled_pdf::fork_begin(unsigned, const fork_info& info) noexcept {
  if (info.owner.tag == nullptr || of(info.owner).forks >> 63 != 0) return false;
  return tier_of(bytes_of(info.bytes, info.owner)) != tier::own;
}

placement controlled_pdf::fork(unsigned self, const fork_info& info, const task_info& half) noexcept {
  sized& owner = of(info.owner);
  const double bytes = bytes_of(info.bytes, info.owner);
  const bool is_held = tier_of(bytes) == tier::upper;
  const double share = ratio(info.second, info.first + info.second);
  note(half.made, bytes, share < 0 ? 0.5 : share, is_held, nullptr);
  owner.forks = owner.forks << 1 | (is_held ? 1u : 0u);
  if (is_held) of(half.made).half = std::exchange(owner.half, &half.made);
  return ready_.fork(self, info, half);
}

void controlled_pdf::fork_wait(unsigned self, task& owner) noexcept {
  sized& above = of(owner);
  const bool is_held = (above.forks & 1) != 0;
  above.forks >>= 1;
  if (!is_held) return;
  task& half = *above.half;
  above.half = std::exchange(of(half).half, nullptr);
  of(half).is_held = false;
  ready_.enqueue(self, half);
}

std::unique_ptr<policy> controlled_pdf::make(parameters& given) {
  const double shared = given.number("shared", 0, 0, 1e18);
  const double own = given.number("own", 0, 0, 1e18);
  return create<controlled_pdf>(shared, own);
}

}  // namespace heddle::policy
