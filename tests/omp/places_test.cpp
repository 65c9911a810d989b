// Places: how they are written, what a machine has of them, and how teams lie in them.
#include "omp/core/places/places.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "omp/core/places/machine_subset.hpp"

namespace places_test {
namespace {

using namespace heddle::omp;
using testing::ElementsAre;

machine_units sixteen() {
  machine_units units;
  for (int i = 0; i < 16; ++i) {
    const auto u = static_cast<unsigned>(i);
    units.push_back({i, u / 2, u / 8, u / 4, i / 8});
  }
  return units;
}

place_list listed(std::string_view text) {
  place_request request;
  EXPECT_TRUE(parse_places(text, request)) << text;
  return request.listed;
}

place_list on_sixteen(std::string_view text, std::vector<std::string>* complaints = nullptr) {
  place_request request;
  EXPECT_TRUE(parse_places(text, request)) << text;
  return places_on(sixteen(), request, complaints);
}

TEST(Places, Intervals) {
  EXPECT_THAT(listed("{0,1,2}"), ElementsAre(place{0, 1, 2}));
  EXPECT_THAT(listed("{0:3}"), ElementsAre(place{0, 1, 2}));
  EXPECT_THAT(listed("{0:3:4}"), ElementsAre(place{0, 4, 8}));
  EXPECT_THAT(listed("{8:3:-4}"), ElementsAre(place{8, 4, 0}));
  EXPECT_THAT(listed(" { 0 : 2 } : 2 : 2 "), ElementsAre(place{0, 1}, place{2, 3}));
  EXPECT_THAT(listed("{0:2}:3"), ElementsAre(place{0, 1}, place{1, 2}, place{2, 3}));
  EXPECT_THAT(listed("{4}:3:-2"), ElementsAre(place{4}, place{2}, place{0}));
  EXPECT_THAT(listed("{0},{2:2}:2:2"), ElementsAre(place{0}, place{2, 3}, place{4, 5}));
  EXPECT_THAT(listed("0,3,5"), ElementsAre(place{0}, place{3}, place{5}));
}

TEST(Places, Exclusions) {
  EXPECT_THAT(listed("{0:4,!2}"), ElementsAre(place{0, 1, 3}));
  EXPECT_THAT(listed("{0}:4,!{2}"), ElementsAre(place{0}, place{1}, place{3}));
  place_request request;
  EXPECT_FALSE(parse_places("{0,!0}", request));
  EXPECT_FALSE(parse_places("{0},!{0}", request));
}

TEST(Places, NamesOnAMachine) {
  EXPECT_EQ(on_sixteen("threads").size(), 16u);
  EXPECT_THAT(on_sixteen("cores(2)"), ElementsAre(place{0, 1}, place{2, 3}));
  EXPECT_EQ(on_sixteen("cores").size(), 8u);
  EXPECT_EQ(on_sixteen("cores(99)").size(), 8u);
  EXPECT_THAT(on_sixteen("ll_caches(1)"), ElementsAre(place{0, 1, 2, 3}));
  EXPECT_EQ(on_sixteen("ll_caches").size(), 4u);
  EXPECT_EQ(on_sixteen("sockets").size(), 2u);
  EXPECT_THAT(on_sixteen("numa_domains")[1], ElementsAre(8, 9, 10, 11, 12, 13, 14, 15));
}

TEST(Places, ProcessorsThatAreNotThereAreLeftOut) {
  std::vector<std::string> complaints;
  EXPECT_THAT(on_sixteen("{14:4},{20:2},{0}", &complaints), ElementsAre(place{14, 15}, place{0}));
  EXPECT_EQ(complaints.size(), 1u);
  EXPECT_TRUE(on_sixteen("{99}", nullptr).empty());
}

TEST(Places, TheOlderVariables) {
  place_request request;
  ASSERT_TRUE(parse_cpu_affinity("0 3 1-2 4-9:2", request));
  EXPECT_THAT(request.listed, ElementsAre(place{0}, place{3}, place{1}, place{2}, place{4}, place{6}, place{8}));
  ASSERT_TRUE(parse_kmp_affinity("granularity=fine,proclist=[3,0,{1,2}],explicit", request));
  EXPECT_THAT(request.listed, ElementsAre(place{3}, place{0}, place{1, 2}));
  ASSERT_TRUE(parse_kmp_affinity("granularity=thread,compact,1,0", request));
  EXPECT_EQ(request.kind, place_kind::threads);
  EXPECT_EQ(request.bind, bind_kind::close);
  ASSERT_TRUE(parse_kmp_affinity("scatter", request));
  EXPECT_EQ(request.kind, place_kind::cores);
  EXPECT_EQ(request.bind, bind_kind::spread);
}

TEST(Places, Ranges) {
  EXPECT_EQ(ranges_of({0, 1, 2, 5}), "0-2,5");
  EXPECT_EQ(ranges_of({7}), "7");
  EXPECT_EQ(ranges_of({3, 1, 2}), "1-3");
  EXPECT_EQ(ranges_of({}), "");
}

std::vector<int> places_of_team(const placement& where, unsigned size) {
  std::vector<int> places;
  for (unsigned i = 0; i < size; ++i) places.push_back(place_of_member(where, i, size).place);
  return places;
}

// The examples of the standard's section 2.6.2 and its appendix of examples: eight places.
TEST(Binding, Close) {
  EXPECT_THAT(places_of_team({0, 8, 0, bind_kind::close}, 4), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(places_of_team({0, 8, 6, bind_kind::close}, 4), ElementsAre(6, 7, 0, 1));
  EXPECT_THAT(places_of_team({0, 4, 0, bind_kind::close}, 8), ElementsAre(0, 0, 1, 1, 2, 2, 3, 3));
  EXPECT_THAT(places_of_team({0, 4, 2, bind_kind::close}, 6), ElementsAre(2, 2, 3, 3, 0, 1));
}

TEST(Binding, Primary) { EXPECT_THAT(places_of_team({0, 8, 5, bind_kind::primary}, 3), ElementsAre(5, 5, 5)); }

TEST(Binding, Spread) {
  EXPECT_THAT(places_of_team({0, 8, 0, bind_kind::spread}, 4), ElementsAre(0, 2, 4, 6));
  const member_place third = place_of_member({0, 8, 0, bind_kind::spread}, 2, 4);
  EXPECT_EQ(third.first, 4);
  EXPECT_EQ(third.count, 2);
  // Eight places, three parts of 3, 3 and 2; the parent's place is inside the second.
  EXPECT_THAT(places_of_team({0, 8, 4, bind_kind::spread}, 3), ElementsAre(4, 6, 0));
  EXPECT_THAT(places_of_team({0, 4, 1, bind_kind::spread}, 6), ElementsAre(1, 1, 2, 2, 3, 0));
  EXPECT_EQ(place_of_member({0, 4, 1, bind_kind::spread}, 5, 6).count, 1);
}

TEST(Binding, OneIsNotBound) {
  EXPECT_EQ(place_of_member({0, 8, 0, bind_kind::no}, 1, 4).place, -1);
  EXPECT_EQ(place_of_member({}, 1, 4).place, -1);
}

// Whatever the numbers: members lie in the partition, member 0 at the parent's place, partitions of spread are disjoint
// and cover, and places are used evenly.
TEST(Binding, HoldsForAllSmallTeams) {
  for (int count = 1; count <= 9; ++count) {
    for (int parent = 2; parent < 2 + count; ++parent) {
      for (unsigned size = 1; size <= 20; ++size) {
        for (const bind_kind bind : {bind_kind::close, bind_kind::spread}) {
          const placement where{2, count, parent, bind};
          std::vector<int> users(static_cast<std::size_t>(count));
          int covered = 0;
          for (unsigned i = 0; i < size; ++i) {
            const member_place at = place_of_member(where, i, size);
            ASSERT_GE(at.place, 2);
            ASSERT_LT(at.place, 2 + count);
            ASSERT_GE(at.place, at.first);
            ASSERT_LT(at.place, at.first + at.count);
            ++users[static_cast<std::size_t>(at.place - 2)];
            covered += at.count;
          }
          EXPECT_EQ(place_of_member(where, 0, size).place, parent);
          const auto [least, most] = std::minmax_element(users.begin(), users.end());
          EXPECT_LE(*most - *least, 1);
          const bool in_parts = bind == bind_kind::spread && size <= static_cast<unsigned>(count);
          EXPECT_TRUE(!in_parts || covered == count) << covered << ' ' << count;
        }
      }
    }
  }
}

TEST(Binding, AClauseCountsBeforeTheVariableButNotWhenThatIsFalse) {
  const member_place here{3, 2, 4};
  EXPECT_EQ(placement_of(here, bind_kind::close, -1).bind, bind_kind::close);
  EXPECT_EQ(placement_of(here, bind_kind::close, 4).bind, bind_kind::spread);
  EXPECT_EQ(placement_of(here, bind_kind::yes, -1).bind, bind_kind::close);
  EXPECT_EQ(placement_of(here, bind_kind::no, 4).bind, bind_kind::no);
  EXPECT_EQ(placement_of({-1, 0, 0}, bind_kind::close, -1).count, 0);
}

std::vector<int> numbers_in(const char* text) {
  machine_subset subset;
  EXPECT_TRUE(parse_subset(text, subset)) << text;
  std::vector<int> numbers;
  for (const machine_unit& u : units_in(subset, sixteen())) numbers.push_back(u.number);
  return numbers;
}

// Two sockets of four cores of two threads.
TEST(Subset, HasSoManyOfEachPart) {
  using numbers = std::vector<int>;
  EXPECT_EQ(numbers_in("1t"), (numbers{0, 2, 4, 6, 8, 10, 12, 14}));
  EXPECT_EQ(numbers_in("1s"), (numbers{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(numbers_in("1s@1,2c@1,1t@1"), (numbers{11, 13}));
  EXPECT_EQ(numbers_in("1t,1s,2c"), (numbers{0, 2})) << "in any order";
  EXPECT_EQ(numbers_in("*s,1c"), (numbers{0, 1, 8, 9}));
  EXPECT_EQ(numbers_in(":1s,3t@1"), (numbers{1, 2, 3})) << "whatever cores they are of";
  EXPECT_EQ(numbers_in(":5t@11"), (numbers{11, 12, 13, 14, 15}));
  EXPECT_TRUE(numbers_in("5c").empty());
  EXPECT_TRUE(numbers_in("1s@2").empty());
  EXPECT_TRUE(numbers_in("2t@1").empty());
}

}  // namespace
}  // namespace places_test
