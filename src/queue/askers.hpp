// The requests of thieves that ask a worker by name, and the entries that were given for them. They are counted and
// addressed, and stand beside the flag `fork_queue::requested`, which is all that a fork or join sees of them. [ask:1]
// to [ask:6] of README.md. The class owns a set of askers and a mailbox for each worker. Sources of the form: Acar,
// Chargueraud, Rainey (PPoPP 2013), whose owners answer a thief by writing into its cell; Saraswat et al.,
// "Lifeline-based global load balancing" (PPoPP 2011), for requests that stand until there is something to give.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "queue/fork_queue.hpp"

namespace heddle::queue {

class askers {
 public:
  // Ranks must be below `workers`. Throws std::bad_alloc.
  explicit askers(unsigned workers);
  ~askers();
  askers(const askers&) = delete;
  askers& operator=(const askers&) = delete;

  // [ask:1]. Called by any worker: leaves the request of `asker` with `victim`, whose queue is `queue`. Returns false
  // if the request stands there already, or if the asker's mailbox holds something or is about to.
  bool post(unsigned asker, unsigned victim, fork_queue& queue) noexcept;

  // Called by the asker. Returns true if its request is taken back, so that nothing comes of it. Returns false if the
  // request was answered, is about to be answered, or was dropped.
  bool withdraw(unsigned asker, unsigned victim) noexcept;
  bool stands(unsigned asker, unsigned victim) const noexcept;  // a hint
  // Returns how many requests stand with `victim`. It is a hint; on the victim it is exact except for requests that
  // come and go.
  unsigned count(unsigned victim) const noexcept;

  // The owner's part in an answer to those that ask it.
  class giver {
   public:
    // Returns true if `asker` may have an entry of this worker. If it returns false, the request is dropped.
    virtual bool may_give(unsigned asker) noexcept = 0;
    // Called when the mailbox of `asker` has been filled.
    virtual void given(unsigned asker) noexcept = 0;

   protected:
    ~giver() = default;
  };
  // [ask:3]. Called by the owner of `queue` after a slow path that has answered a request: gives each asker one entry,
  // the oldest first, while there are any. The other requests stand.
  void answer(unsigned owner, fork_queue& queue, giver& by) noexcept;

  // Puts an entry of `from` into the mailbox of `asker`, which asked in another way. Returns false, and leaves the
  // mailbox as it is, if that is not empty.
  [[nodiscard]] bool put(unsigned asker, unsigned from, entry item) noexcept;

  // Any thread may call it. Returns true if there is an entry in the mailbox of that worker. After a heavy fence this
  // is exact, except that the entry may have been taken.
  bool has(unsigned rank) const noexcept { return boxes_[rank].item.load() > reserved; }
  // Returns the entry in the mailbox and sets `from` to its giver. Returns 0 if there is none or another worker was
  // quicker.
  [[nodiscard]] entry take(unsigned rank, unsigned& from) noexcept;

 private:
  // No entry has both of its low bits set.
  static constexpr entry reserved = 3;
  struct alignas(64) box {
    // 0; `reserved`, by an owner that is about to fill it; or an entry. That owner changes it 0 -> reserved -> entry or
    // 0; the worker that takes the entry changes it to 0. It publishes the entry.
    std::atomic<entry> item;
    std::atomic<unsigned> from;  // the giver, which writes it before the entry; for traces
  };
  static constexpr std::size_t line = 64 / sizeof(std::uint64_t);  // words of a cache line

  std::atomic<std::uint64_t>* set_of(unsigned victim) const noexcept { return sets_ + victim * stride_; }
  bool answer_word(unsigned owner, unsigned index, fork_queue& queue, giver& by) noexcept;
  bool is_asked(unsigned victim) const noexcept;

  const unsigned words_;      // the number of words of a set
  const std::size_t stride_;  // the same, rounded up to whole cache lines
  const std::size_t bytes_;
  void* const memory_;
  box* const boxes_;
  // A bit for each worker that asks. The asker sets it, and so does an owner that could not answer it. The owner clears
  // it, and so does an asker that withdraws. It publishes nothing.
  std::atomic<std::uint64_t>* const sets_;
};

}  // namespace heddle::queue
