// Reuse distances of a stream of accesses: the number of different elements accessed since the
// last access of the same one, itself included. A fully associative least-recently-used cache
// of C elements misses exactly the accesses with a distance above C and the first ones, so one
// pass gives the misses of every capacity (Mattson et al. 1970, doi 10.1147/sj.92.0078).
//
// Method: each element's last access marks its time; the distance is the number of marks since. Marks are counted by a
// binary indexed tree over times, as in Bennett and Kruskal 1975 (doi 10.1147/rd.194.0353); times are renumbered when
// the tree is full, so memory grows with the elements, not with the accesses. O(log elements) per access.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace heddle::sim {

// Not thread-safe.
class reuse_distance {
 public:
  static constexpr std::uint64_t infinite = ~std::uint64_t{0};

  reuse_distance();

  // Accesses an element; its distance, or `infinite` for the first access.
  std::uint64_t access(std::uint64_t element);

  std::uint64_t accesses() const noexcept { return accesses_; }
  std::uint64_t elements() const noexcept { return last_.size(); }
  // [d]: accesses with distance d; [0] is 0. First accesses are not in it: there are elements() of them.
  const std::vector<std::uint64_t>& histogram() const noexcept { return histogram_; }

  // M(C): misses of a fully associative least-recently-used cache of `capacity` elements.
  std::uint64_t misses(std::uint64_t capacity) const;
  // What `cores` miss together in a shared cache of `capacity` when this stream, cut into equal parts, is worked on far
  // apart and at equal speed: M(C / p). Tchiboukdjian, Danjean, Gautier, Le Mentec, Raffin.
  std::uint64_t misses_apart(std::uint64_t capacity, unsigned cores) const { return misses(capacity / cores); }
  // Upper bound when the cores stay so close together that reuse distances grow by at most `reach` elements.
  std::uint64_t misses_within(std::uint64_t capacity, std::uint64_t reach) const {
    return misses(capacity > reach ? capacity - reach : 0);
  }

 private:
  void mark(std::uint64_t time, std::int64_t by);
  std::uint64_t marks_up_to(std::uint64_t time) const;
  void renumber();

  std::unordered_map<std::uint64_t, std::uint64_t> last_;  // element -> time of its last access, from 1
  std::vector<std::int64_t> tree_;
  std::uint64_t now_{0};
  std::uint64_t accesses_{0};
  std::vector<std::uint64_t> histogram_;
};

}  // namespace heddle::sim
