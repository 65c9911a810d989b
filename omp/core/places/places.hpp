// Places (OpenMP 5.1, section 6.5): sets of processors that threads are bound to, and how a team lies in them (section
// 2.6.2).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "omp/core/settings/icv.hpp"

namespace heddle::omp {

// A processor that the process may use, and what it shares with others.
struct machine_unit {
  int number{0};  // the operating system's
  unsigned core{0};
  unsigned package{0};
  unsigned last_cache{0};  // number of its outermost cache
  int numa{0};
};
using machine_units = std::vector<machine_unit>;  // in the order of the machine: neighbours share the most

enum class place_kind : std::uint8_t { none, listed, threads, cores, ll_caches, numa_domains, sockets };

using place = std::vector<int>;  // operating system's numbers, in the order they were given
using place_list = std::vector<place>;

// What OMP_PLACES asks for.
struct place_request {
  place_kind kind{place_kind::none};
  int count{0};       // of an abstract name: how many; 0: all
  place_list listed;  // of a list
  // Of KMP_AFFINITY and GOMP_CPU_AFFINITY, which say both in one: how threads are bound when OMP_PROC_BIND is silent.
  bind_kind bind{bind_kind::yes};
  bool reset{false};    // KMP_AFFINITY=reset: a program's own thread is bound no longer than its outermost region
  bool verbose{false};  // KMP_AFFINITY=verbose: as OMP_DISPLAY_AFFINITY

  bool operator==(const place_request&) const = default;
};

// OMP_PLACES, GOMP_CPU_AFFINITY, KMP_AFFINITY. False: `text` is none, and `request` is unchanged.
bool parse_places(std::string_view text, place_request& request);
// What is taken for an OMP_PLACES that is none: the abstract name that it begins with, or cores, as LLVM has it.
std::string_view places_instead_of(std::string_view text) noexcept;
bool parse_cpu_affinity(std::string_view text, place_request& request);
bool parse_kmp_affinity(std::string_view text, place_request& request);
// As parse_places reads it.
std::string text_of(const place_request& request);
std::string text_of(const place_list& places);
// {0,1,2,5} -> "0-2,5"
std::string ranges_of(const place& processors);

// The places asked for that the machine has: processors that the process may not use are left out, and places that
// become empty. A line of `complaints` says so.
place_list places_on(const machine_units& machine, const place_request& request, std::vector<std::string>* complaints);

// Where a member of a team is.
struct member_place {
  int place{-1};  // -1: it is not bound
  int first{0};   // its partition, where the members of a region lie that it encounters
  int count{0};
};

// Member `number` of a team of `size` threads that lies as `where` says. Close: member i at the i-th place after the
// parent's, around the partition's end; more members than places: as many at each place as at any other, one more or
// less, neighbours together. Spread: the partition is divided into as many parts as there are members, each member at
// the first place of its part (the parent's in the part of member 0), which is its partition; more members than places:
// parts of one place each. Primary: all at the parent's.
member_place place_of_member(const placement& where, unsigned number, unsigned size) noexcept;

// How a team lies that is encountered by a thread at `outer` (its own place and partition), bound as `bind` says.
// How a region's proc_bind clause and bind-var decide: no binding at all when bind-var is false, the clause before
// bind-var else.
placement placement_of(const member_place& outer, bind_kind bind_var, int clause) noexcept;

}  // namespace heddle::omp
