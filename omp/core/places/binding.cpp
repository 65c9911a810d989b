#include "omp/core/places/binding.hpp"

#include <sched.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <heddle/machine.hpp>

#include "omp/core/settings/environment.hpp"
#include "omp/core/teams/members.hpp"
#include "omp/core/teams/team.hpp"
#include "omp/core/teams/thread.hpp"

namespace heddle::omp {

namespace {

const place* place_numbered(int number) noexcept {
  const place_list& all = process_environment().all_places;
  return number >= 0 && static_cast<std::size_t>(number) < all.size() ? &all[static_cast<std::size_t>(number)]
                                                                      : nullptr;
}

// The ranks of the workers whose processors are in the place. heddle knows the processors of its workers also when it
// does not bind them. The system may move them then, and a member is where its worker should be.
std::vector<unsigned> workers_in(const place& p) {
  std::vector<unsigned> ranks;
  const heddle::machine::view machine = heddle::runtime::current().machine();
  for (unsigned rank = 0; rank < machine.workers(); ++rank)
    if (std::find(p.begin(), p.end(), machine.unit_of(rank).number) != p.end()) ranks.push_back(rank);
  return ranks;
}

// Room for the processors of large machines.
constexpr int mask_bits = 1 << 14;
struct processor_mask {
  std::vector<std::uint64_t> words = std::vector<std::uint64_t>(mask_bits / 64);
  cpu_set_t* set() noexcept { return reinterpret_cast<cpu_set_t*>(words.data()); }
  std::size_t bytes() const noexcept { return words.size() * 8; }
};

// Whether the caller's kernel thread is bound to processors of that place alone.
bool is_within(int number) {
  const place* const p = place_numbered(number);
  processor_mask mask;
  if (p == nullptr || sched_getaffinity(0, mask.bytes(), mask.set()) != 0) return false;
  for (int i = 0; i < mask_bits; ++i)
    if (CPU_ISSET_S(i, mask.bytes(), mask.set()) && std::find(p->begin(), p->end(), i) == p->end()) return false;
  return true;
}

// The earlier mask of a kernel thread that is bound. It belongs to that thread.
thread_local std::unique_ptr<processor_mask> before_binding;

}  // namespace

int place_of(const team& t, unsigned number) noexcept {
  return place_of_member(t.variables.places, number, t.size).place;
}

bool bind_caller(thread& self, int number) noexcept {
  const place* const p = place_numbered(number);
  if (p == nullptr || is_user_level()) return false;
  if (self.bound == number) return true;
  heddle::runtime::current();  // this looks at the mask of the thread that makes the runtime
  processor_mask mask;
  if (before_binding == nullptr) {
    auto now = std::make_unique<processor_mask>();
    if (sched_getaffinity(0, now->bytes(), now->set()) != 0) return false;
    before_binding = std::move(now);
  }
  for (const int processor : *p)
    if (processor < mask_bits) CPU_SET_S(processor, mask.bytes(), mask.set());
  if (sched_setaffinity(0, mask.bytes(), mask.set()) != 0) {
    say_once("the system does not let threads be bound to place " + std::to_string(number));
    return false;
  }
  self.bound = number;
  self.parker.share_processor(true);
  return true;
}

void unbind_caller(thread& self) noexcept {
  if (self.bound < 0 || before_binding == nullptr || is_user_level()) return;
  if (sched_setaffinity(0, before_binding->bytes(), before_binding->set()) != 0) return;
  self.bound = -1;
  self.parker.share_processor(false);
}

bool bind_member(heddle::thread_options& options, unsigned number, int where) noexcept {
  const place* const p = place_numbered(where);
  if (p == nullptr) return false;
  const std::vector<unsigned> ranks = workers_in(*p);
  if (ranks.empty()) {
    say_once("place " + std::to_string(where) + ": no worker of heddle's is there, and members are not bound to it");
    return false;
  }
  options.worker = static_cast<std::uint16_t>(ranks[number % ranks.size()]);
  return true;
}

void settle_places(team& t, unsigned members) noexcept {
  const auto wanted = [&](unsigned i) { return place_of_member(t.variables.places, i, members).place; };
  if (const int own = wanted(0); own >= 0) bind_caller(*t.leader, own);
  for (unsigned i = 1; i < std::min(members, t.manned); ++i) {
    if (t.members[i]->placed == wanted(i)) continue;
    dismiss(t);
    return;
  }
}

member_place bound_place(thread& self) noexcept {
  const placement& where = self.in->variables.places;
  member_place at = place_of_member(where, self.number, self.in->size);
  if (at.place < 0 && where.count > 0) at = {-1, where.first, where.count};
  if (at.place < 0) return at;
  const bool is_bound = is_user_level() ? self.bound == at.place && is_within(at.place) : bind_caller(self, at.place);
  if (!is_bound) at.place = -1;
  return at;
}

}  // namespace heddle::omp
