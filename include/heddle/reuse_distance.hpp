/// Reuse distances: how much cache a stream of accesses needs. One pass gives it for every capacity, for cores that
/// share a cache, and for parallel loops with a window.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include <heddle/export.hpp>

namespace heddle {

/// A window for a parallel loop whose workers share a cache (schedule::sliding_window), and its expected effect.
struct window_proposal {
  enum class reason : unsigned char {
    window,      ///< `length` is the longest window with which misses are near those of one core
    fits,        ///< no window: cores far apart miss hardly more often than one core
    no_sharing,  ///< no window: one core, or no cache
    /// No window: even one iteration for each core does not leave the cache what one core needs.
    too_long
  };
  reason why{reason::no_sharing};
  /// In iterations, or in accesses if no iterations were told; 0 means no window.
  std::uint64_t length{0};
  std::uint64_t reach{0};          ///< elements that so many iterations in a row touch
  std::uint64_t misses_alone{0};   ///< of one core that has the cache for itself
  std::uint64_t misses_apart{0};   ///< of all cores without a window
  std::uint64_t misses_within{0};  ///< of all cores with the window, at most; 0 without a window
};

/// Reuse distances of a stream of accesses. The distance of an access is the number of different elements accessed
/// since the last access of the same element, itself included (infinite for the first one). A fully associative
/// least-recently-used cache of C elements misses exactly the first accesses and the accesses with a distance above C.
/// So one pass gives the misses of every capacity. Elements are numbers; for caches they are addresses divided by the
/// size of a line.
///
/// With a rate below 1 only elements with a certain hash are looked at, each of which stands for several. Distances and
/// counts are then estimates, and time and memory shrink with the rate.
///
/// Sources: Mattson et al. 1970 (distances, and one pass for all capacities); Bennett and Kruskal 1975 (counting marks
/// by a binary indexed tree; times are renumbered when it is full, so that memory grows with the elements and not with
/// the accesses); Waldspurger et al., FAST 2015 (sampling by a hash of the element, "SHARDS"); Tchiboukdjian, Danjean,
/// Gautier, Le Mentec, Raffin, HPPC 2010 (cores that share a cache); Xiang et al., PACT 2011 (footprints from the times
/// between accesses).
///
/// The cost is O(log elements) for an access that is looked at. Thread context: any; not thread-safe; no function
/// suspends. Functions that allocate throw std::bad_alloc; the object must not be used after that.
class reuse_distance {
 public:
  static constexpr std::uint64_t infinite = ~std::uint64_t{0};
  static constexpr std::uint64_t not_sampled = 0;  ///< no distance, because distances begin at 1

  /// Throws std::invalid_argument unless 0 < rate <= 1.
  HEDDLE_API explicit reuse_distance(double rate = 1);

  /// Accesses an element. Returns its distance, or `infinite` for the first access of an element, or `not_sampled`.
  std::uint64_t access(std::uint64_t element) {
    ++accesses_;
    return hashed(element) <= limit_ ? take(element) : not_sampled;
  }
  /// Says that the accesses from here on belong to the next iteration of a loop. This is for windows, which are counted
  /// in iterations. All iterations are assumed to have equally many accesses.
  void next_iteration() noexcept { ++iterations_; }
  /// Says that the stream had `n` iterations, whatever next_iteration() has counted.
  void set_iterations(std::uint64_t n) noexcept { iterations_ = n; }

  double rate() const noexcept { return rate_; }
  std::uint64_t accesses() const noexcept { return accesses_; }
  std::uint64_t iterations() const noexcept { return iterations_; }
  /// Returns the number of different elements.
  std::uint64_t elements() const noexcept { return scaled(static_cast<double>(last_.size())); }

  struct bin {
    std::uint64_t distance;
    /// First accesses are in no bin; there are elements() of them.
    std::uint64_t accesses;
  };
  /// Returns h(d) for each d that occurs, by d.
  HEDDLE_API std::vector<bin> histogram() const;

  /// Returns M(C), the misses of a fully associative least-recently-used cache of `capacity` elements. O(largest
  /// distance).
  HEDDLE_API std::uint64_t misses(std::uint64_t capacity) const;
  struct point {
    std::uint64_t capacity;
    std::uint64_t misses;
  };
  /// Returns M(C) for all C: each capacity at which it changes, with its misses from there on. The first capacity is 0.
  HEDDLE_API std::vector<point> curve() const;

  /// Returns the misses of a shared cache when this stream, cut into equal parts, is worked on by `cores` cores far
  /// apart and at equal speed: M(C / p). `cores` is at least 1.
  std::uint64_t misses_apart(std::uint64_t capacity, unsigned cores) const { return misses(capacity / cores); }
  /// Returns an upper bound of the misses when the cores stay so close together that distances grow by at most `reach`
  /// elements: M(C) and the accesses with distances from C - reach + 1 to C.
  std::uint64_t misses_within(std::uint64_t capacity, std::uint64_t reach) const {
    return misses(capacity > reach ? capacity - reach : 0);
  }

  /// Returns the number of different elements among `length` accesses in a row, on average over all places of the
  /// stream.
  HEDDLE_API double footprint(std::uint64_t length) const;
  /// Returns r(m), the same for m iterations in a row.
  HEDDLE_API double reach(std::uint64_t iterations) const;

  /// Returns the longest window with which `cores` that share a cache of `capacity` elements miss at most `slack` more
  /// often than one core that has it for itself, by misses_within().
  HEDDLE_API window_proposal propose_window(std::uint64_t capacity, unsigned cores, double slack = 0.05) const;

 private:
  struct last_access {
    std::uint64_t mark;  // in tree_, from 1
    std::uint64_t time;  // the number of accesses until then, including this access
  };
  // The times between accesses of the same element, by length: exact up to 127, then 64 lengths an octave.
  struct gaps {
    std::uint64_t count{0};
    double sum{0};
  };

  static std::uint64_t hashed(std::uint64_t x) noexcept {  // Steele, Lea, Flood: splitmix64
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }
  std::uint64_t scaled(double sampled) const noexcept { return static_cast<std::uint64_t>(sampled / rate_ + 0.5); }
  // whole_distance returns the distance that a distance among samples stands for. sampled_distance returns the
  // largest sampled distance that stands for at most `whole`.
  std::uint64_t whole_distance(std::uint64_t sampled) const noexcept {
    return 1 + scaled(static_cast<double>(sampled - 1));
  }
  std::uint64_t sampled_distance(std::uint64_t whole) const noexcept;

  HEDDLE_API std::uint64_t take(std::uint64_t element);
  void mark(std::uint64_t time, std::int64_t by);
  std::uint64_t marks_up_to(std::uint64_t time) const;
  void renumber();
  void add_gap(std::vector<gaps>& to, std::uint64_t length) const;
  // Returns what gaps contribute to the windows of `length` accesses that do not meet an element.
  static double longer_than(const std::vector<gaps>& all, double length);
  std::vector<gaps> all_gaps() const;
  double footprint(const std::vector<gaps>& all, double length) const;

  double rate_;
  std::uint64_t limit_;  // only elements whose hash is not above it are looked at
  std::unordered_map<std::uint64_t, last_access> last_;
  std::vector<std::int64_t> tree_;
  std::uint64_t now_{0};  // marks so far
  std::uint64_t accesses_{0};
  std::uint64_t iterations_{0};
  std::vector<std::uint64_t> histogram_;  // by distance among samples
  std::vector<gaps> gaps_;
};

}  // namespace heddle
