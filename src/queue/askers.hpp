// Who asks whom for an entry by name, and what was given for it: requests that are counted and addressed, beside the
// flag `fork_queue::requested`, which stays all that a fork or join knows of them. [ask:1] to [ask:6] of README.md.
// Owns a set of askers and a box for each worker. Sources of the form: Acar, Chargueraud, Rainey (PPoPP 2013), whose
// owners answer a thief by writing into its cell; Saraswat et al., "Lifeline-based global load balancing" (PPoPP 2011),
// for requests that stand until there is something to give.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "queue/fork_queue.hpp"

namespace heddle::queue {

class askers {
 public:
  // Ranks are below `workers`. Throws std::bad_alloc.
  explicit askers(unsigned workers);
  ~askers();
  askers(const askers&) = delete;
  askers& operator=(const askers&) = delete;

  // [ask:1]. Any worker: leaves the request of `asker` with `victim`, whose queue is `queue`. False: it stands there,
  // or the asker's box holds something, or will at once.
  bool post(unsigned asker, unsigned victim, fork_queue& queue) noexcept;
  // The asker. True: its request is taken back, and nothing will come of it. False: it was answered, is about to be, or
  // was dropped.
  bool withdraw(unsigned asker, unsigned victim) noexcept;
  bool stands(unsigned asker, unsigned victim) const noexcept;  // a hint
  // How many requests stand with `victim`: a hint, exact on the victim but for those that come and go.
  unsigned count(unsigned victim) const noexcept;

  // What an owner does with those that ask it.
  class giver {
   public:
    // `asker` may have what is here. False: its request is dropped.
    virtual bool may_give(unsigned asker) noexcept = 0;
    // Its box has been filled.
    virtual void given(unsigned asker) noexcept = 0;

   protected:
    ~giver() = default;
  };
  // [ask:3]. Owner of `queue`, after a slow path that has answered a request: gives each asker one entry, the oldest
  // first, while there are any. The requests that are left stand.
  void answer(unsigned owner, fork_queue& queue, giver& by) noexcept;

  // Anybody. There is something in the box of that worker: exact after a heavy fence, but that it may have been taken.
  bool has(unsigned rank) const noexcept { return boxes_[rank].item.load() > reserved; }
  // What is in it, and whose it was; 0: nothing, or somebody was quicker.
  [[nodiscard]] entry take(unsigned rank, unsigned& from) noexcept;

 private:
  // No entry has both of its low bits set.
  static constexpr entry reserved = 3;
  struct alignas(64) box {
    // 0; reserved, by an owner that is about to fill it; or an entry. 0 -> reserved -> entry or 0: by that owner; entry
    // -> 0: by whoever takes it. Publishes the entry.
    std::atomic<entry> item;
    std::atomic<unsigned> from;  // who has given it; written by that one before the entry. For traces
  };
  static constexpr std::size_t line = 64 / sizeof(std::uint64_t);  // words of a cache line

  std::atomic<std::uint64_t>* set_of(unsigned victim) const noexcept { return sets_ + victim * stride_; }
  bool answer_word(unsigned owner, unsigned index, fork_queue& queue, giver& by) noexcept;
  bool is_asked(unsigned victim) const noexcept;

  const unsigned words_;      // of a set
  const std::size_t stride_;  // the same in whole cache lines
  const std::size_t bytes_;
  void* const memory_;
  box* const boxes_;
  // A bit for each worker that asks. Set by the asker, and again by the owner that could not answer it; cleared by the
  // owner, and by the asker that withdraws. Publishes nothing.
  std::atomic<std::uint64_t>* const sets_;
};

}  // namespace heddle::queue
