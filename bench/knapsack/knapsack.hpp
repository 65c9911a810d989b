// The 0-1 knapsack problem by branch and bound. Each item is taken in one task and left in another. A task ends where
// even parts of items could not beat the best load that any task has found. So the amount of work depends on the order
// of tasks; the result does not. There are n items. The kernel is bound by computation. Origin: the Cilk distribution's
// knapsack; one of the programs of Chen and Guo, section 3.8.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "backend/common.hpp"
#include "harness/cost.hpp"
#include "harness/kernel.hpp"
#include "harness/random.hpp"

namespace heddle::bench {

struct knapsack_item {
  std::uint64_t value, weight;
};

// The rest of a bound's work is in the items that it looks at. Counted, not measured.
inline constexpr double knapsack_node_cycles = 12, knapsack_item_cycles = 3;
inline constexpr std::size_t knapsack_serial = 12;  // items that a single task decides by itself

class knapsack_problem {
 public:
  explicit knapsack_problem(std::size_t n) {
    std::uint64_t all = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint64_t weight = 1000 + mix64(2 * i) % 1000;  // values that follow weights: hard
      items_.push_back({weight + mix64(2 * i + 1) % 200, weight});
      all += weight;
    }
    room_ = all / 2;
    std::sort(items_.begin(), items_.end(), [](const knapsack_item& a, const knapsack_item& b) {
      const std::uint64_t left = a.value * b.weight, right = b.value * a.weight;
      return left != right ? left > right : a.weight < b.weight;
    });
  }

  [[nodiscard]] const std::vector<knapsack_item>& items() const { return items_; }
  [[nodiscard]] std::uint64_t room() const { return room_; }
  [[nodiscard]] std::uint64_t best() const { return best_.load(); }
  void forget() { best_.store(0); }

  template <class Backend>
  void solve() {
    branch<Backend>(0, room_, 0);
  }

 private:
  // Returns false if items from `next` on cannot make the load worth more than the best one.
  bool may_win(std::size_t next, std::uint64_t room, std::uint64_t value, std::uint64_t& looked) const {
    for (; next < items_.size() && items_[next].weight <= room; ++next, ++looked) {
      room -= items_[next].weight;
      value += items_[next].value;
    }
    if (next < items_.size()) value += items_[next].value * room / items_[next].weight;
    // relaxed: an older best one costs work and nothing else
    return value > best_.load(std::memory_order_relaxed);
  }
  void found(std::uint64_t value) {
    // relaxed: a number alone; the join publishes the last one
    std::uint64_t known = best_.load(std::memory_order_relaxed);
    while (known < value && !best_.compare_exchange_weak(known, value, std::memory_order_relaxed)) continue;
  }

  void serial(std::size_t next, std::uint64_t room, std::uint64_t value, std::uint64_t& nodes, std::uint64_t& looked) {
    ++nodes;
    if (next == items_.size()) return found(value);
    if (!may_win(next, room, value, looked)) return;
    if (items_[next].weight <= room)
      serial(next + 1, room - items_[next].weight, value + items_[next].value, nodes, looked);
    serial(next + 1, room, value, nodes, looked);
  }

  template <class Backend>
  void branch(std::size_t next, std::uint64_t room, std::uint64_t value) {
    std::uint64_t nodes = 1, looked = 0;
    const auto tell = [&] {
      told::cycles(knapsack_node_cycles * static_cast<double>(nodes) +
                   knapsack_item_cycles * static_cast<double>(looked));
    };
    if (next + knapsack_serial >= items_.size()) {
      serial(next, room, value, nodes, looked);
      return tell();
    }
    const bool goes_on = may_win(next, room, value, looked);
    tell();
    if (!goes_on) return;
    const knapsack_item item = items_[next];
    if (item.weight > room) return branch<Backend>(next + 1, room, value);
    Backend::invoke([=, this] { branch<Backend>(next + 1, room - item.weight, value + item.value); },
                    [=, this] { branch<Backend>(next + 1, room, value); });
  }

  std::vector<knapsack_item> items_;  // by falling value a weight
  std::uint64_t room_ = 0;
  std::atomic<std::uint64_t> best_{0};  // written by any task
};

struct knapsack {
  static constexpr std::size_t default_n = 44;
  template <class Backend>
  static constexpr bool supports = Backend::tasks;

  template <class Backend>
  static void execute(context& c) {
    if (c.n() == 0 || c.n() > 1000)
      throw std::invalid_argument("--n " + std::to_string(c.n()) + ": a knapsack has 1 to 1,000 items");
    knapsack_problem problem(c.n());
    Backend backend(c.options());
    backend.run([&] {
      c.measure(
          "time", "ms", 1e3, [&] { problem.forget(); }, [&] { problem.solve<Backend>(); },
          [&] { return problem.best(); });
    });
  }
};

}  // namespace heddle::bench
