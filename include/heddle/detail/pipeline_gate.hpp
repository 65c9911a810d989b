// The gates of a pipeline's serial stages, which decide which token may be in a stage. Protocol and proof:
// src/loop/pipeline.md.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include <heddle/pause.hpp>

namespace heddle::detail {

// The part of a token that does not depend on the stages: an item on its way.
struct pipeline_token {
  std::size_t ticket{0};          // the number of its item in the order of the source
  pipeline_token* next{nullptr};  // the next token that waits at the same stage
};

// Puts the tokens from `first` to `last` in front of those in the list.
inline void push_tokens(std::atomic<pipeline_token*>& there, pipeline_token* first, pipeline_token& last) noexcept {
  pipeline_token* seen = there.load(std::memory_order_relaxed);  // the exchange decides
  do {
    last.next = seen;
  } while (!there.compare_exchange_weak(seen, first));
}

// The gate of the source, where empty tokens are kept. Unlike the other gates it may be free while tokens are at it.
// All empty tokens are equal, so the next runner takes any of them. Every change of the word is seq_cst because of what
// runners do after it ([pipeline:4]).
class source_gate {
 public:
  // Called before any other thread knows of the gate, and by the runner that is in the source.
  void put(pipeline_token& token) noexcept { token.next = std::exchange(first_, &token); }

  // Enters the source with the token `mine`, or with a token of the gate if `mine` is null. Returns the token that the
  // caller has in the source until it leaves. Returns null if another runner is in the source or no token is here;
  // `mine` then belongs to the gate.
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

  // Called by the runner that is in the source. Returns true if tokens are here; the caller must then see to it that a
  // runner comes.
  [[nodiscard]] bool leave() noexcept {
    const bool more = first_ != nullptr;
    return list(word_.fetch_and(~busy)) != nullptr || more;
  }
  // Called instead of leave(). No runner is in the source ever again.
  void close() noexcept { word_.fetch_or(closed); }

  // Gives a token back. Any thread may call it. The result is as in leave().
  [[nodiscard]] bool give(pipeline_token& token) noexcept {
    std::uintptr_t seen = word_.load(std::memory_order_relaxed);  // the exchange decides
    do {
      token.next = list(seen);
    } while (!word_.compare_exchange_weak(seen, word(&token) | (seen & marks)));
    return (seen & busy) == 0;
  }

 private:
  static constexpr std::uintptr_t busy = 1, closed = 2, marks = busy | closed;
  // The time slices of a wait: about as long as starting another runner would take, which is the alternative.
  static constexpr int turns = 32;

  static pipeline_token* list(std::uintptr_t w) noexcept { return reinterpret_cast<pipeline_token*>(w & ~marks); }
  static std::uintptr_t word(pipeline_token* t) noexcept { return reinterpret_cast<std::uintptr_t>(t); }

  // A wait is worth trying, because most sources take less than a microsecond.
  void wait_a_moment() const noexcept {
    // relaxed: a hint
    for (int i = 0; i < turns && (word_.load(std::memory_order_relaxed) & marks) == busy; ++i) this_thread::pause();
  }
  pipeline_token* take() noexcept {
    if (first_ == nullptr) first_ = list(word_.exchange(busy));
    return first_ != nullptr ? std::exchange(first_, first_->next) : nullptr;
  }

  // The tokens that have come since the runner inside looked, the newest first, with the bits `busy` (a runner is
  // inside) and `closed` (no runner enters any more).
  std::atomic<std::uintptr_t> word_{0};
  pipeline_token* first_{nullptr};  // other tokens that are here; of the runner that is in the source
};

// Tokens that are ready to go on and need only a runner.
class ready_tokens {
 public:
  void add(pipeline_token& token) noexcept { push_tokens(top_, &token, token); }

  // Takes the oldest token, or returns null if there is none.
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
  std::atomic<pipeline_token*> top_{nullptr};  // the newest token; publishes the tokens' values
};

// A gate that lets one token in at a time, in the order in which they come. A token that finds the stage busy is kept,
// and is given to the runner that leaves. So a token is always either at a gate or with one runner.
class open_gate {
 public:
  explicit open_gate(std::size_t) noexcept {}

  // Returns true if the stage belongs to the caller until it leaves. Returns false if the token was kept and no longer
  // belongs to the caller.
  bool enter(pipeline_token& token) noexcept {
    pipeline_token* seen = line_.load(std::memory_order_relaxed);  // the exchange decides
    for (;;) {
      if (seen == nullptr) {
        // acquire pairs with leave: what the last token's runner did in the stage
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

  // Called by the runner that is in the stage. Returns the token that is in the stage next, which the caller must run
  // there, or null.
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
  // Null if no token is in the stage. held() if one is in it and none has come since. Otherwise the token that came
  // last.
  std::atomic<pipeline_token*> line_{nullptr};
  // The tokens that came before, oldest first; of the runner that is in the stage.
  pipeline_token* first_{nullptr};
};

// A gate that lets one token in at a time, in the order of their tickets. At most `tokens` tokens are between the
// source and this gate.
class ordered_gate {
 public:
  explicit ordered_gate(std::size_t tokens) : cells_(std::make_unique<cell[]>(std::bit_ceil(tokens))) {
    mask_ = std::bit_ceil(tokens) - 1;
    cells_[0].met.store(turn(), std::memory_order_relaxed);  // relaxed: no other thread knows of the gate yet
  }

  bool enter(pipeline_token& token) noexcept {
    std::atomic<pipeline_token*>& met = cells_[token.ticket & mask_].met;
    // acquire pairs with leave: what was done in the stage. If the time slice is here, the cell belongs to this token
    // alone.
    if (met.load(std::memory_order_acquire) == nullptr) return meet(token.ticket, &token) != nullptr;
    met.store(nullptr, std::memory_order_relaxed);  // as in meet
    return true;
  }

  pipeline_token* leave(const pipeline_token& token) noexcept { return meet(token.ticket + 1, turn()); }

 private:
  struct alignas(64) cell {
    std::atomic<pipeline_token*> met{nullptr};
  };

  // A ticket's token and its time slice meet in a cell. The one that comes second gets the first and, with it, the
  // stage.
  pipeline_token* meet(std::size_t number, pipeline_token* comes) noexcept {
    std::atomic<pipeline_token*>& met = cells_[number & mask_].met;
    // release: the token's value, or what was done in the stage; acquire: the same of the other side
    pipeline_token* const there = met.exchange(comes, std::memory_order_acq_rel);
    // relaxed: the next to come here has a ticket that is given after this one has left the stage (pipeline.md)
    if (there != nullptr) met.store(nullptr, std::memory_order_relaxed);
    return there;
  }

  pipeline_token* turn() noexcept { return &mark_; }
  pipeline_token mark_;
  std::unique_ptr<cell[]> cells_;
  std::size_t mask_{0};
};

}  // namespace heddle::detail
