// Where the threads of nested gangs sit, in virtual time: with gang_workers=load beside those of the gang that they are
// nested in, if there are enough workers: [gang:17] of src/worker/gangs/gangs.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <heddle/cost.hpp>
#include <heddle/heddle.hpp>
#include <heddle/team.hpp>

#include "sim/session.hpp"

namespace heddle::sim {
namespace gangs_by_load_test {
namespace {

constexpr double microsecond = 2500;  // cycles
constexpr unsigned outer = 2, inner = 3;

// The workers of a gang of two, and those of a gang of three that its first thread begins, while the second computes.
struct seats {
  std::set<int> of_outer, of_inner;

  unsigned shared() const {
    return static_cast<unsigned>(
        std::count_if(of_inner.begin(), of_inner.end(), [&](int rank) { return of_outer.contains(rank); }));
  }
};

seats of_nested_gangs(unsigned workers) {
  session_options o;
  o.machine = "skylake-4x16";
  o.charge = charging::annotations;
  const session simulation(o);
  runtime_options r;
  r.workers = workers;
  r.bind = "on";
  r.gang_workers = "load";
  runtime home(r);
  seats found;
  home.run([&] {
    std::vector<int> at(outer), inside(inner);
    team_options two, three;
    two.threads = outer, three.threads = inner;
    team(two).run([&](team_member& self) {
      at[self.number()] = home.worker_rank();
      if (self.number() != 0) return cost::cycles(1000 * microsecond);
      team(three).run([&](team_member& member) {
        inside[member.number()] = home.worker_rank();
        cost::cycles(10 * microsecond);
      });
    });
    found.of_outer.insert(at.begin(), at.end());
    found.of_inner.insert(inside.begin(), inside.end());
  });
  return found;
}

TEST(gangs_by_load, sit_beside_the_gang_that_they_are_nested_in) {
  const seats found = of_nested_gangs(8);
  EXPECT_EQ(found.of_outer.size(), outer);
  EXPECT_EQ(found.of_inner.size(), inner);
  EXPECT_EQ(found.shared(), 0u);
}

TEST(gangs_by_load, sit_with_a_waiting_ancestor_if_there_are_no_others) {
  const seats found = of_nested_gangs(outer + inner - 1);
  EXPECT_EQ(found.of_inner.size(), inner);
  EXPECT_EQ(found.shared(), 1u);
}

TEST(gangs_by_load, know_no_other_rule) { EXPECT_THROW(runtime({.gang_workers = "nearest"}), std::invalid_argument); }

}  // namespace
}  // namespace gangs_by_load_test
}  // namespace heddle::sim
