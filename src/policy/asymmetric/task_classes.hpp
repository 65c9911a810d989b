// Classes of tasks: all tasks of one place in the program (task_info::label), with the pool of those that have not
// begun, and what is known of the ended ones: TC(f, ipc, n_1 .. n_k, t_1 .. t_k) of Chen and Guo (2017), section 5.6.1.
// A component of `aats`.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <utility>

#include <heddle/detail/spin_word.hpp>

#include <heddle/policy.hpp>
#include "policy/asymmetric/core_groups.hpp"
#include "policy/task_list.hpp"

namespace heddle::policy {

// How fast a task ran, by which its time on slower cores is compared with that on the fastest ones.
enum class class_weights : std::uint8_t {
  processor_time,           // its processor time itself
  instructions_per_second,  // its instructions in that time
  instructions_per_cycle    // Eq. 5.4 as it stands: a change of frequency leaves it as it is
};

// What is known of the ended tasks of a class.
class class_history {
 public:
  // Eq. 5.3 and 5.4: a task that ran for `time` ns in group g, at `rate` (0 if no rate is used). By Eq. 5.4 the time of
  // a task in a slower group follows from its rate and from the mean time in the fastest group; until one has ended
  // there, its own time counts.
  void add(unsigned g, double time, double rate) noexcept {
    known& here = by_group_[g];
    const auto mean = [](double before, std::uint64_t count, double value) {
      return (before * static_cast<double>(count) + value) / static_cast<double>(count + 1);
    };
    if (g == 0) rate_ = mean(rate_, here.count, rate);
    else if (rate > 0 && rate_ > 0) time = by_group_[0].time * rate_ / rate;
    here.time = mean(here.time, here.count, time);
    ++here.count;
  }
  std::uint64_t ended() const noexcept {
    std::uint64_t sum = 0;
    for (const known& k : by_group_) sum += k.count;
    return sum;
  }
  bool is_known(unsigned g) const noexcept { return by_group_[g].count != 0; }
  // The expected ns of a task on a core of group g. Where none has ended there, the time follows from another group's
  // and the declared or measured speeds. 0 if nothing is known.
  double time(unsigned g, const core_groups& groups) const noexcept {
    if (is_known(g)) return by_group_[g].time;
    for (unsigned other = 0; other < groups.count(); ++other) {
      if (is_known(other)) return by_group_[other].time * groups.speed(other) / groups.speed(g);
    }
    return 0;
  }
  // The groups have changed: group g is the former group from[g], or a new one if that is core_groups::most.
  void regroup(std::span<const unsigned> from) noexcept {
    std::array<known, core_groups::most> before{};
    std::swap(before, by_group_);
    for (unsigned g = 0; g < from.size(); ++g) {
      if (from[g] < core_groups::most) by_group_[g] = before[from[g]];
    }
    if (from.empty() || from[0] != 0) rate_ = 0;
  }

 private:
  struct known {
    std::uint64_t count{0};
    double time{0};  // the mean
  };
  std::array<known, core_groups::most> by_group_{};
  double rate_{0};  // the mean in the fastest group
};

struct alignas(64) task_class {
  const void* label{nullptr};             // set before the class is published
  std::atomic<unsigned> cluster{0};       // the group of workers that it is allocated to
  std::atomic<bool> makes_itself{false};  // its tasks make tasks of the same class: divide and conquer
  std::atomic<double> expected{0};        // ns of a task on the fastest cores
  shared_task_list pool;                  // oldest first
  detail::spin_word lock;
  class_history history;  // under the lock
};

// The classes by label, in the order in which they were made. Labels beyond `most` - 1 share the last class. Classes
// are never removed.
class task_classes {
 public:
  explicit task_classes(unsigned most)
      : most_(most),
        all_(new task_class[most]),
        places_(4 * std::size_t{most}),
        by_hash_(new std::atomic<task_class*>[places_]) {
    for (std::size_t i = 0; i < places_; ++i) by_hash_[i].store(nullptr);
  }

  // Takes the lock only if the label is new.
  task_class& of(const void* label) noexcept {
    task_class* const known = look_up(label).load();
    return known != nullptr ? *known : add(label);
  }

  unsigned count() const noexcept { return count_.load(); }
  task_class& operator[](unsigned i) noexcept { return all_[i]; }
  // Returns the first class for which f returns true, in a round that begins with class number `first`, or null.
  template <class F>
  task_class* find_from(unsigned first, F&& f) noexcept {
    const unsigned classes = count();
    for (unsigned i = 0; i < classes; ++i) {
      task_class& c = all_[(first + i) % classes];
      if (f(c)) return &c;
    }
    return nullptr;
  }

 private:
  // The place of the label, or the empty place where it belongs. There is one, because three of four stay empty.
  std::atomic<task_class*>& look_up(const void* label) noexcept {
    // A label is the address of code, so it differs from others in its middle bits.
    std::size_t at = (reinterpret_cast<std::uintptr_t>(label) * 0x9e3779b97f4a7c15u >> 32) % places_;
    for (;; at = (at + 1) % places_) {
      task_class* const now = by_hash_[at].load();
      if (now == nullptr || now->label == label) return by_hash_[at];
    }
  }
  task_class& add(const void* label) noexcept {
    std::lock_guard hold(lock_);
    std::atomic<task_class*>& place = look_up(label);
    if (task_class* const meanwhile = place.load(); meanwhile != nullptr) return *meanwhile;
    const unsigned classes = count();
    if (classes == most_) return all_[most_ - 1];
    task_class& made = all_[classes];
    made.label = label;
    count_.store(classes + 1);
    place.store(&made);
    return made;
  }

  const unsigned most_;
  std::unique_ptr<task_class[]> all_;
  std::size_t places_;
  std::unique_ptr<std::atomic<task_class*>[]> by_hash_;
  detail::spin_word lock_;  // of those who add one
  std::atomic<unsigned> count_{0};
};

}  // namespace heddle::policy
