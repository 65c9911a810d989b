#include "fiber/stack_pool.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <utility>

#include "base/contracts.hpp"
#include "fiber/sanitizer.hpp"
#include "platform/platform.hpp"

namespace heddle::fiber {

HEDDLE_NO_TSAN const thread* thread_on(const thread& block) noexcept {
  const thread* const other = block.stack;
  return other != nullptr ? other : &block;
}

namespace {

constexpr std::size_t slab_target = std::size_t{16} << 20;

std::size_t guard_bytes(std::size_t stack_bytes) noexcept {
  return std::max(platform::page_size(), std::min<std::size_t>(std::size_t{16} << 10, stack_bytes / 4));
}

// Returns the shift of a control block within its page. Without it the blocks of neighbouring stacks would all fall
// into the same cache sets.
std::size_t colour_of(const char* low, std::size_t stack_bytes) noexcept {
  return (reinterpret_cast<std::uintptr_t>(low) / stack_bytes) % stack_pool::colours * stack_pool::colour_step;
}

// Prints the message once in a process. The thread runs all the same, because most threads never come near the end of
// their stack, and a program with many thousands of threads should not fail on a system that cannot guard them all.
void say_that_guards_are_used_up() noexcept {
  // Constant initialisation takes no lock, which matters because a tick's handler may be here.
  static std::atomic<bool> said{false};
  if (said.exchange(true)) return;
  static constexpr char text[] =
      "heddle: the system has no guard for a stack: a thread that overflows this one, or one made later, damages "
      "another's memory unnoticed. "
      "Linux before 6.13 gives each guard two of the vm.max_map_count mappings, and heddle takes a third: raise that "
      "limit, or have fewer threads at a time\n";
  platform::write_error(text, sizeof text - 1);
}

}  // namespace

stack_pool::stack_pool(std::size_t default_bytes, std::size_t committed_limit, std::size_t keep_bytes)
    : default_class_(static_cast<std::uint8_t>(std::min(class_for(default_bytes), classes - 1))),
      committed_limit_(committed_limit),
      keep_bytes_(keep_bytes) {
  for (std::atomic<stack_pool*>& place : all_) {
    stack_pool* none = nullptr;
    if (place.compare_exchange_strong(none, this)) break;
  }
}

stack_pool::~stack_pool() {
  for (std::atomic<stack_pool*>& place : all_) {
    stack_pool* self = this;
    if (place.compare_exchange_strong(self, nullptr)) break;
  }
  for (size_list& list : lists_) {
    for (thread* t = list.committed; t != nullptr; t = t->next) forget_stack(*t);
  }
  for (const slab& s : slabs_) platform::release(s.memory, s.bytes);
}

unsigned stack_pool::class_for(std::size_t bytes) noexcept {
  unsigned result = 0;
  while (result < classes && bytes_of(result) < bytes) ++result;
  return result;
}

// Reserves room for at least one more stack, and if possible for this many.
bool stack_pool::grow(size_list& list, unsigned size_class, std::size_t stacks) noexcept {
  const std::size_t stack = bytes_of(size_class);
  std::size_t bytes = std::max(slab_target, stack * std::max<std::size_t>(stacks, 1));
  void* memory = platform::reserve(bytes);
  if (memory == nullptr && bytes > slab_target && slab_target > stack) memory = platform::reserve(bytes = slab_target);
  if (memory == nullptr && bytes > stack) memory = platform::reserve(bytes = stack);
  if (memory == nullptr) return false;
  if (!slabs_.push_back({memory, bytes, 0, size_class})) {
    platform::release(memory, bytes);
    return false;
  }
  list.made += bytes / stack;
  return true;
}

char* stack_pool::take_fresh(size_list& list, unsigned size_class) noexcept {
  for (; list.first_slab < slabs_.size(); ++list.first_slab) {
    slab& s = slabs_[list.first_slab];
    if (s.size_class != size_class || s.used == s.bytes) continue;
    char* const low = static_cast<char*>(s.memory) + s.used;
    s.used += bytes_of(size_class);
    return low;
  }
  return nullptr;
}

// Reserves address space for the stacks of all light threads. When more is needed, it reserves a quarter more.
bool stack_pool::grow_for_light() noexcept {
  size_list& list = lists_[default_class_];
  const unsigned more = light_.to_be_made();
  while (more != 0 && list.made < list.out + light_.made() + more) {
    if (!grow(list, default_class_, list.made / 4)) return false;
  }
  return true;
}

thread* stack_pool::block_of(char* low, unsigned size_class) noexcept {
  const std::size_t bytes = bytes_of(size_class);
  const std::size_t top = reinterpret_cast<std::uintptr_t>(low) + bytes - sizeof(thread) - colour_of(low, bytes);
  return reinterpret_cast<thread*>(top & ~(alignof(thread) - 1));
}

thread* stack_pool::construct(char* low, unsigned size_class) noexcept {
  const std::size_t bytes = bytes_of(size_class);
  auto* t = new (block_of(low, size_class)) thread;
  t->stack_memory.pool = this;
  t->stack = t;
  t->id = ++made_;
  t->size_class = static_cast<std::uint8_t>(size_class);
  t->stack_memory.low = low + guard_bytes(bytes);
  t->stack_memory.bytes = bytes - guard_bytes(bytes);
  const std::size_t usual = bytes_of(default_class_) - guard_bytes(bytes_of(default_class_));
  if (size_class >= default_class_)
    t->stack_memory.children_above = static_cast<char*>(t->stack_memory.low) + usual / 16 * 15;
  remember_stack(*t);
  return t;
}

thread* stack_pool::take(unsigned size_class, unsigned count) noexcept {
  HEDDLE_CHECK(size_class < classes, "stack size class %u", size_class);
  if (size_class > default_class_) larger_.store(true, std::memory_order_relaxed);  // pairs with has_larger
  std::lock_guard hold(mutex_);
  size_list& list = lists_[size_class];
  thread* chain = nullptr;
  for (unsigned i = 0; i < count; ++i) {
    thread* t = nullptr;
    if (list.committed != nullptr) {
      t = list.committed;
      list.committed = t->next;
      --list.committed_count;
    } else if (!list.bare.empty()) {
      t = construct(static_cast<char*>(list.bare.pop_back()), size_class);
    } else {
      char* low = take_fresh(list, size_class);
      if (low == nullptr && grow(list, size_class, 1)) low = take_fresh(list, size_class);
      if (low == nullptr) break;
      if (!platform::install_guard(low, guard_bytes(bytes_of(size_class)))) say_that_guards_are_used_up();
      t = construct(low, size_class);
      made_stacks_.store(committed() + 1, std::memory_order_relaxed);  // relaxed: under mutex_
    }
    t->next = chain;
    chain = t;
    list.most_out = std::max(list.most_out, ++list.out);
    taken_.store(live() + 1, std::memory_order_relaxed);  // relaxed: under mutex_
  }
  return chain;
}

// The stacks that were out at a time of late may soon be out again.
std::size_t stack_pool::most_kept(const size_list& list) const noexcept {
  if (keep_bytes_ == 0 || list.usual_bytes == 0) return committed_limit_;
  const std::size_t needed = std::max(list.most_out, list.most_out_before) - list.out;
  return std::max(committed_limit_, std::min(needed, keep_bytes_ / list.usual_bytes));
}

void stack_pool::measure(size_list& list, const thread& idle) const noexcept {
  const std::size_t bytes = platform::committed(idle.stack_memory.low, idle.stack_memory.bytes);
  const std::size_t usual = list.usual_bytes == 0 ? bytes : list.usual_bytes - list.usual_bytes / 8 + bytes / 8;
  list.usual_bytes = std::max(usual, platform::page_size());
}

void stack_pool::give(thread* chain) noexcept {
  std::unique_lock hold(mutex_);
  bool measured = keep_bytes_ == 0;
  while (chain != nullptr) {
    thread* t = chain;
    chain = t->next;
    taken_.store(live() - 1, std::memory_order_relaxed);  // relaxed: under mutex_
    size_list& list = lists_[t->size_class];
    --list.out;
    if (!measured && list.committed_count >= committed_limit_) {  // one of a chain, because that is a system call
      measure(list, *t);
      measured = true;
    }
    bool kept = list.committed_count < most_kept(list);
    if (!kept) {
      char* low = static_cast<char*>(t->stack_memory.low);
      const std::size_t bytes = t->stack_memory.bytes;
      kept = !list.bare.push_back(low - guard_bytes(bytes_of(t->size_class)));
      if (!kept) {
        forget_stack(*t);
        platform::decommit(low, bytes);
      }
    }
    if (kept) {
      t->next = list.committed;
      list.committed = t;
      ++list.committed_count;
    }
  }
  end_if_last(hold);
}

bool stack_pool::keeps_more() const noexcept {
  std::lock_guard hold(mutex_);
  return std::any_of(lists_.begin(), lists_.end(),
                     [&](const size_list& list) { return list.committed_count > committed_limit_; });
}

void stack_pool::age() noexcept {
  std::unique_lock hold(mutex_);
  for (size_list& list : lists_) {
    list.most_out_before = std::exchange(list.most_out, list.out);
    while (list.committed_count > most_kept(list)) {
      // The mutex is released around the system call. The stack is in no list meanwhile.
      thread* const t = list.committed;
      list.committed = t->next;
      --list.committed_count;
      const unsigned size_class = t->size_class;
      char* const low = static_cast<char*>(t->stack_memory.low);
      const std::size_t bytes = t->stack_memory.bytes;
      hold.unlock();
      forget_stack(*t);
      platform::decommit(low, bytes);
      hold.lock();
      char* const begin = low - guard_bytes(bytes_of(size_class));
      if (list.bare.push_back(begin)) continue;
      thread* const again = construct(begin, size_class);
      again->next = list.committed;
      list.committed = again;
      ++list.committed_count;
      break;
    }
  }
}

thread* stack_pool::take_light_chain() noexcept {
  std::lock_guard hold(mutex_);
  return grow_for_light() ? light_.take_chain(*this, made_) : nullptr;
}

thread* stack_pool::take_light() noexcept {
  std::lock_guard hold(mutex_);
  return grow_for_light() ? light_.take_one(*this, made_) : nullptr;
}

void stack_pool::give_light_chain(thread* first, unsigned length) noexcept {
  std::unique_lock hold(mutex_);
  light_.give_chain(first, length);
  end_if_last(hold);
}

void stack_pool::give_light(thread& t) noexcept {
  std::unique_lock hold(mutex_);
  light_.give_one(t);
  end_if_last(hold);
}

void stack_pool::end_if_last(std::unique_lock<sync::mutex>& hold) noexcept {
  if (!retired_ || live() != 0 || light_.out() != 0) return;
  hold.unlock();
  delete this;  // no thread has a block, so none calls
}

void stack_pool::retire() noexcept {
  std::unique_lock hold(mutex_);
  retired_ = true;
  end_if_last(hold);
}

const thread* stack_pool::whose_guard(const void* address) const noexcept {
  std::unique_lock hold(mutex_, std::defer_lock);
  for (unsigned i = 0; !hold.try_lock(); ++i) {
    if (i == 10'000) return nullptr;
    platform::yield_processor();
  }
  unsigned size_class = 0;
  char* const low = stack_at(address, size_class);
  return low != nullptr && address < low + guard_bytes(bytes_of(size_class)) ? thread_on(*block_of(low, size_class))
                                                                             : nullptr;
}

const thread* stack_pool::whose_stack(const void* address) const noexcept {
  std::lock_guard hold(mutex_);
  unsigned size_class = 0;
  char* const low = stack_at(address, size_class);
  return low != nullptr ? thread_on(*block_of(low, size_class)) : nullptr;
}

unsigned stack_pool::class_around(const void* address) const noexcept {
  std::lock_guard hold(mutex_);
  unsigned size_class = 0;
  return stack_at(address, size_class) != nullptr ? std::max<unsigned>(size_class, default_class_) : default_class_;
}

char* stack_pool::stack_at(const void* address, unsigned& size_class) const noexcept {
  const auto* at = static_cast<const char*>(address);
  const auto contains = [at](const slab& s) {
    return at >= static_cast<char*>(s.memory) && at < static_cast<char*>(s.memory) + s.bytes;
  };
  if (slabs_.empty()) return nullptr;
  // The next question is often about the same slab.
  if (!contains(slabs_.begin()[found_in_])) {
    const slab* const found = std::find_if(slabs_.begin(), slabs_.end(), contains);
    if (found == slabs_.end()) return nullptr;
    found_in_ = static_cast<std::size_t>(found - slabs_.begin());
  }
  const slab& s = slabs_.begin()[found_in_];
  auto* const begin = static_cast<char*>(s.memory);
  const std::size_t bytes = bytes_of(s.size_class);
  char* const low = begin + static_cast<std::size_t>(at - begin) / bytes * bytes;
  size_class = s.size_class;
  return low < begin + s.used ? low : nullptr;
}

}  // namespace heddle::fiber
