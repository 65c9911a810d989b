// Who may be in a serial stage of a pipeline. Protocol and proof: src/loop/pipeline.md.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <memory>

namespace heddle::detail {

// What every stage knows of an item on its way.
struct pipeline_token {
  std::size_t ticket{0};          // the how-many-th item of the source it is
  pipeline_token* next{nullptr};  // of those that wait at a stage
};

// One token at a time, in the order in which they come. A token that enters in vain is kept, and is given to whoever
// leaves: a token is always either at a gate or in somebody's hands.
class open_gate {
 public:
  explicit open_gate(std::size_t) noexcept {}

  // True: the stage is the caller's until it leaves. False: the token is not the caller's any more.
  bool enter(pipeline_token& token) noexcept {
    pipeline_token* seen = line_.load(std::memory_order_relaxed);  // the exchange decides
    for (;;) {
      if (seen == nullptr) {
        // acquire pairs with leave: what the last one in the stage did
        if (line_.compare_exchange_weak(seen, held(), std::memory_order_acquire, std::memory_order_relaxed))
          return true;
      } else {
        token.next = seen == held() ? nullptr : seen;
        // release pairs with leave: the token's value
        if (line_.compare_exchange_weak(seen, &token, std::memory_order_release, std::memory_order_relaxed))
          return false;
      }
    }
  }

  // By whoever is in the stage. The token that is in the stage from now on, for which the caller has to see; or null.
  pipeline_token* leave(const pipeline_token&) noexcept {
    if (first_ == nullptr) {
      pipeline_token* seen = held();
      // release pairs with enter: what the caller did in the stage
      if (line_.compare_exchange_strong(seen, nullptr, std::memory_order_release, std::memory_order_relaxed))
        return nullptr;
      // acquire pairs with enter: the tokens' values
      for (pipeline_token* t = line_.exchange(held(), std::memory_order_acquire); t != nullptr;) {
        pipeline_token* const before = t->next;
        t->next = first_;
        first_ = t;
        t = before;
      }
    }
    pipeline_token* const next = first_;
    first_ = next->next;
    return next;
  }

 private:
  pipeline_token* held() noexcept { return &mark_; }
  pipeline_token mark_;
  // Null: nobody is in the stage. held(): somebody is, and nobody has come since. Else the last one that came.
  std::atomic<pipeline_token*> line_{nullptr};
  pipeline_token* first_{nullptr};  // of whoever is in the stage: who came before, oldest first
};

// One token at a time, by their tickets. At most `tokens` of them are between the source and here.
class ordered_gate {
 public:
  explicit ordered_gate(std::size_t tokens) : cells_(std::make_unique<cell[]>(std::bit_ceil(tokens))) {
    mask_ = std::bit_ceil(tokens) - 1;
    cells_[0].met.store(turn(), std::memory_order_relaxed);  // before anybody else knows of the gate
  }

  bool enter(pipeline_token& token) noexcept { return meet(token.ticket, &token) != nullptr; }

  pipeline_token* leave(const pipeline_token& token) noexcept { return meet(token.ticket + 1, turn()); }

 private:
  struct alignas(64) cell {
    std::atomic<pipeline_token*> met{nullptr};
  };

  // A ticket's token and its turn meet here. The second one gets the first, and the stage with it.
  pipeline_token* meet(std::size_t number, pipeline_token* comes) noexcept {
    std::atomic<pipeline_token*>& met = cells_[number & mask_].met;
    // release: the token's value, or what was done in the stage; acquire: the other one's
    pipeline_token* const there = met.exchange(comes, std::memory_order_acq_rel);
    // relaxed: whoever comes here next has a ticket that is given later than this one leaves the stage (pipeline.md)
    if (there != nullptr) met.store(nullptr, std::memory_order_relaxed);
    return there;
  }

  pipeline_token* turn() noexcept { return &mark_; }
  pipeline_token mark_;
  std::unique_ptr<cell[]> cells_;
  std::size_t mask_{0};
};

}  // namespace heddle::detail
