// Blocks of thread-local storage apart from any kernel thread ([platform:7]). A block is that of a kernel thread which
// glibc has made and which has ended, but which nobody joins. So glibc keeps the block, counts it among its threads
// when a module is loaded, and finds it complete after fork(). The end of that kernel thread changes its control block;
// heddle restores the state of the start. The steps that glibc takes at a thread's end are taken here for every thread
// that ends on the block.
#include <dlfcn.h>
#include <linux/futex.h>
#include <netdb.h>
#include <pthread.h>
#include <resolv.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <clocale>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

#include "platform/linux/glibc.hpp"
#include "platform/linux/inheriting_mutexes.hpp"
#include "platform/linux/own_numbers.hpp"
#include "platform/linux/set_ids.hpp"
#include "platform/linux/tls_images.hpp"
#include "platform/platform.hpp"

namespace heddle::platform {

using glibc::at;
using glibc::found;

namespace {

std::atomic<std::uint32_t> numbers{first_own_number};  // the next one

template <class T>
T& field(void* control, std::size_t offset) noexcept {
  return at<T>(control, static_cast<std::ptrdiff_t>(offset));
}

const tls_images* images_of(const own_tls& block) noexcept { return static_cast<const tls_images*>(block.images); }

// --- making --------------------------------------------------------------------------------------------------------

// The state of a block in the making.
struct birth {
  own_tls* block;
  pthread_t thread;
  std::unique_ptr<char[]> control;  // its control block, as the thread found it

  static void* begin(void* argument) noexcept {
    auto& self = *static_cast<birth*>(argument);
    std::memcpy(self.control.get(), reinterpret_cast<const void*>(pthread_self()), found.control_bytes);
    return nullptr;
  }
};

// The block lies at the top of the stack that the thread is given. Returns 0 or the error.
int start(birth& of) noexcept {
  constexpr std::size_t usual = 64 << 10;
  const std::size_t least = static_cast<std::size_t>(PTHREAD_STACK_MIN);
  for (std::size_t bytes = std::max(usual, least); bytes <= std::size_t{1} << 30; bytes *= 2) {
    void* const stack = reserve(bytes);
    if (stack == nullptr) return ENOMEM;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    int error = pthread_attr_setstack(&attributes, stack, bytes);
    if (error == 0) error = pthread_create(&of.thread, &attributes, birth::begin, &of);
    pthread_attr_destroy(&attributes);
    if (error == 0) return 0;
    release(stack, bytes);
    if (error != EINVAL) return error;  // otherwise the static block is larger than that
  }
  return ENOMEM;
}

// Waits as pthread_join does: the kernel clears the thread's number when the thread has gone.
void wait_for_end(void* control) noexcept {
  auto& number = field<std::atomic<std::uint32_t>>(control, found.tid);
  for (std::uint32_t id; (id = number.load()) != 0;) syscall(SYS_futex, &number, FUTEX_WAIT, id, nullptr, nullptr, 0);
}

void complete(birth& of) noexcept {
  void* const control = reinterpret_cast<void*>(of.thread);
  void* const tp = static_cast<char*>(control) - found.control;
  wait_for_end(control);
  // Everything is restored but the links, which belong to glibc's list.
  char* const to = static_cast<char*>(control);
  const std::size_t links = found.list + 2 * sizeof(void*);
  std::memcpy(to, of.control.get(), found.list);
  std::memcpy(to + links, of.control.get() + links, found.control_bytes - links);
  field<std::uint32_t>(control, found.tid) = numbers.fetch_add(1);
  field<std::uint32_t>(control, found.cancellation) = 0;
  // Code of others may have run on that kernel thread before ours, and left values of keys.
  std::memset(to + found.first_key_table, 0, sizeof(glibc::key_value) * glibc::keys_a_table);
  for (unsigned i = 1; i < glibc::key_tables; ++i)
    field<void*>(control, found.key_tables + i * sizeof(void*)) = nullptr;
  // The block is not registered, so the C library asks the kernel instead.
  if (found.rseq != 0) at<std::int32_t>(tp, found.rseq + 4) = -1;
  of.block->thread_pointer = tp;
  const tls_images* images;
  do {
    if (const tls_images* now = tls_images::now(images_of(*of.block)); now != nullptr) of.block->images = now;
    images = images_of(*of.block);
    images->renew_all(tp);
    std::atomic_thread_fence(std::memory_order_seq_cst);  // as in end_own_tls
  } while (!images->current());
}

// --- the end of a thread -------------------------------------------------------------------------------------------

// Runs the destructors of keys, one round. Returns false if no key had a value.
bool run_key_destructors(void* control) noexcept {
  bool any = false;
  for (unsigned t = 0; t < glibc::key_tables; ++t) {
    auto* const table = field<glibc::key_value*>(control, found.key_tables + t * sizeof(void*));
    if (table == nullptr) continue;
    for (unsigned i = 0; i < glibc::keys_a_table; ++i) {
      if (table[i].data == nullptr) continue;
      any = true;
      void* const data = std::exchange(table[i].data, nullptr);
      const glibc::key& k = found.keys[t * glibc::keys_a_table + i];
      // relaxed: other threads make and delete keys by compare-and-swap; a thread that deletes a key in use is
      // responsible for its values
      if (__atomic_load_n(&k.sequence, __ATOMIC_RELAXED) != table[i].sequence) continue;
      if (auto* const destructor = __atomic_load_n(&k.destructor, __ATOMIC_RELAXED); destructor != nullptr)
        destructor(data);
    }
  }
  return any;
}

// First the thread_local objects are destroyed, then the values of keys; destructors may set new values.
void run_destructors(void* control) noexcept {
  for (int round = 0; round < PTHREAD_DESTRUCTOR_ITERATIONS; ++round) {
    found.call_destructors();
    if (!run_key_destructors(control)) return;
  }
  found.call_destructors();
}

// Frees variables outside the static block, so that the next access makes them anew. Returns false if there were none.
bool free_loaded_modules(void* tp) noexcept {
  bool any = false;
  for (std::size_t i = 1; i <= glibc::dtv_of(tp)[-1].counter; ++i) {
    // read anew, because free() may use such variables itself
    auto& entry = glibc::dtv_of(tp)[i].pointer;
    if (entry.to_free == nullptr) continue;
    entry.value = glibc::not_made;
    std::free(std::exchange(entry.to_free, nullptr));
    any = true;
  }
  return any;
}

// Resets the state that the C library keeps of a thread and that the next thread would find. Its buffers stay and are
// used again.
void reset_c_library(void* control) noexcept {
  field<std::uint32_t>(control, found.cancellation) = 0;
  pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, nullptr);
  pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, nullptr);
  uselocale(LC_GLOBAL_LOCALE);
  if (auto* const resolver = __res_state(); resolver->nscount != 0) {
    found.close_resolver(resolver);
    resolver->options = 0;  // begins anew
  }
  h_errno = 0;
  errno = 0;
}

}  // namespace

// relaxed: a thread on a block has seen the number of its block made
bool is_own_number(void* control) noexcept {
  return numbers.load(std::memory_order_relaxed) != first_own_number &&
         field<std::uint32_t>(control, found.tid) >= first_own_number;
}

namespace {

// fork() takes it, because a child must not find the examination half done, as it would a guard of the compiler's.
constinit std::mutex examining;
[[maybe_unused]] const bool forks_between =
    pthread_atfork([] { examining.lock(); }, [] { examining.unlock(); }, [] { examining.unlock(); }) == 0;
std::atomic<bool> examined{false};
const char* objection = nullptr;  // written before `examined`

const char* examine_once() noexcept {
  if (!examined.load(std::memory_order_acquire)) {  // pairs with the store below
    const std::lock_guard hold(examining);
    if (!examined.load(std::memory_order_relaxed)) {  // written under the lock
      objection = glibc::examine();
      examined.store(true, std::memory_order_release);  // pairs with the load above
    }
  }
  return objection;
}

}  // namespace

const char* why_no_own_tls() noexcept {
  const char* const answer = examine_once();
  if (answer == nullptr && !exclude_inheriting_mutexes())
    return "the program has asked for mutexes with priority inheritance (pthread_mutexattr_setprotocol), whose owners "
           "the kernel must know";
  return answer;
}

own_tls* make_own_tls(unsigned count) noexcept {
  constexpr unsigned most = 16;
  birth births[most]{};
  count = std::min(count, most);
  // All are made on this processor, because a kernel thread that is put on a sleeping processor starts 100 us later.
  // Their signals are left to other threads.
  cpu_set_t usual, here;
  const bool bound = sched_getaffinity(0, sizeof usual, &usual) == 0;
  CPU_ZERO(&here);
  CPU_SET(static_cast<unsigned>(std::max(sched_getcpu(), 0)), &here);
  if (bound) sched_setaffinity(0, sizeof here, &here);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  unsigned started = 0;
  for (; started < count; ++started) {
    birth& b = births[started];
    b.block = new (std::nothrow) own_tls;
    b.control.reset(new (std::nothrow) char[found.control_bytes]);
    if (b.block != nullptr) b.block->images = tls_images::now(nullptr);
    if (b.block != nullptr && b.block->images != nullptr && b.control != nullptr && start(b) == 0) continue;
    if (b.block != nullptr && b.block->images != nullptr) tls_images::drop(*images_of(*b.block));
    delete b.block;
    break;
  }
  own_tls* made = nullptr;
  for (unsigned i = 0; i < started; ++i) {
    own_tls& block = *births[i].block;
    complete(births[i]);
    block.next = made;
    made = &block;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (bound) sched_setaffinity(0, sizeof usual, &usual);
  // glibc's handler exists once glibc has made a kernel thread.
  if (made != nullptr) stand_before_set_ids();
  return made;
}

namespace {

#if defined(__x86_64__)
constexpr std::uint32_t rseq_signature = 0x53053053;  // RSEQ_SIG
#else
constexpr std::uint32_t rseq_signature = 0xd428bc00;
#endif

bool change_rseq(void* thread_pointer, unsigned bytes, int flags) noexcept {
  const int saved = errno;
  const long failed = syscall(SYS_rseq, static_cast<char*>(thread_pointer) + found.rseq, bytes, flags, rseq_signature);
  errno = saved;
  return failed == 0;
}

}  // namespace

unsigned leave_rseq(void* thread_pointer) noexcept {
  if (found.rseq == 0) return 0;
  // glibc registered 32 bytes, or the number that the kernel says it needs.
  constexpr unsigned least = 32, most = 512;
  for (unsigned bytes = least; bytes <= most; bytes += least) {
    if (change_rseq(thread_pointer, bytes, 1 /* RSEQ_FLAG_UNREGISTER */)) return bytes;
  }
  return 0;
}

void enter_rseq(void* thread_pointer, unsigned bytes) noexcept {
  if (bytes != 0) static_cast<void>(change_rseq(thread_pointer, bytes, 0));
}

void begin_own_tls(own_tls&) noexcept { found.init_ctype(); }

bool end_own_tls(own_tls& block) noexcept {
  void* const tp = block.thread_pointer;
  void* const control = glibc::control_of(tp);
  for (;;) {
    // Giving memory back may make the variables of an allocator anew, whose destructor belongs to a key. The round is
    // then repeated.
    for (int round = 0; round < PTHREAD_DESTRUCTOR_ITERATIONS; ++round) {
      run_destructors(control);
      while (dlerror() != nullptr) {
      }
      bool again = free_loaded_modules(tp);
      if (const tls_images* const now = tls_images::now(images_of(block)); now != block.images) {
        if (now == nullptr) return false;
        block.images = now;
        again = true;
      }
      if (!again) break;
    }
    reset_c_library(control);
    const tls_images& images = *images_of(block);
    images.renew(tp);
    // When a module comes, glibc first shows its slot and then writes the module's values into this block. If renew may
    // have overwritten those values, the slot was shown before, and current() sees it. The fence keeps renew before
    // that look.
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (images.current()) return true;
  }
}

}  // namespace heddle::platform
