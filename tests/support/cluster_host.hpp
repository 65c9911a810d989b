// A host for policies that are tested by themselves: two clusters of four workers, each of two pairs. It notes who is
// robbed and asked, and queues hold as many entries as the test says.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "support/idle_host.hpp"

namespace heddle_test {

class cluster_host : public idle_host {
 public:
  static constexpr unsigned count = 8;
  using memory_group = heddle::machine::memory_group;

  cluster_host() : idle_host(count), entries(count, 0) {
    add(heddle::machine::no_group, 0, 8, 0);
    for (unsigned c = 0; c < 2; ++c) add(0, 4 * c, 4, 1);
    for (unsigned p = 0; p < 4; ++p) add(1 + p / 2, 2 * p, 2, 2);
    for (unsigned w = 0; w < count; ++w) {
      leaves_.push_back(static_cast<unsigned>(groups_.size()));
      add(3 + w / 2, w, 1, 3);
    }
    units_.resize(count);
    for (unsigned w = 0; w < count; ++w) units_[w].numa = static_cast<int>(w / 4);
  }

  heddle::machine::view machine() const noexcept override { return {groups_, leaves_, units_, latencies_}; }
  unsigned distance(unsigned a, unsigned b) const noexcept override { return machine().distance(a, b); }
  std::uint32_t random(unsigned, std::uint32_t bound) noexcept override { return drawn++ % bound; }
  bool has_work(unsigned victim) const noexcept override { return entries[victim] != 0; }
  unsigned queued(unsigned worker) const noexcept override { return entries[worker]; }
  // All entries of a worker are 100 + its rank. A glance finds the public ones.
  entry steal(unsigned, unsigned victim, effort how) noexcept override {
    robbed.push_back(victim);
    if (entries[victim] == 0 || (how == effort::glance && !is_public)) return 0;
    --entries[victim];
    return 100 + victim;
  }
  bool ask(unsigned self, unsigned victim) noexcept override {
    asked.emplace_back(self, victim);
    standing.emplace_back(self, victim);
    return true;
  }
  bool asks(unsigned self, unsigned victim) const noexcept override { return place_of(self, victim) != none; }
  bool withdraw(unsigned self, unsigned victim) noexcept override {
    const std::size_t place = place_of(self, victim);
    if (place == none) return false;
    standing.erase(standing.begin() + static_cast<std::ptrdiff_t>(place));
    return true;
  }
  // As if the victim had answered.
  void answer(unsigned self, unsigned victim) { static_cast<void>(withdraw(self, victim)); }
  void watch(unsigned self, bool on) noexcept override {
    if (!on) unwatched.push_back(self);
  }
  bool wake(unsigned rank) noexcept override {
    woken.push_back(rank);
    return true;
  }
  entry entry_of(task& t) noexcept override { return reinterpret_cast<entry>(&t); }

  std::vector<unsigned> entries;  // queued, by rank
  bool is_public{true};
  std::uint32_t drawn{0};
  std::vector<unsigned> robbed, unwatched, woken;
  std::vector<std::pair<unsigned, unsigned>> asked, standing;  // who, whom

 private:
  static constexpr std::size_t none = ~std::size_t{0};
  std::size_t place_of(unsigned self, unsigned victim) const noexcept {
    for (std::size_t i = 0; i < standing.size(); ++i) {
      if (standing[i] == std::pair(self, victim)) return i;
    }
    return none;
  }
  void add(unsigned parent, unsigned first, unsigned workers, unsigned level) {
    memory_group g;
    g.id = static_cast<unsigned>(groups_.size());
    g.parent = parent;
    g.first_worker = first;
    g.worker_count = workers;
    g.level = level;
    groups_.push_back(g);
    if (parent == heddle::machine::no_group) return;
    memory_group& above = groups_[parent];
    if (above.child_count++ == 0) above.first_child = g.id;
  }

  std::vector<memory_group> groups_;
  std::vector<unsigned> leaves_;
  std::vector<heddle::machine::processing_unit> units_;
  const std::vector<heddle::machine::node_latency> latencies_{{0, 0, 100}, {0, 1, 250}, {1, 0, 250}, {1, 1, 100}};
};

}  // namespace heddle_test
