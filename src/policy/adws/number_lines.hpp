// The number lines of a layout: which members there are, who is their head, how they stand side by side, and where
// between the lines of a machine's levels a group of given bytes belongs. Everything but the members' queues is fixed
// at the start. Introduction: adws.md. Sources: adws.cpp for one level, ml_adws.cpp for several.
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
  // `one`: one line, that of the workers. `by_group` and `by_range`: one line for each level below each memory group.
  // The two differ in the capacity with which a group of tasks is compared ("aggregation", see ml_adws.cpp). A machine
  // without levels has one line.
  enum class kind : std::uint8_t { one, by_group, by_range };
  // Under by_speed a member's part of the work goes by the speeds of its workers, not by their number.
  explicit number_lines(kind which, bool by_speed = false) noexcept : kind_(which), by_speed_(by_speed) {}

  void start(const scheduler& host);

  bool have_levels() const noexcept { return lines_.size() > 1; }
  // Lines are numbered from the root down.
  unsigned count() const noexcept { return static_cast<unsigned>(lines_.size()); }
  const domain& line(std::uint32_t which) const noexcept { return lines_[which]; }
  // The members are memory groups, by their ids; or workers, by rank.
  std::span<member> members() const noexcept { return {members_.get(), member_count_}; }
  member& of(unsigned which) const noexcept { return members_[which]; }
  unsigned id_of(const member& m) const noexcept { return static_cast<unsigned>(&m - members_.get()); }
  // The members whose head is that worker, the topmost first.
  std::span<const unsigned> headed_by(unsigned rank) const noexcept { return headed_by_[rank]; }

  // The place where the first root task is laid out.
  laid_out whole() const noexcept;
  unsigned owner_of(const laid_out& at) const noexcept {
    const std::vector<unsigned>& all = lines_[at.domain].members;
    return all[std::min<std::size_t>(at.range.owner(), all.size() - 1)];
  }
  // Whether the worker may lay children out at that place [adws:8]: it is the head of the member in which it lies, on
  // the number line of `at`, or that line is one of leaves.
  bool lead(unsigned self, const laid_out& at) const noexcept {
    const domain& d = lines_[at.domain];
    return d.leaf || members_[d.member_of(self)].head == self;
  }
  // Whether something of a task at that place can go to another member, or further down.
  bool distribute(const laid_out& at) const noexcept { return at.range.spans_members() || !lines_[at.domain].leaf; }
  // The place, of no length, of a task that lies within that worker's member.
  distribution_range place_of(unsigned worker, std::uint32_t line) const noexcept {
    const double here = lines_[line].place_of_worker[worker];
    return {here, here};
  }
  // Called when a group or fork of `bytes` (0 if not known) begins, made by a task that lies `at` and runs on that
  // worker. Changes line and range to where its children are to be laid out.
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
