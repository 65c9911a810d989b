// A window over the positions of a parallel loop: which of them have been handed out, which have ended, and how far
// apart the running ones may be. Invariants [window:1] to [window:3]: src/windows/README.md.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include <heddle/event_count.hpp>

namespace heddle::detail {

// Positions are counted in blocks. A block may begin when the block `blocks` before it, and all before that, have
// ended. With one block the window stands until all of it has ended; with several it slides. All accesses are
// sequentially consistent, because each operation is done once a batch.
class alignas(64) loop_window {
 public:
  // Opens the window over [low, high), shared by `members`. At most `length` positions lie between any two that run.
  // Must be called before any other thread has the window. Throws std::bad_alloc.
  void open(std::uint64_t low, std::uint64_t high, std::uint64_t length, std::uint64_t members, bool slides);

  // Hands out the next positions that may begin, an equal share of the window at most. Returns false if there are none
  // at the moment.
  bool take(std::uint64_t& low, std::uint64_t& high) noexcept;
  bool may_take() noexcept { return next_.load() < enabled(); }
  bool slides() const noexcept { return blocks_ != 1; }
  // Whether everything is handed out.
  bool is_handed_out() const noexcept { return next_.load() == high_; }
  bool has(std::uint64_t position) const noexcept { return position >= low_ && position < high_; }

  // Called when positions [low, high), handed out before, have ended.
  void end(std::uint64_t low, std::uint64_t high) noexcept;

  // Notified when more positions may begin, when all are handed out, and by stop().
  event_count& moved() noexcept { return moved_; }

 private:
  // The count at the block's place when the block has ended. It includes the earlier blocks at this place.
  std::uint64_t whole(std::uint64_t block) const noexcept { return (block / blocks_ + 1) * block_; }

  // Positions before the returned one may begin. [window:2]
  std::uint64_t enabled() noexcept;

  std::uint64_t low_{0}, high_{0}, block_{1}, blocks_{1}, share_{1};  // written by open
  std::unique_ptr<std::atomic<std::uint64_t>[]> ended_;               // by block modulo blocks_; they only grow
  event_count moved_;
  alignas(64) std::atomic<std::uint64_t> next_{0};
  // A block before which all have ended. It is not always the latest such block, because any thread that has looked
  // stores it.
  std::atomic<std::uint64_t> front_{0};
};

}  // namespace heddle::detail
