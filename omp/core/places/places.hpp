// Places (OpenMP 5.1, section 6.5): sets of processors to which threads are bound, and the way in which a team lies in
// them (section 2.6.2).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "omp/core/settings/icv.hpp"

namespace heddle::omp {

// A processor that the process may use, and the parts of the machine that it shares with others.
struct machine_unit {
  int number{0};  // the operating system's
  unsigned core{0};
  unsigned package{0};
  unsigned last_cache{0};  // number of its outermost cache
  int numa{0};
};
// In the order of the machine: neighbours share the most.
using machine_units = std::vector<machine_unit>;

enum class place_kind : std::uint8_t { none, listed, threads, cores, ll_caches, numa_domains, sockets };

using place = std::vector<int>;  // the operating system's numbers, in the order in which they were given
using place_list = std::vector<place>;

// The request of OMP_PLACES.
struct place_request {
  place_kind kind{place_kind::none};
  int count{0};       // for an abstract name: the number of places; 0 means all
  place_list listed;  // for a list
  // For KMP_AFFINITY and GOMP_CPU_AFFINITY, which say both in one: how threads are bound if OMP_PROC_BIND is not given.
  bind_kind bind{bind_kind::yes};
  // KMP_AFFINITY=reset: a program's own thread is bound only until its outermost region ends.
  bool reset{false};
  bool verbose{false};  // KMP_AFFINITY=verbose: as OMP_DISPLAY_AFFINITY

  bool operator==(const place_request&) const = default;
};

// Read OMP_PLACES, GOMP_CPU_AFFINITY, KMP_AFFINITY. Return false, with `request` unchanged, if `text` has another form.
bool parse_places(std::string_view text, place_request& request);
// The value that replaces an invalid OMP_PLACES: the abstract name with which it begins, or cores, as in LLVM.
std::string_view places_instead_of(std::string_view text) noexcept;
bool parse_cpu_affinity(std::string_view text, place_request& request);
bool parse_kmp_affinity(std::string_view text, place_request& request);
// In the form that parse_places reads.
std::string text_of(const place_request& request);
std::string text_of(const place_list& places);
// {0,1,2,5} -> "0-2,5"
std::string ranges_of(const place& processors);

// The requested places that the machine has. Processors that the process may not use are left out, and so are places
// that become empty. A line of `complaints` says so.
place_list places_on(const machine_units& machine, const place_request& request, std::vector<std::string>* complaints);

// The place of a member of a team.
struct member_place {
  int place{-1};  // -1 if it is not bound
  int first{0};   // its partition, where the members of a region lie that it encounters
  int count{0};
};

// The place of member `number` of a team of `size` threads that lies as `where` says. close: member i is at the i-th
// place after the parent's, around the partition's end. If there are more members than places, all places have the same
// number of members, give or take one, with neighbours together. spread: the partition is divided into as many parts as
// there are members. Each member is at the first place of its part, which is its partition; in the part of member 0 it
// is the parent's place. If there are more members than places, the parts have one place each. primary: all members are
// at the parent's place.
member_place place_of_member(const placement& where, unsigned number, unsigned size) noexcept;

// The placement of a team that is encountered by a thread at `outer` (its own place and partition). The region's
// proc_bind clause and bind-var decide: there is no binding at all if bind-var is false; otherwise the clause takes
// precedence over bind-var.
placement placement_of(const member_place& outer, bind_kind bind_var, int clause) noexcept;

}  // namespace heddle::omp
