// Who may be in a serial stage of a pipeline. Protocol and proof: src/loop/pipeline.md.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include <heddle/pause.hpp>

namespace heddle::detail {

// What every stage knows of an item on its way.
struct pipeline_token {
  std::size_t ticket{0};          // the how-many-th item of the source it is
  pipeline_token* next{nullptr};  // of those that wait at a stage
};

// Puts the tokens from `first` to `last` before those that are there.
inline void push_tokens(std::atomic<pipeline_token*>& there, pipeline_token* first, pipeline_token& last) noexcept {
  pipeline_token* seen = there.load(std::memory_order_relaxed);  // the exchange decides
  do {
    last.next = seen;
  } while (!there.compare_exchange_weak(seen, first));
}

// The gate of the source, where empty tokens are kept. Unlike the others it may be free while tokens are at it: a token
// that is here is as good as any other, so whoever comes next takes one. All that changes the word is seq_cst, because
// of what runners do after it ([pipeline:4]).
class source_gate {
 public:
  // Before anybody else knows of the gate, and by whoever is in the source.
  void put(pipeline_token& token) noexcept { token.next = std::exchange(first_, &token); }

  // Brings `mine`, or null. The token with which the caller is in the source until it leaves. Null: the source is
  // somebody's, or no token is here; `mine` is not the caller's any more.
  pipeline_token* enter(pipeline_token* mine) noexcept {
    wait_a_moment();
    std::uintptr_t seen = word_.load();
    for (;;) {
      if ((seen & busy) != 0) {
        if (mine == nullptr) return nullptr;
        mine->next = list(seen);
        if (word_.compare_exchange_weak(seen, word(mine) | (seen & marks))) return nullptr;
      } else if (word_.compare_exchange_weak(seen, seen | busy)) {
        if (mine != nullptr || (mine = take()) != nullptr) return mine;
        if (!leave()) return nullptr;
        seen = word_.load();
      }
    }
  }

  // By whoever is in the source. True: tokens are here, and the caller sees to it that somebody comes.
  [[nodiscard]] bool leave() noexcept {
    const bool more = first_ != nullptr;
    return list(word_.fetch_and(~busy)) != nullptr || more;
  }
  // In place of leaving: nobody is in the source ever again.
  void close() noexcept { word_.fetch_or(closed); }

  // By anybody. True: as of leave.
  [[nodiscard]] bool give(pipeline_token& token) noexcept {
    std::uintptr_t seen = word_.load(std::memory_order_relaxed);  // the exchange decides
    do {
      token.next = list(seen);
    } while (!word_.compare_exchange_weak(seen, word(&token) | (seen & marks)));
    return (seen & busy) == 0;
  }

 private:
  static constexpr std::uintptr_t busy = 1, closed = 2, marks = busy | closed;
  static constexpr int turns = 32;  // of a wait: about as long as being invited again takes, which is the other way

  static pipeline_token* list(std::uintptr_t w) noexcept { return reinterpret_cast<pipeline_token*>(w & ~marks); }
  static std::uintptr_t word(pipeline_token* t) noexcept { return reinterpret_cast<std::uintptr_t>(t); }

  // Most sources take less than a microsecond.
  void wait_a_moment() const noexcept {
    // relaxed: a hint
    for (int i = 0; i < turns && (word_.load(std::memory_order_relaxed) & marks) == busy; ++i) this_thread::pause();
  }
  pipeline_token* take() noexcept {
    if (first_ == nullptr) first_ = list(word_.exchange(busy));
    return first_ != nullptr ? std::exchange(first_, first_->next) : nullptr;
  }

  // Those that have come since the one inside looked, the newest first; whether somebody is inside, whether for ever.
  std::atomic<std::uintptr_t> word_{0};
  pipeline_token* first_{nullptr};  // of whoever is in the source: others that are here
};

// Tokens that wait for nothing but a thread.
class ready_tokens {
 public:
  void add(pipeline_token& token) noexcept { push_tokens(top_, &token, token); }

  // The one that came first of those that are here; or null.
  pipeline_token* take() noexcept {
    if (top_.load() == nullptr) return nullptr;
    pipeline_token* const all = top_.exchange(nullptr);
    if (all == nullptr || all->next == nullptr) return all;
    pipeline_token* last = all;
    while (last->next->next != nullptr) last = last->next;
    pipeline_token* const first = last->next;
    push_tokens(top_, all, *last);
    return first;
  }

 private:
  std::atomic<pipeline_token*> top_{nullptr};  // the newest; publishes the tokens' values
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

  bool enter(pipeline_token& token) noexcept {
    std::atomic<pipeline_token*>& met = cells_[token.ticket & mask_].met;
    // acquire pairs with leave: what was done in the stage. If the turn is here, the cell is nobody else's.
    if (met.load(std::memory_order_acquire) == nullptr) return meet(token.ticket, &token) != nullptr;
    met.store(nullptr, std::memory_order_relaxed);  // as in meet
    return true;
  }

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
