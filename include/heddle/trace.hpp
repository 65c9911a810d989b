/// Annotations in a program's trace: named parts of the program, and the piece of its data that a task works on.
/// `heddle report` shows the parts in the timeline and the pieces as a task map. While nothing is traced each call is
/// one load and one branch.
///
/// Names are kept by address while a program runs, so pass string literals. Thread context: any; pieces have no effect
/// outside a runtime. No function except flush() suspends or throws. In a traced run the first use of a name takes a
/// lock for a moment. A region that a process begins before it has made its first runtime allocates memory.
#pragma once

#include <atomic>
#include <cstdint>

#include <heddle/export.hpp>

namespace heddle::trace {

namespace detail {

// The number of runtimes that record at the moment. It is relaxed everywhere, because a late answer costs only the
// first or last event.
extern HEDDLE_API constinit std::atomic<int> recording_runtimes;

inline bool is_recording() noexcept { return recording_runtimes.load(std::memory_order_relaxed) != 0; }

HEDDLE_API void note_region_begin(const char* name) noexcept;
HEDDLE_API void note_region_end() noexcept;
HEDDLE_API void note_piece(const char* grid, std::uint64_t low, std::uint64_t high) noexcept;
HEDDLE_API void note_tree_piece(const char* tree, std::uint64_t range, std::uint64_t depth) noexcept;

}  // namespace detail

/// Says that the calling task works on the cells [x0, x1) x [y0, y1) of the grid `name` from here on. Call it once, at
/// the start of a leaf. If a program goes through a grid several times (iterations), call it each time.
inline void piece(const char* name, std::uint32_t x0, std::uint32_t y0, std::uint32_t x1, std::uint32_t y1) noexcept {
  if (detail::is_recording()) [[unlikely]] {
    detail::note_piece(name, std::uint64_t{x0} << 32 | y0, std::uint64_t{x1} << 32 | y1);
  }
}

/// Does the same for a piece [first, last) of something with one dimension.
inline void piece(const char* name, std::uint32_t first, std::uint32_t last) noexcept {
  piece(name, first, 0, last, 1);
}

/// A node of a tree: the path of child indices that leads to it, kept as a part of the interval that the root owns. It
/// is passed down by value. Nodes of less than 2^-32 of the root become empty and are drawn on their parent.
class tree_node {
 public:
  constexpr tree_node() noexcept = default;

  /// Returns the child `index` of `count`, 0 <= index < count.
  [[nodiscard]] constexpr tree_node child(std::uint32_t index, std::uint32_t count) const noexcept {
    const std::uint64_t width = high_ - low_;
    return {low_ + width * index / count, low_ + width * (index + 1) / count, depth_ + 1};
  }
  /// Returns the child whose weight lies between `before` and `before + own` of `all`, for trees whose children differ
  /// in size.
  [[nodiscard]] constexpr tree_node share(double before, double own, double all) const noexcept {
    const auto width = static_cast<double>(high_ - low_);
    return {low_ + static_cast<std::uint64_t>(width * (before / all)),
            low_ + static_cast<std::uint64_t>(width * ((before + own) / all)), depth_ + 1};
  }

  [[nodiscard]] constexpr std::uint32_t depth() const noexcept { return depth_; }
  [[nodiscard]] constexpr std::uint64_t low() const noexcept { return low_; }
  [[nodiscard]] constexpr std::uint64_t high() const noexcept { return high_; }

 private:
  constexpr tree_node(std::uint64_t low, std::uint64_t high, std::uint32_t depth) noexcept
      : low_(low), high_(high), depth_(depth) {}
  std::uint64_t low_{0};
  std::uint64_t high_{0xffffffff};
  std::uint32_t depth_{0};
};

/// Says that the calling task works on this node of the tree `name` from here on.
inline void piece(const char* name, const tree_node& node) noexcept {
  if (detail::is_recording()) [[unlikely]]
    detail::note_tree_piece(name, node.low() << 32 | node.high(), node.depth());
}

/// A part of the program with a name of its own in the timeline, from construction to destruction. Regions nest. A
/// region belongs to its thread: when the thread is parked and goes on elsewhere, the region follows it. A region of a
/// kernel thread outside the workers, for example main's, is shown above them. If `HEDDLE_TRACE` is set, the part
/// before the first runtime was made is shown, too.
class region {
 public:
  explicit region(const char* name) noexcept : told_(detail::is_recording()) {
    if (told_) [[unlikely]]
      detail::note_region_begin(name);
  }
  ~region() {
    if (told_) [[unlikely]]
      detail::note_region_end();
  }
  region(const region&) = delete;
  region& operator=(const region&) = delete;

 private:
  bool told_;
};

/// Writes the traces of all runtimes of the process that record, and goes on recording. Each trace is complete and
/// replaces the file of its name. Returns their number. A trace is also written when its runtime ends, when the process
/// exits, and when SIGINT, SIGTERM or abort() ends the process, unless the program has handlers of its own for these. A
/// program that ends in other ways (`_exit`, its own handling of signals) must call this before. Throws
/// std::runtime_error that names the file if a trace cannot be written, after the others have been written. Thread
/// context: any thread, but not a signal handler, because this allocates and waits (a handler can set a flag that the
/// program looks at). The call never suspends: the calling thread keeps its worker meanwhile.
HEDDLE_API unsigned flush();

}  // namespace heddle::trace
