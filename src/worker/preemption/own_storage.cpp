// Thread-local storage of a thread's own: which thread has which block, and where a thread's code begins and ends on
// it: own_storage.md. Blocks themselves: platform/linux/own_tls.cpp.
#include <mutex>
#include <new>
#include <utility>

#include "arch/arch.hpp"
#include "base/audit.hpp"
#include "worker/current.hpp"
#include "worker/inline.hpp"
#include "worker/preemption/section.hpp"
#include "worker/runtime.hpp"
#include "worker/worker.hpp"

namespace heddle::worker {

using fiber::preemptible;

namespace {

// The lock of the process: blocks live for ever, and are the parent's after fork(). It is locked in the runtime and by
// kernel threads without workers only, so no holder is preempted.
detail::spin_word blocks_lock;
platform::own_tls* blocks = nullptr;  // under blocks_lock
// Under blocks_lock; `payload` is where the block goes. While this is not empty there are no free blocks.
constinit detail::waiter_list in_want;
unsigned waiting = 0;  // the length of in_want; under blocks_lock

// Called in a child of fork(), which may be a preemptive thread's.
void forget_blocks() noexcept {
  if (const caller who = caller::now(); who.is_user_code()) {
    const preemptible& self = who.preemptive();
    if (self.block != nullptr) platform::leave_rseq(self.on->by->thread_pointer);
  }
  new (&blocks_lock) detail::spin_word;
  new (&in_want) detail::waiter_list;
  waiting = 0;
  blocks = nullptr;
}

struct want {
  runtime& home;
  platform::own_tls* block{nullptr};
};

bool take_block_or_wait(void* wanted, detail::waiter& w) noexcept {
  want& mine = *static_cast<want*>(wanted);
  blocks_lock.lock();
  platform::own_tls* const block = blocks;
  if (block != nullptr) {
    blocks = block->next;
    mine.block = block;
  } else {
    w.payload = &mine.block;
    in_want.push_back(w);
    ++waiting;
    mine.home.creator().want_block();  // [own_storage:10]
  }
  blocks_lock.unlock();  // from here on `mine`, `w` and the runtime may be gone
  return block == nullptr;
}

void give_block(platform::own_tls& block) noexcept {
  blocks_lock.lock();
  detail::waiter* w = in_want.pop_front();
  if (w != nullptr) {
    --waiting;
    *static_cast<platform::own_tls**>(w->payload) = &block;
  } else {
    block.next = blocks;
    blocks = &block;
  }
  blocks_lock.unlock();
  if (w != nullptr && detail::claim(*w, detail::wake_reason::notified)) detail::resume(*w);
}

// The current queue's variable on a block that is not in use by the calling kernel thread at the moment.
detail::fork_queue*& queue_on(platform::own_tls& block) noexcept {
  const std::ptrdiff_t offset =
      reinterpret_cast<char*>(&heddle_current_queue) - static_cast<char*>(arch::thread_pointer());
  return *reinterpret_cast<detail::fork_queue**>(static_cast<char*>(block.thread_pointer) + offset);
}

// A thread that finds no block waits, and asks the creator to make one. The thread does not make it itself, because
// malloc's locks may be with a preempted thread. That thread goes on while the first one waits.
platform::own_tls& take_block(runtime& home) noexcept {
  blocks_lock.lock();
  platform::own_tls* const block = blocks;
  if (block != nullptr) blocks = block->next;
  blocks_lock.unlock();
  if (block != nullptr) return *block;
  want mine{home};
  detail::waiter w("thread-local storage");
  detail::suspend(w, take_block_or_wait, &mine);
  return *mine.block;
}

unsigned blocks_wanted() noexcept {
  std::lock_guard hold(blocks_lock);
  return waiting;
}

}  // namespace

void forget_blocks_in_children() noexcept { platform::when_forked(forget_blocks); }

bool creator::make_blocks() noexcept {
  while (const unsigned count = blocks_wanted()) {
    platform::own_tls* made = platform::make_own_tls(count);
    if (made == nullptr) {
      if (!lack_of_blocks_told_.exchange(true)) {
        static constexpr char text[] =
            "heddle: no memory, or no kernel thread, for the thread-local storage of threads (ulimit -u, pids.max?); "
            "they wait for it\n";
        platform::write_error(text, sizeof text - 1);
      }
      return false;
    }
    while (made != nullptr) give_block(*std::exchange(made, made->next));
  }
  return true;
}

void begin_preemptive(preemptible& self) noexcept {
  const bool own = self.how.storage == tls::own;
  if (own) self.block = &take_block(*self.self().home);
  if (self.block != nullptr) queue_on(*self.block) = &self;
  leave_runtime(self);
  if (own) platform::begin_own_tls(*self.block);
}

void end_preemptive(preemptible& self) noexcept {
  const bool reusable = self.how.storage == tls::own && platform::end_own_tls(*self.block);
  enter_runtime(self);
  if (self.own_signals && worker::current().by->signals.known) [[unlikely]]
    platform::take_signals(worker::current().by->signals);
  platform::own_tls* const block = std::exchange(self.block, nullptr);
  if (reusable) give_block(*block);
}

void take_storage_back(preemptible& caller) noexcept { queue_on(*caller.block) = &caller; }

// While the other thread has this kernel thread's storage, the kernel must not write to it: rseq.
[[gnu::noinline]] void wait_on_other_storage(runtime& home, platform::own_tls& lent, void (*wait)(void*) noexcept,
                                             void* data) noexcept {
  platform::own_tls& other = take_block(home);
  queue_on(other) = nullptr;
  const unsigned registered = platform::leave_rseq(lent.thread_pointer);
  arch::set_thread_pointer(other.thread_pointer);
  platform::begin_own_tls(other);
  wait(data);
  const bool reusable = platform::end_own_tls(other);  // signal handlers may have made variables there
  arch::set_thread_pointer(lent.thread_pointer);
  set_current_queue(nullptr);
  platform::enter_rseq(lent.thread_pointer, registered);
  if (reusable) give_block(other);
}

// In a blocking call the thread has no worker, and keeps its block.
void begin_blocking_on_block(preemptible& self) noexcept {
  base::allow_malloc();
  if (self.block == nullptr) return;
  queue_on(*self.block) = nullptr;
  arch::set_thread_pointer(self.block->thread_pointer);
}
void end_blocking_on_block(preemptible& self, const carrier& on) noexcept {
  if (self.block == nullptr) return;
  arch::set_thread_pointer(on.thread_pointer);
  queue_on(*self.block) = &self;
}

}  // namespace heddle::worker
