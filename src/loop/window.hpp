// A window over the positions of a parallel loop: which of them have been handed out, which have ended, and how far
// those that run may be apart. Invariants [window:1] to [window:3]: src/loop/windows.md.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include <heddle/event_count.hpp>

namespace heddle::detail {

// Positions are counted in blocks. A block may begin when the one `blocks` before it, and all before that, have ended:
// with one block the window stands until all of it has ended, with several it slides. All orders are sequentially
// consistent: what is done here is done once a batch.
class alignas(64) loop_window {
 public:
  // Over [low, high), shared by `seats`. At most `length` positions lie between any two that run. Before anybody else
  // has it. Throws std::bad_alloc.
  void open(std::uint64_t low, std::uint64_t high, std::uint64_t length, std::uint64_t seats, bool slides);

  // Hands out the next positions that may begin, an equal share of the window at most. False: there are none now.
  bool take(std::uint64_t& low, std::uint64_t& high) noexcept;
  bool may_take() noexcept { return next_.load() < enabled(); }
  bool slides() const noexcept { return blocks_ != 1; }
  // Everything is handed out.
  bool is_handed_out() const noexcept { return next_.load() == high_; }
  bool has(std::uint64_t position) const noexcept { return position >= low_ && position < high_; }

  // Positions [low, high), handed out before, have ended.
  void end(std::uint64_t low, std::uint64_t high) noexcept;

  // Notified when more may begin, when all is handed out, and by stop().
  event_count& moved() noexcept { return moved_; }

 private:
  // What the count of the block's place is when it has ended: those before it at this place are in it.
  std::uint64_t whole(std::uint64_t block) const noexcept { return (block / blocks_ + 1) * block_; }

  // Positions before this may begin. [window:2]
  std::uint64_t enabled() noexcept;

  std::uint64_t low_{0}, high_{0}, block_{1}, blocks_{1}, share_{1};  // written by open
  std::unique_ptr<std::atomic<std::uint64_t>[]> ended_;               // by block modulo blocks_; they only grow
  event_count moved_;
  alignas(64) std::atomic<std::uint64_t> next_{0};
  // A block, all before which have ended; not the latest always, since it is stored by whoever has looked.
  std::atomic<std::uint64_t> front_{0};
};

}  // namespace heddle::detail
