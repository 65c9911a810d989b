// Children of task groups that a thief runs. It takes several at once where they are short. Protocol and proof:
// groups.md, "Taking several children".
#include <heddle/task_group.hpp>

#include <algorithm>
#include <array>
#include <utility>

#include "arch/arch.hpp"
#include "platform/platform.hpp"
#include "task/children.hpp"
#include "worker/inline.hpp"
#include "worker/jobs.hpp"
#include "worker/searching/queue_paths.hpp"
#include "worker/worker.hpp"

namespace heddle::detail {

namespace {

// [group:6] The constants of a thief, in nanoseconds. It takes more at once of what it has last taken if that took less
// than `short_batch`, and takes no more without asking its policy if that took longer than `long_batch`. A child that
// takes less than `worth_taking` costs its owner more when it is taken than when the owner runs it, so the thief pauses
// before it takes more of such children, and longer each time.
constexpr std::uint64_t short_batch = 2'000, long_batch = 4'000, worth_taking = 40, longest_pause = 32'000;
constexpr std::uint64_t look_every = 4'000;
constexpr unsigned pauses = 8;
constexpr std::uint64_t answer_within = 1'000;  // of a request to an owner that is between two children

std::uint64_t cycles(std::uint64_t nanoseconds) noexcept {
  return nanoseconds * platform::cycles_per_microsecond() / 1000;
}

// The group's children that a thief runs one after the other on one stack.
class taken_children {
 public:
  explicit taken_children(group_child& first) noexcept
      : group_(first.group), home_(static_cast<worker::worker&>(*first.home)), since_(platform::cycles()) {}

  void run(group_child* child) noexcept {
    for (; child != nullptr; child = next()) {
      child->call(child->room);
      if (child->counted) child->counted = false;
      ++ended_;  // [counted:4]
      ++ran_;
      if (child->home == &home_ && &home_ != &worker::worker::current()) keep(*child);
      else free_child(*child);
    }
    hand_in();
  }

 private:
  void keep(group_child& child) noexcept {
    if (kept_ == nullptr) last_kept_ = &child;
    child.next = kept_;
    kept_ = &child;
  }

  // Gives the blocks back and counts the children. The group may be gone afterwards.
  void hand_in() noexcept {
    if (kept_ != nullptr) home_.children.give_back(*std::exchange(kept_, nullptr), *last_kept_);
    if (ended_ == 0) return;
    if (waiter* const w = count(*group_, -std::exchange(ended_, 0)); w != nullptr) wake(*w);
  }

  // Returns the child that the thread goes on with, or null if its worker has to choose anew.
  [[nodiscard]] group_child* next() noexcept {
    worker::worker& w = worker::worker::current();
    // relaxed: the worker's own variable
    slot* const end = w.bottom.load(std::memory_order_relaxed);
    if (end != w.base) return w.may_go_on() ? take_own_child(*group_, end - 1) : nullptr;
    if (&w == &home_ || w.caller_run.own_carrier != nullptr || !w.ready.looks_empty() || !w.may_go_on()) return nullptr;
    const std::uint64_t took = platform::cycles() - since_;
    if (took > cycles(long_batch)) return nullptr;
    hand_in();
    if (took < cycles(short_batch)) most_ = std::min(2 * most_, most_children_at_once);
    pause_ = took < ran_ * cycles(worth_taking) ? std::clamp(2 * pause_, short_batch, longest_pause) : 0;
    return wait(w, pause_, [] { return false; }) ? take_more(w) : nullptr;
  }

  // Waits for so many nanoseconds, or until `ends` says so. Returns false if this worker has something else to do, or
  // if there is nothing more to take. It seldom looks for the latter, because each look at the owner's cache line
  // delays the owner.
  template <class Ends>
  [[nodiscard]] bool wait(const worker::worker& w, std::uint64_t nanoseconds, Ends ends) const noexcept {
    const std::uint64_t start = platform::cycles();
    std::uint64_t looked = start;
    while (!ends()) {
      const std::uint64_t now = platform::cycles();
      if (now - start >= cycles(nanoseconds)) return heddle::queue::has_any(home_);
      if (!w.ready.looks_empty() || w.is_reminded()) return false;
      if (now - looked >= cycles(look_every)) {
        if (!heddle::queue::has_any(home_)) return false;
        looked = now;
      }
      for (unsigned i = 0; i < pauses; ++i) arch::pause();
    }
    return true;
  }

  [[nodiscard]] group_child* take_more(worker::worker& w) noexcept {
    const auto shown = [this] { return heddle::queue::has_public(home_); };
    if (!shown()) heddle::queue::request(home_);
    if (!wait(w, answer_within, shown) || !shown()) return nullptr;
    std::array<entry, most_children_at_once> items;
    const unsigned count = w.home.host().steal_several(w, home_, items.data(), most_);
    if (count == 0) return nullptr;
    for (unsigned i = 0; i < count; ++i) __builtin_prefetch(reinterpret_cast<const void*>(items[i]));
    for (unsigned i = count - 1; i > 0; --i) queue(items[i]);
    auto* const first = child_of_group(items[0]);
    // The fence orders nothing between threads. It waits until the first child has come to this processor, so that the
    // transfer does not count as the children's time.
    std::atomic_thread_fence(std::memory_order_seq_cst);
    since_ = platform::cycles();
    ran_ = 0;
    if (first == nullptr) queue(items[0]);
    return first;
  }

  static void queue(entry item) noexcept {
    if (push(item) == nullptr) run_as_thread(item);
  }

  [[nodiscard]] group_child* child_of_group(entry item) const noexcept {
    if ((item & (worker::continuation_tag | worker::ready_tag)) != 0) return nullptr;
    auto* const work = reinterpret_cast<job*>(item);
    if (work->own_code() != &run_taken_child) return nullptr;
    auto* const child = static_cast<group_child*>(work);
    return child->group == group_ ? child : nullptr;
  }

  group_state* const group_;  // gone, perhaps, while no child of it is here
  worker::worker& home_;      // where the children were made
  std::int64_t ended_{0};     // children that are not counted yet
  // Blocks of `home_`, through `next`, that are to be given back.
  group_child* kept_{nullptr};
  group_child* last_kept_{nullptr};
  std::uint64_t since_;   // platform::cycles: when the children that run were taken
  std::uint64_t ran_{0};  // since then
  std::uint64_t pause_{0};
  unsigned most_{1};
};

}  // namespace

void run_taken_child(job* work) noexcept {
  auto& child = *static_cast<group_child*>(work);
  taken_children(child).run(&child);
}

}  // namespace heddle::detail
