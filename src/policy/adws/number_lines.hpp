// The number lines of a layout: which members there are, who is their head, how they stand side by side, and where
// between the lines of a machine's levels a group of given bytes belongs. Settled at the start, but for the queues of
// the members. Introduction: adws.md. Sources: adws.cpp for one level, ml_adws.cpp for several.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <heddle/policy.hpp>
#include "policy/adws/distribution.hpp"
#include "policy/adws/members.hpp"

namespace heddle::policy {

class number_lines {
 public:
  // one: of the workers. by_group, by_range: one for each level below each memory group; the two differ in the
  // capacity that a group of tasks is compared with ("aggregation", see ml_adws.cpp). Where the machine has no levels
  // there is one line.
  enum class kind : std::uint8_t { one, by_group, by_range };
  // by_speed: a member's part of the work goes by the speeds of its workers, not by their number.
  explicit number_lines(kind which, bool by_speed = false) noexcept : kind_(which), by_speed_(by_speed) {}

  void start(const scheduler& host);

  bool have_levels() const noexcept { return lines_.size() > 1; }
  // Lines are numbered from the root down.
  unsigned count() const noexcept { return static_cast<unsigned>(lines_.size()); }
  const domain& line(std::uint32_t which) const noexcept { return lines_[which]; }
  // Memory groups, by their ids; or workers, by rank.
  std::span<member> members() const noexcept { return {members_.get(), member_count_}; }
  member& of(unsigned which) const noexcept { return members_[which]; }
  unsigned id_of(const member& m) const noexcept { return static_cast<unsigned>(&m - members_.get()); }
  // The members whose head that worker is, the topmost first.
  std::span<const unsigned> headed_by(unsigned rank) const noexcept { return headed_by_[rank]; }

  // Where the first root task is laid out.
  laid_out whole() const noexcept;
  unsigned owner_of(const laid_out& at) const noexcept {
    const std::vector<unsigned>& all = lines_[at.domain].members;
    return all[std::min<std::size_t>(at.range.owner(), all.size() - 1)];
  }
  // The worker is the head of the member that it lies in, on the number line of `at`, or that line is one of leaves:
  // it may lay children out there [adws:8].
  bool lead(unsigned self, const laid_out& at) const noexcept {
    const domain& d = lines_[at.domain];
    return d.leaf || members_[d.member_of(self)].head == self;
  }
  // Something of a task that lies there can go to another member, or further down.
  bool distribute(const laid_out& at) const noexcept { return at.range.spans_members() || !lines_[at.domain].leaf; }
  // Of a task that lies within that worker's member: no length.
  distribution_range place_of(unsigned worker, std::uint32_t line) const noexcept {
    const double here = lines_[line].place_of_worker[worker];
    return {here, here};
  }
  // A group or fork of `bytes` (0: not known), of a task that lies `at` and runs on that worker, begins: changes line
  // and range to where its children are to be laid out.
  void descend(unsigned self, laid_out& at, double bytes) const noexcept;

 private:
  void start_one(unsigned workers);
  void start_levels(machine::view machine);
  double capacity_of(const laid_out& at, unsigned level) const noexcept;
  speed_line speeds_of(const domain& d, machine::view machine) const;

  const kind kind_;
  const bool by_speed_;
  const scheduler* host_{nullptr};
  std::unique_ptr<member[]> members_;
  unsigned member_count_{0};
  std::vector<domain> lines_;
  std::vector<std::vector<unsigned>> headed_by_;  // by rank
  unsigned levels_{1};
  std::vector<std::uint32_t> line_of_;  // [memory group * levels_ + level]
};

}  // namespace heddle::policy
